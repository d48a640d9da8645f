#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Record scenarios/captures/first_light.pcap: real applications between two network namespaces.

    apt-get install tcpdump nginx-light dnsmasq-base bind9-dnsutils ethtool curl iproute2
    .venv/bin/python tools/record_first_light.py            (as root, about ten seconds)
    .venv/bin/python tools/record_first_light.py --table    (only print the flow table of the file that is there)

The namespaces "server" and "subscribers" are joined by one veth pair. The server's side is limited to LINK_RATE by tc's
token bucket, offloads are off (so frames on the wire are real MTU-size frames with real checksums), TCP is CUBIC, and
tcpdump listens on the server's end behind the token bucket: what it stamps is what would come down the fibre.

    server       192.0.2.53 dnsmasq      192.0.2.80 nginx, web pages     192.0.2.81 nginx, video segments
                 192.0.2.20 nginx, files 192.0.2.50 telephone gateway (this script, `--rtp`)
    subscribers  198.51.100.11 .. 14     dig, curl, telephone (this script, `--rtp`)

(The addresses are those that RFC 5737 keeps for documentation.) The script makes two namespaces with names of its own, ends
only the processes that it started, removes both again whatever happens, and gives up after TIME_LIMIT seconds.
"""

import argparse
import contextlib
import math
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

CAPTURE = Path(__file__).resolve().parents[1] / "scenarios" / "captures" / "first_light.pcap"

LINK_RATE = "60mbit"  # of the veth pair, downstream
LINK_BURST_BYTES = 6_000  # token bucket: four frames
LINK_BUFFER_BYTES = 90_000  # 12 ms at LINK_RATE
SNAP_BYTES = 96  # Ethernet + IPv4 + TCP with options and some payload
SECONDS = 2.5  # of traffic
TIME_LIMIT = 60  # for everything, set-up included

DNS, WEB, VIDEO, FILES, VOICE = "192.0.2.53", "192.0.2.80", "192.0.2.81", "192.0.2.20", "192.0.2.50"
HOSTS = {"shop.example": WEB, "news.example": WEB, "video.example": VIDEO, "files.example": FILES}
SUBSCRIBERS = [f"198.51.100.{10 + n}" for n in range(1, 5)]
PAGE_BYTES = {"index.html": 11_800, "style.css": 8_200, "app.js": 41_000} | {f"photo{n}.jpg": 14_000 + 5_500 * n for n in range(6)}
SEGMENT_BYTES = 160_000  # of video, one every SEGMENT_SECONDS: 3.2 Mbit/s
SEGMENT_SECONDS = 0.4
BULK_BYTES = 5_000_000
RTP_PORT = 16_384  # plus the subscriber's number
TOOLS = ["ip", "tc", "ethtool", "tcpdump", "nginx", "dnsmasq", "dig", "curl"]


def run(*command: str) -> str:
    """Run a command to its end and return what it printed; a failure ends the recording with its message."""
    result = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT)
    if result.returncode:
        raise SystemExit(f"{' '.join(command)}: {result.stderr.strip() or result.returncode}")
    return result.stdout


class Namespace:
    """One network namespace, named after this process so that it cannot be anybody else's."""

    def __init__(self, role: str) -> None:
        self.name = f"penstock-{role}-{os.getpid()}"
        self.interface = f"pst-{role[:6]}"
        run("ip", "netns", "add", self.name)

    def command(self, *command: str) -> list[str]:
        """Return `command` as it is run inside the namespace."""
        return ["ip", "netns", "exec", self.name, *command]

    def run(self, *command: str) -> str:
        return run(*self.command(*command))

    @contextlib.contextmanager
    def process(self, *command: str) -> Iterator[subprocess.Popen]:
        """Run a process in the namespace and end it, and only it, on the way out."""
        process = subprocess.Popen(self.command(*command), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextlib.contextmanager
def two_namespaces() -> Iterator[tuple[Namespace, Namespace]]:
    """Make both namespaces, the veth pair between them, addresses, routes and the rate limit; remove all of it at the end."""
    made: list[Namespace] = []
    try:
        for role in ("server", "subscribers"):
            made.append(Namespace(role))
        server, subscribers = made
        a, b = server.interface, subscribers.interface
        run("ip", "link", "add", a, "netns", server.name, "type", "veth", "peer", "name", b, "netns", subscribers.name)
        for number, (here, addresses, there) in enumerate(
            [(server, [DNS, WEB, VIDEO, FILES, VOICE], "198.51.100.0/24"), (subscribers, SUBSCRIBERS, "192.0.2.0/24")], start=1
        ):
            here.run("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
            here.run("ip", "link", "set", here.interface, "address", f"02:00:00:00:00:{number:02x}")
            for address in addresses:
                here.run("ip", "address", "add", f"{address}/32", "dev", here.interface)
            here.run("ip", "link", "set", "lo", "up")
            here.run("ip", "link", "set", here.interface, "up")
            here.run("ip", "route", "add", there, "dev", here.interface, "src", addresses[0], "congctl", "cubic")
            here.run("ethtool", "-K", here.interface, "tso", "off", "gso", "off", "gro", "off", "tx", "off")
        bucket = ["rate", LINK_RATE, "burst", str(LINK_BURST_BYTES), "limit", str(LINK_BUFFER_BYTES)]
        server.run("tc", "qdisc", "add", "dev", a, "root", "tbf", *bucket)
        yield server, subscribers
    finally:
        for namespace in made:  # the veth pair goes with them
            subprocess.run(["ip", "netns", "delete", namespace.name], check=False)


def write_site(folder: Path) -> Path:
    """Write the files that the web server has, and its configuration; return the latter's path."""
    rng = random.Random(1)
    for name, size in (PAGE_BYTES | {"segment.m4s": SEGMENT_BYTES, "file.bin": BULK_BYTES}).items():
        (folder / name).write_bytes(rng.randbytes(size))
    objects = "".join(f'<img src="{name}">' for name in PAGE_BYTES if name != "index.html")
    (folder / "index.html").write_text(f"<html>{objects}{'x' * (PAGE_BYTES['index.html'] - len(objects))}</html>")
    configuration = folder / "nginx.conf"
    paths = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    listen = "".join(f"listen {address}:80;" for address in (WEB, VIDEO, FILES))
    configuration.write_text(
        f"user root; daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; worker_processes 1;"
        f"events {{}} http {{ access_log off; {paths} server {{ {listen} root {folder}; }} }}"
    )
    return configuration


def mu_law(sample: float) -> int:
    """Return the ITU-T G.711 mu-law octet of a sample between -1 and 1."""
    magnitude = min(int(abs(sample) * 8_159), 8_158) + 33
    segment = magnitude.bit_length() - 6
    return ~((0x80 if sample < 0 else 0) | segment << 4 | (magnitude >> (segment + 1)) & 15) & 0xFF


def rtp(source: str, destination: str, port: int, start: float) -> None:
    """Send one side of a G.711 call (RFC 3550, RFC 3551): 160 byte of a 425 Hz tone every 20 ms, marked EF, from `start` (monotonic) on."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 46 << 2)
        s.bind((source, port))
        for n in range(int(SECONDS * 50)):
            time.sleep(max(0.0, start + n * 0.020 - time.monotonic()))
            header = struct.pack("!BBHII", 0x80, 0x80 if n == 0 else 0, n, n * 160, port)
            tone = bytes(mu_law(0.5 * math.sin(2 * math.pi * 425 * (n * 160 + i) / 8_000)) for i in range(160))
            s.sendto(header + tone, (destination, port))
        time.sleep(0.5)  # so that the other side's last packets find the port open


class Subscriber:
    """What one subscriber does, with real programs that are bound to the subscriber's address."""

    def __init__(self, namespace: Namespace, number: int, folder: Path) -> None:
        self.namespace, self.address, self.folder = namespace, SUBSCRIBERS[number - 1], folder / f"subscriber{number}"
        self.folder.mkdir()

    def look_up(self, host: str) -> str:
        """Ask the name server for both kinds of address as a browser does, and return the IPv4 one."""
        answers = [
            self.namespace.run("dig", "-b", self.address, f"@{DNS}", "+short", "+tries=1", "+time=2", host, kind) for kind in ("AAAA", "A")
        ]
        return answers[1].split()[0]

    def fetch(self, host: str, *names: str) -> None:
        """Look `host` up and get files from it, up to six at a time."""
        pin = f"{host}:80:{self.look_up(host)}"
        options = ["--silent", "--fail", "--parallel", "--parallel-max", "6", "--parallel-immediate", "--interface", self.address]
        urls = [f"http://{host}/{name}" for name in names]
        self.namespace.run("curl", *options, "--resolve", pin, "--output-dir", str(self.folder), "--remote-name-all", *urls)

    def browse(self, host: str) -> None:
        """Load a page and then all that it names."""
        self.fetch(host, "index.html")
        self.fetch(host, *re.findall(r'src="([^"]+)"', (self.folder / "index.html").read_text()))

    def watch(self, host: str, until: float) -> None:
        """Fetch one video segment every SEGMENT_SECONDS, like an adaptive-streaming player with a full buffer."""
        due = time.monotonic()
        while due < until:
            time.sleep(max(0.0, due - time.monotonic()))
            self.fetch(host, "segment.m4s")
            due += SEGMENT_SECONDS


def wait_for(ready: Callable[[], bool], what: str) -> None:
    """Wait until `ready()`, two seconds at most."""
    for _ in range(40):
        if ready():
            return
        time.sleep(0.05)
    raise SystemExit(f"{what} did not start")


def record(out: Path) -> None:
    """Record SECONDS of traffic into `out`."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server, subscribers = stack.enter_context(two_namespaces())
        stack.enter_context(server.process("nginx", "-e", str(folder / "error.log"), "-c", str(write_site(folder))))
        names = [f"--host-record={host},{address}" for host, address in HOSTS.items()]
        options = [
            "--keep-in-foreground",
            "--conf-file=/dev/null",
            "--no-resolv",
            "--no-hosts",
            "--local=/example/",
            "--user=root",
            "--pid-file=",
        ]
        stack.enter_context(server.process("dnsmasq", *options, "--bind-interfaces", f"--listen-address={DNS}", *names))
        wait_for(lambda: ":53 " in server.run("ss", "-lun") and ":80 " in server.run("ss", "-ltn"), "the servers")

        part = folder / "capture.pcap"
        tcpdump = ["tcpdump", "-i", server.interface, "--time-stamp-precision=nano", "-s", str(SNAP_BYTES), "-B", "8192", "-Z", "root"]
        dump = stack.enter_context(server.process(*tcpdump, "-U", "-w", str(part), "ip"))
        wait_for(lambda: part.exists() and part.stat().st_size >= 24, "tcpdump")

        one, two, three, four = (Subscriber(subscribers, n, folder) for n in range(1, 5))
        start = time.monotonic() + 0.5
        for n in (1, 2):  # both sides of two telephone calls
            for namespace, a, b in [(server, VOICE, SUBSCRIBERS[n - 1]), (subscribers, SUBSCRIBERS[n - 1], VOICE)]:
                stack.enter_context(namespace.process(sys.executable, __file__, "--rtp", a, b, str(RTP_PORT + n), str(start)))
        plan: list[tuple[float, Callable[[], None]]] = [
            (0.05, lambda: one.browse("shop.example")),
            (0.15, lambda: three.watch("video.example", start + SECONDS - 0.3)),
            (0.40, lambda: one.fetch("files.example", "file.bin")),
            (0.55, lambda: two.browse("news.example")),
            (0.80, lambda: one.browse("news.example")),
            (1.00, lambda: four.browse("shop.example")),
            (1.60, lambda: two.browse("shop.example")),
        ]
        failures: list[BaseException] = []

        def play(when: float, action: Callable[[], None]) -> None:
            try:
                time.sleep(max(0.0, start + when - time.monotonic()))
                action()
            except BaseException as error:  # reported by the main thread
                failures.append(error)

        threads = [threading.Thread(target=play, args=step, daemon=True) for step in plan]
        for thread in threads:
            thread.start()
        time.sleep(max(0.0, start + SECONDS - time.monotonic()))
        for thread in threads:
            thread.join(5)
        if failures or any(thread.is_alive() for thread in threads):
            raise SystemExit(f"the traffic did not run as planned: {failures or 'an application hangs'}")
        time.sleep(1.5)  # the kernel hands its last, half-filled buffer over after a second
        dump.send_signal(signal.SIGINT)
        message = dump.communicate(timeout=5)[1]
        if not re.search(r"^0 packets dropped by kernel", message, re.MULTILINE):
            raise SystemExit(f"tcpdump lost packets: {message}")
        out.write_bytes(sorted_by_time(part.read_bytes()))


def sorted_by_time(capture: bytes) -> bytes:
    """Put the records of a pcap in the order of their time stamps (two processors write, so neighbours may be swapped)."""
    records, at = [], 24
    while at < len(capture):
        seconds, nanoseconds, length = struct.unpack_from("=III", capture, at)
        records.append((seconds, nanoseconds, at, capture[at : at + 16 + length]))
        at += 16 + length
    return capture[:24] + b"".join(record[3] for record in sorted(records))


def table(capture: Path) -> str:
    """Return the flows of a capture as a Markdown table: frames and bytes on the wire (without FCS), first and last time in seconds."""
    import dpkt

    servers = {DNS: "DNS", WEB: "web", VIDEO: "video", FILES: "bulk", VOICE: "voice"}
    flows: dict[str, list[float]] = {}
    with capture.open("rb") as file:
        first = None
        for when, frame in dpkt.pcap.Reader(file):
            first = when if first is None else first
            ip = dpkt.ethernet.Ethernet(frame).data
            source, destination = socket.inet_ntoa(ip.src), socket.inet_ntoa(ip.dst)
            down = source in servers
            name = f"{servers[source if down else destination]} | {'down' if down else 'up'} | {destination if down else source}"
            flow = flows.setdefault(name, [0, 0, float(when - first), 0.0])
            flow[0] += 1
            flow[1] += ip.len + 14
            flow[3] = float(when - first)
    lines = ["| flow | direction | subscriber | frames | bytes | from (s) | to (s) |", "|---|---|---|---:|---:|---:|---:|"]
    lines += [f"| {name} | {f[0]:.0f} | {f[1]:.0f} | {f[2]:.3f} | {f[3]:.3f} |" for name, f in sorted(flows.items())]
    total = [sum(f[i] for f in flows.values()) for i in (0, 1)]
    return "\n".join([*lines, f"| all | | | {total[0]:.0f} | {total[1]:.0f} | | |"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=CAPTURE)
    parser.add_argument("--table", action="store_true", help="only print the flow table of the capture")
    parser.add_argument("--rtp", nargs=4, metavar=("SOURCE", "DESTINATION", "PORT", "START"), help="be one side of a telephone call")
    arguments = parser.parse_args()
    if arguments.rtp:
        source, destination, port, start = arguments.rtp
        rtp(source, destination, int(port), float(start))
        return
    if not arguments.table:
        missing = [tool for tool in TOOLS if shutil.which(tool) is None]
        if missing or os.geteuid() != 0:
            raise SystemExit(f"needs root and {', '.join(missing) or 'nothing else'}; see the first lines of this file")
        signal.signal(signal.SIGALRM, lambda *_: sys.exit(f"gave up after {TIME_LIMIT} s"))
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
        signal.alarm(TIME_LIMIT)
        record(arguments.out)
        print(f"{arguments.out}: {arguments.out.stat().st_size} byte")
    print(table(arguments.out))


if __name__ == "__main__":
    main()
