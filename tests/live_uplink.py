# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""A machine and what is beyond its uplink, in namespaces of this process: `python live_uplink.py FOLDER kill|end`; prints JSON.

FOLDER has a scenario, s.yaml. With `end` a host of a live run gets something from beyond; with `kill` such a run is killed, and the next
one takes back what it has left.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from penstock.network import spaces

BEYOND = "198.51.100.2"
ASK = f"import socket; print(socket.create_connection(('{BEYOND}', 80), 20).recv(10).decode())"
REST = "import time; time.sleep(600)"


def world() -> list[str]:
    """Make the machine's namespace, with the interface up0, and one beyond it, where a server says to each client what it sees of it."""
    spaces.enter_own()
    machine = spaces.Space()
    beyond = spaces.Space.new()
    machine.enter()
    seen: list[str] = []
    ready, moved = threading.Event(), threading.Event()
    numbers: list[int] = []

    def serve() -> None:
        beyond.enter()
        numbers.append(threading.get_native_id())
        ready.set()
        moved.wait()
        spaces.ip([f"address add {BEYOND}/24 dev far0", "link set far0 up"])
        with socket.create_server((BEYOND, 80)) as server:
            while True:
                client, address = server.accept()
                seen.append(address[0])
                client.sendall(b"hello")
                client.close()

    threading.Thread(target=serve, daemon=True).start()
    ready.wait()
    spaces.ip(["link add up0 type veth peer name far0", "address add 198.51.100.1/24 dev up0", "link set up0 up"])
    spaces.ip([f"link set far0 netns {numbers[0]}"])
    moved.set()
    return seen


def state() -> dict[str, Any]:
    """What a run may have changed on the machine."""
    tables = subprocess.run(["nft", "list", "tables"], capture_output=True, text=True).stdout.split()
    return {
        "forward": Path("/proc/sys/net/ipv4/ip_forward").read_text().strip(),
        "tables": tables,
        "interfaces": sorted(name for _, name in socket.if_nameindex()),
    }


def live(program: str) -> "subprocess.Popen[str]":
    """Start a run with an uplink."""
    command = [sys.executable, "-P", "-m", "penstock", "live", "s.yaml", "--engine", "model", "--json", "--uplink", "up0", "--"]
    pipe = subprocess.PIPE
    return subprocess.Popen([*command, sys.executable, "-c", program], stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def main(folder: str, what: str) -> dict[str, Any]:
    """Do it; return what was seen."""
    os.chdir(folder)
    seen = world()
    found: dict[str, Any] = {"before": state()}
    if what == "kill":
        process = live(REST)
        end = time.monotonic() + 60
        while len(state()["interfaces"]) < 3 and time.monotonic() < end:
            time.sleep(0.05)
        found["meanwhile"] = state()
        with contextlib.suppress(OSError):
            os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        while len(state()["interfaces"]) > 2 and time.monotonic() < end:
            time.sleep(0.05)
        found["killed"] = state()
    process = live(ASK)
    out, err = process.communicate(timeout=120)
    found |= {"status": process.returncode, "words": err, "after": state(), "seen": seen}
    return found


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])), flush=True)
    os._exit(0)
