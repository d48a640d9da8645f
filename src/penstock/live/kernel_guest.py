"""What a Linux kernel with a queue does as a router between two hosts: it sets the queue, forwards, and writes down each packet.

A plain program of the standard library, as it runs in two places: on a host of a live run (`kernel_router`), and as the first process of a
kernel of its own (`kernel_uml`), `python kernel_guest.py SETUP.json`, whose root are the files of this machine.
"""

import contextlib
import ctypes
import fcntl
import json
import mmap
import os
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

ROW = "<IHHq"  # source port and IP identification; bytes of the frame; 1: it leaves; nanoseconds
EVERYTHING = 3  # ETH_P_ALL
SOL_PACKET, PACKET_RX_RING, PACKET_VERSION = 263, 5, 10
OTHER_HOST, OUTGOING = 3, 4  # PACKET_OTHERHOST, PACKET_OUTGOING
BLOCK, FRAME, FRAMES = 1 << 16, 256, 1 << 16  # of the ring: bytes, and packets
KIND = 32 + 10  # place of the kind of a packet in its frame of the ring
HEADERS, DATA = 14 + 20 + 4, 200  # bytes that are looked at, and of the shortest frame that counts: not acknowledgements
LOOK_SECONDS = 0.05
SIOCETHTOOL = 0x8946
OFFLOADS = (0x1F, 0x22, 0x24, 0x2C)  # set: TSO, UFO, GSO, GRO
FINIT_MODULE = {"x86_64": 313, "aarch64": 273}
MODULES = "/usr/lib/uml/modules"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def forward(interface: str) -> None:
    """Let this kernel forward what comes."""
    names = ["ip_forward=1", "conf/all/send_redirects=0", f"conf/{interface}/send_redirects=0"]
    for name, value in (one.split("=") for one in [*names, "conf/all/rp_filter=0", f"conf/{interface}/rp_filter=0"]):
        Path(f"/proc/sys/net/ipv4/{name}").write_text(value)


def traffic_control(commands: str) -> str | None:
    """Do what tc is to do, commands joined by `;`; return what was wrong."""
    for command in commands.split(";"):
        done = subprocess.run(["tc", *command.split()], capture_output=True, text=True)
        if done.returncode:
            return f"tc {command.strip()}: {done.stderr.strip()}"
    return None


def record(interface: str, out: str) -> None:
    """Write down when each packet came and left, until the process is ended; `out` is there as soon as it begins.

    The kernel writes packets and their times into a ring, so it does not matter when this process has its turn.
    """
    seen = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    seen.setsockopt(SOL_PACKET, PACKET_VERSION, 1)  # TPACKET_V2
    seen.setsockopt(SOL_PACKET, PACKET_RX_RING, struct.pack("IIII", BLOCK, FRAMES * FRAME // BLOCK, FRAME, FRAMES))
    ring = mmap.mmap(seen.fileno(), FRAMES * FRAME)
    seen.bind((interface, EVERYTHING))
    with open(out, "wb", buffering=0) as file:
        at = 0
        while True:
            rows = bytearray()
            while struct.unpack_from("I", ring, at * FRAME)[0] & 1:  # TP_STATUS_USER
                rows += row(ring, at * FRAME)
                struct.pack_into("I", ring, at * FRAME, 0)
                at = (at + 1) % FRAMES
            if rows:
                file.write(rows)
            time.sleep(LOOK_SECONDS)


def row(ring: "mmap.mmap | bytes", place: int) -> bytes:
    """Return the row of a packet of data in the ring; nothing of others."""
    _, length, kept, begin, _, seconds, rest = struct.unpack_from("IIIHHII", ring, place)
    kind = ring[place + KIND]
    frame = ring[place + begin : place + begin + min(kept, HEADERS)]
    if len(frame) < HEADERS or frame[12:15] != b"\x08\x00\x45" or length < DATA or kind == OTHER_HOST:
        return b""
    key = int.from_bytes(frame[34:36], "big") << 16 | int.from_bytes(frame[18:20], "big")
    return struct.pack(ROW, key, min(length, 65535), kind == OUTGOING, seconds * 10**9 + rest)


def no_offloads(interface: str) -> None:
    """Let packets stay as they are on the line, neither joined nor cut."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as place:
        for command in OFFLOADS:
            value = ctypes.create_string_buffer(struct.pack("II", command, 0))
            with contextlib.suppress(OSError):  # one that it does not have
                fcntl.ioctl(place, SIOCETHTOOL, struct.pack("16sP16x", interface.encode(), ctypes.addressof(value)))


# ---- the first process of a kernel of its own


def begin(setup: str) -> int:
    """Make this kernel a router as SETUP.json says: `interface`, `mac`, `mtu`, `addresses`, `neighbours`, `modules`, `tc`, `out`."""
    os.environ["PATH"] = PATH
    given = json.loads(Path(setup).read_text())
    library = ctypes.CDLL(None, use_errno=True)
    for kind, place in (("proc", "/proc"), ("sysfs", "/sys")):
        library.mount(kind.encode(), place.encode(), kind.encode(), 0, None)
    for name in given["modules"]:
        if wrong := _load(library, name):
            print(wrong, flush=True)
            return 1
    interface = given["interface"]
    links = [
        f"link set {given['device']} name {interface}",
        f"link set {interface} address {given['mac']} mtu {given['mtu']} txqueuelen 1000 up",
        "link set lo up",
        *(f"address add {one} dev {interface}{' nodad' if ':' in one else ''}" for one in given["addresses"]),
        *(f"neighbour replace {one} lladdr {mac} dev {interface} nud permanent" for one, mac in given["neighbours"]),
    ]
    done = subprocess.run(["ip", "-force", "-batch", "-"], input="\n".join([*links, ""]), capture_output=True, text=True)
    if done.returncode:
        print(f"ip: {(done.stderr or done.stdout).strip()}", flush=True)
        return 1
    no_offloads(interface)
    forward(interface)
    if wrong := traffic_control(given["tc"]):
        print(wrong, flush=True)
        return 1
    record(interface, given["out"])
    return 0


def _load(library: ctypes.CDLL, name: str) -> str | None:
    """Load a module and what it needs; return what was wrong."""
    top = Path(MODULES, os.uname().release)
    for line in (top / "modules.dep").read_text().splitlines():
        file, _, needs = line.partition(":")
        if Path(file).stem != name:
            continue
        for one in [*reversed(needs.split()), file]:
            with (top / one).open("rb") as module:
                failed = library.syscall(FINIT_MODULE[os.uname().machine], module.fileno(), b"", 0)
            if failed and ctypes.get_errno() != 17:  # EEXIST: it is there
                return f"{one}: {os.strerror(ctypes.get_errno())}"
        return None
    return f"the kernel of user-mode-linux has no {name}"


if __name__ == "__main__":
    raise SystemExit(begin(sys.argv[1]))
