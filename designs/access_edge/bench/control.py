"""`bench control`: how fast a control plane sets a device up, by carrier: the paper's Table III.

A server of its own process (`penstock serve`, the model engine, traffic of 10 Gbit/s through the device, the intent durable in SQLite
when a call is answered) is asked by this one. Messages are made before the clock starts. `raw` are register writes to a mapped file,
without any server; `unary` a call for each subscriber, `batch` and `stream` many in a call. `remote` is through a line that delays: calls
are of one subscriber each, queues are those of one stream. The stream is the median of several.

Beside that, what unary calls could be at best: the health check of the same server (gRPC and nothing else), and transactions of one row on
the same disk, each with its fsync; with one client and with several at once, each a process of its own. The paper's own call is an access
to one register: that is measured as well, of the device in the server's process and of a mapped file (the carrier of a PCIe card), locally
and through the line. Calls of all kinds take turns in rounds, and a ratio is the median of those within a round: what else the machine does
while it measures meets all kinds alike.
"""

import contextlib
import itertools
import multiprocessing
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from penstock.basics import groups
from penstock.command_line.options import nothing_left, take_number
from penstock.designs.design import Bench
from penstock.paths import BUILD

KEYS = ("subscribers", "unary", "delay_us", "traffic_mbps", "streams")
CLIENTS = (1, 8)  # at once
ROUNDS = 5
KINDS = ("grpc", "change", "write", "read")  # of calls
REGISTER = "queue_rate"  # that is written and read
COMMITS = 300
EACH = 4  # queues of a subscriber
A_BATCH = 1_000
RATES = (256_000, 8_000_000, 20_000_000, 50_000_000)  # of its queues, by class
NODES = 1024
START_SECONDS = 300
SCENARIO = """
name: bench_control
description: traffic for half of the queues while the others are set up
device: { config: tree_codel_262144 }
duration: 1 s
drain: false
traffic:
  - { name: background, poisson: { queues: "131072-262143", pick: random, rate: %d Mbit/s, size: imix } }
"""

Progress = Callable[[int, int], None] | None


def plan(settings: dict[str, str], seed: int) -> dict[str, Any]:
    """Return the options of the bench from `--set` values (`settings` is used up). Raises UserError."""
    options = {
        "engine": "model",
        "subscribers": take_number(settings, "subscribers", 35_000, 100, 65_536),
        "unary": take_number(settings, "unary", 2_000, 10, 100_000),
        "delay_us": take_number(settings, "delay_us", 1_000, 0, 1_000_000),
        "streams": take_number(settings, "streams", 5, 1, 100),
        "traffic_mbps": take_number(settings, "traffic_mbps", 10_000, 0, 100_000),
        "seed": seed,
        "packets": 0,
    }
    nothing_left(settings, KEYS)
    groups.need("bench control", "control")
    return options


def _prepare(options: dict[str, Any], report: Callable[[str], None] | None) -> None:
    from penstock.engine import engine

    engine.build(report, "designs/access_edge/model")


def subscriber(number: int, seed: int) -> Any:
    """Return a subscriber of the bench: one of seven plans, four queues of four classes with a burst and AQM each."""
    from penstock.v1 import common_pb2, subscribers_pb2

    factor = 1 + (number + seed) % 7
    made = subscribers_pb2.Subscriber(
        name=f"home-{number}", index=number, node=number % NODES, rate_bps=50_000_000 * factor, burst_bytes=20_000
    )
    for cls, rate in enumerate(RATES):
        aqm = common_pb2.Aqm(ecn=True, settings={"target": "5 ms", "interval": "100 ms"})
        made.queues.append(common_pb2.QueueSettings(rate_bps=rate * factor, burst_bytes=3_000, traffic_class=cls, aqm=aqm))
    return made


def run(options: dict[str, Any], library: Path | None, progress: Progress) -> dict[str, Any]:
    """Measure and return the figures. Raises RuntimeError when the server does not do what it was asked."""
    calls: dict[str, float] = {}
    queues: dict[str, float] = {}
    count, unary, seed = options["subscribers"], min(options["unary"], options["subscribers"]), options["seed"]
    few = max(10, min(unary, 200))
    steps = itertools.count(1)
    registers: dict[str, dict[str, dict[str, float]]] = {}

    def step() -> None:
        if progress:
            progress(next(steps), 8)

    with tempfile.TemporaryDirectory(prefix="penstock-control-", dir=BUILD) as folder:
        queues["raw"], writes = _raw(Path(folder), options)
        calls["raw"] = queues["raw"]
        commits = _commits(Path(folder))
        step()
        with _served(Path(folder), [_scenario(Path(folder), options)]) as (address, process):
            from penstock.designs.access_edge.control.client import Client

            rates = {}
            for clients in CLIENTS:
                with _callers(address, clients, seed) as callers:
                    rates[clients] = _rounds(callers, unary, KINDS if clients == 1 else KINDS[:2], process)
                step()
            registers["in_process"] = {"local": _of_registers(rates[1])}
            calls["unary"] = rates[1]["change"]
            queues["unary"] = calls["unary"] * EACH
            with Client(address) as client:
                batches, seconds = _batches(client, range(unary), seed + 1)
                calls["batch"], queues["batch"] = batches / seconds, unary * EACH / seconds
                step()
                took = []
                for number in range(options["streams"]):
                    applied, *spent = _stream(client, range(count), seed + 2 + number, process)
                    took.append(spent)
                seconds, processor = (statistics.median(values) for values in zip(*took, strict=True))
                calls["stream"], queues["stream"] = 1 / seconds, count * EACH / seconds
                step()
            with _delayed(address, options["delay_us"]) as far:
                with _callers(far, 1, seed + 3) as callers:
                    found = _rounds(callers, few, KINDS)
                calls["remote"], registers["in_process"]["remote"] = found["change"], _of_registers(found)
                with Client(far) as client:
                    _, far_seconds, _ = _stream(client, range(count), seed + 4, process)
                queues["remote"] = count * EACH / far_seconds
                step()
        with _served(Path(folder), ["--pcie", str(_file_of_a_card(Path(folder)))]) as (address, _):
            registers["mapped"] = {}
            for where, line in (("local", contextlib.nullcontext(address)), ("remote", _delayed(address, options["delay_us"]))):
                with line as to, _callers(to, 1, seed) as callers:
                    registers["mapped"][where] = _of_registers(
                        _rounds(callers, unary if where == "local" else few, ("grpc", "write", "read"))
                    )
                step()
    return {
        "calls_per_second": calls,
        "queues_per_second": queues,
        "register_writes_per_second": writes,
        "register_calls": registers,
        "commits_per_second": commits,
        "grpc_calls_per_second": {str(clients): rates[clients]["grpc"] for clients in CLIENTS},
        "unary_calls_per_second": {str(clients): rates[clients]["change"] for clients in CLIENTS},
        "unary_to_grpc": {str(clients): rates[clients]["change_to_grpc"] for clients in CLIENTS},
        "server_processor_us_per_call": {
            str(clients): {kind: rates[clients][f"{kind}_processor_us"] for kind in KINDS[:2]} for clients in CLIENTS
        },
        "unary_to_commits": {str(clients): rates[clients]["change"] / commits for clients in CLIENTS},
        "stream_to_raw": queues["stream"] / queues["raw"],
        "server_processor_seconds_of_stream": processor,
        "streams_seconds": [seconds for seconds, _ in took],
        "bus_writes_per_queue": applied.bus_writes / applied.queues,
        "device_cycles_per_queue": applied.device_cycles / applied.queues,
        "seconds_for_140000_queues": 140_000 / queues["stream"],
        "seconds_for_10000_sessions": 10_000 * EACH / queues["stream"],
    }


def _of_registers(rates: dict[str, float]) -> dict[str, float]:
    """Return what concerns registers: bare calls, writes and reads of one register, and their ratios."""
    return {kind: rate for kind, rate in rates.items() if not kind.startswith("change") and not kind.endswith("_us")}


def _rounds(callers: "_Callers", calls: int, kinds: Sequence[str], process: int | None = None) -> dict[str, float]:
    """Return calls per second of some kinds, and ratios to bare ones (`<kind>_to_grpc`): medians of rounds that have all kinds. With
    `process`, the server, also what a call takes of its processor time (`<kind>_processor_us`), which waiting and other programs are not
    in."""
    each = -(-calls // ROUNDS)
    spent = dict.fromkeys(kinds, 0.0)
    rounds: list[dict[str, float]] = []
    for at in range(ROUNDS):
        rounds.append({})
        for kind in kinds:
            before = _of_calls(process)
            rounds[-1][kind] = callers.rate(kind, range(at * each, (at + 1) * each))
            spent[kind] += _of_calls(process) - before
    made = ROUNDS * callers.made(each)
    found = {kind: statistics.median(one[kind] for one in rounds) for kind in kinds}
    found |= {f"{kind}_to_grpc": statistics.median(one[kind] / one["grpc"] for one in rounds) for kind in kinds if kind != "grpc"}
    return found | ({f"{kind}_processor_us": spent[kind] * 1e6 / made for kind in kinds} if process else {})


def _of_calls(process: int | None) -> float:
    """Return what a server has taken for calls: without its device, and without reading counters, which goes on by itself."""
    return _processor_seconds(process, ("device", "sweep")) if process else 0.0


def _commits(folder: Path) -> float:
    """Return how many transactions of a row SQLite makes durable in a second, one after the other, as the store does."""
    from penstock.designs.access_edge.control.intent import Intent

    with contextlib.closing(Intent(folder / "commits.sqlite")) as intent:
        begin = time.perf_counter()
        for number in range(COMMITS):
            with intent.transaction():
                intent.put([number], [bytes(200)], [1])
        return COMMITS / (time.perf_counter() - begin)


def _processor_seconds(process: int, without: Sequence[str] = ("device",)) -> float:
    """Return the processor time that a server has taken, also in threads that have ended, without that of some threads: unless said
    otherwise, of the device that it simulates."""
    _, ticks = _ticks(Path(f"/proc/{process}"))
    for task in Path(f"/proc/{process}/task").iterdir():
        with contextlib.suppress(OSError):  # it has ended
            name, own = _ticks(task)
            if name in without:
                ticks -= own
    return ticks / os.sysconf("SC_CLK_TCK")


def _ticks(task: Path) -> tuple[str, int]:
    """Return what a process or thread is called, and its processor time in ticks. Raises OSError."""
    name, _, rest = (task / "stat").read_text().rpartition(")")
    return name.rpartition("(")[2], sum(map(int, rest.split()[11:13]))


class _Callers:
    """Client processes, each with a connection of its own, that make their calls at the same time, one after the other."""

    def __init__(self, pipes: Sequence[Any]) -> None:
        self._pipes = pipes

    def made(self, calls: int) -> int:
        """Return how many calls `rate` makes of so many: each client as many as the others."""
        return -(-calls // len(self._pipes)) * len(self._pipes)

    def rate(self, kind: str, numbers: range) -> float:
        """Return calls per second of a kind, of all together; `numbers`: of the subscribers that are changed. Raises RuntimeError."""
        each = self.made(len(numbers)) // len(self._pipes)
        parts = [range(numbers.start + at * each, numbers.start + (at + 1) * each) for at in range(len(self._pipes))]
        for pipe, part in zip(self._pipes, parts, strict=True):
            pipe.send((kind, part))
        for told in ("ready", "go"):
            for pipe in self._pipes:
                if told == "go":
                    pipe.send(told)
                elif pipe.recv() != told:
                    raise RuntimeError(f"a client of `{kind}` calls does not begin")
        spans = [pipe.recv() for pipe in self._pipes]
        if None in spans:
            raise RuntimeError(f"a client of `{kind}` calls was refused")
        return self.made(len(numbers)) / (max(end for _, end in spans) - min(begin for begin, _ in spans))


@contextlib.contextmanager
def _callers(address: str, clients: int, seed: int) -> Iterator[_Callers]:
    """Have so many client processes inside of the `with`."""
    context = multiprocessing.get_context("spawn")
    pairs = [context.Pipe() for _ in range(clients)]
    processes = [context.Process(target=_caller, args=(address, far, seed), daemon=True) for _, far in pairs]
    try:
        for process, (_, far) in zip(processes, pairs, strict=True):
            process.start()
            far.close()
        yield _Callers([near for near, _ in pairs])
    finally:
        for near, _ in pairs:
            near.close()
        for process in processes:
            process.join()


def _caller(address: str, pipe: Any, seed: int) -> None:
    from penstock.designs.access_edge.control.client import Client

    with Client(address) as client, contextlib.suppress(EOFError):
        while True:
            kind, numbers = pipe.recv()
            call, requests = _calls(client, kind, numbers, seed)
            pipe.send("ready")
            pipe.recv()
            begin = time.monotonic()
            try:
                for request in requests:
                    call(request)
            except Exception:
                pipe.send(None)
                raise
            pipe.send((begin, time.monotonic()))


def _calls(client: Any, kind: str, numbers: Sequence[int], seed: int) -> tuple[Callable[[Any], Any], list[Any]]:
    """Return a method of the server, and requests for it."""
    from grpc_health.v1 import health_pb2, health_pb2_grpc

    from penstock.v1 import registers_pb2, subscribers_pb2

    if kind == "change":
        # The first call of all makes, later ones replace: either is one change of one subscriber.
        made = (subscribers_pb2.Change(replace=subscriber(number, seed)) for number in numbers)
        return client.subscribers.Batch, [subscribers_pb2.BatchRequest(changes=[change], all_or_nothing=True) for change in made]
    name = registers_pb2.RegisterName(register=REGISTER)
    if kind == "write":
        write = registers_pb2.WriteRegistersRequest.Write
        return client.registers.Write, [registers_pb2.WriteRegistersRequest(writes=[write(register=name, value=n)]) for n in numbers]
    if kind == "read":
        return client.registers.Read, [registers_pb2.ReadRegistersRequest(registers=[name])] * len(numbers)
    check = health_pb2_grpc.HealthStub(client.channel).Check  # type: ignore[attr-defined]  # which its types forget
    return check, [health_pb2.HealthCheckRequest()] * len(numbers)


def _file_of_a_card(folder: Path) -> Path:
    """Return a file of the shape of a card's registers: it says what it is, and does nothing."""
    import numpy as np

    from penstock.designs.access_edge import registers
    from penstock.designs.access_edge.control.facts import KIND, MAJOR, MINOR
    from penstock.driver.blocks import MARK

    words = np.zeros(1024, dtype=np.uint32)
    said = {
        "type": MARK << 8 | KIND, "version": MAJOR << 16 | MINOR, "queues": 262_144, "descriptors": 131_072, "max_frame_bytes": 1522,
        "clock_hz": 220_000_000, "features": registers.word("features", shaping=1, aqm=registers.AQM_CODES["codel"], hierarchy=1),
        "queues_per_subscriber": EACH, "nodes": NODES, "ports": 2, "classes": 4, "status": registers.STATUS_INIT_DONE,
    }  # fmt: skip
    for name, value in said.items():
        words[registers.address(name) >> 2] = value
    file = folder / "resource0_of_a_card"
    file.write_bytes(words.tobytes())
    return file


def _raw(folder: Path, options: dict[str, Any]) -> tuple[float, float]:
    """Return queues and register writes per second of a program in a mapped file."""
    import numpy as np

    from penstock.designs.access_edge.control.codes import Codes
    from penstock.designs.access_edge.control.facts import Facts, Hierarchy
    from penstock.designs.access_edge.control.programs import Programs
    from penstock.driver.mapped import Mapped

    file = folder / "resource0"
    file.write_bytes(bytes(4096))
    facts = Facts(4, 262_144, 131_072, 1522, 220_000_000, 8, True, "codel", Hierarchy(EACH, NODES, 2, 4), None)
    codes, programs, carrier = Codes(facts), Programs(facts), Mapped(file)
    numbers = np.array([codes.queue(queue) for n in range(options["unary"]) for queue in subscriber(n, 0).queues], dtype=np.int32)
    program = programs.queues(np.arange(len(numbers), dtype=np.uint32), codes.queue_rows(numbers))
    writes = program.accesses[program.accesses[:, 0] == 0]  # a file neither steps nor answers
    begin = time.perf_counter()
    carrier.run(writes)
    seconds = time.perf_counter() - begin
    carrier.close()
    return len(numbers) / seconds, len(writes) / seconds


def _scenario(folder: Path, options: dict[str, Any]) -> str:
    scenario = folder / "bench_control.yaml"
    scenario.write_text(SCENARIO % max(1, options["traffic_mbps"]))
    return str(scenario)


@contextlib.contextmanager
def _served(folder: Path, device: list[str]) -> Iterator[tuple[str, int]]:
    """Serve a device (what `penstock serve` calls it) in a process of its own; yield address and process."""
    kept = Path(tempfile.mkdtemp(dir=folder))
    address = f"unix:{kept / 'control.sock'}"
    command = [sys.executable, "-P", "-m", "penstock", "serve", *device, "--store", str(kept / "intent.sqlite"), "--listen", address]
    with (kept / "log").open("w+") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            end = time.monotonic() + START_SECONDS
            while "Serving" not in (kept / "log").read_text():
                if process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"the server does not start: {(kept / 'log').read_text()[-300:]}")
                time.sleep(0.1)
            yield address, process.pid
        finally:
            process.terminate()
            process.wait()


def _batches(client: Any, numbers: Sequence[int], seed: int) -> tuple[int, float]:
    from penstock.v1 import subscribers_pb2 as pb

    made = [pb.Change(replace=subscriber(number, seed)) for number in numbers]
    requests = [pb.BatchRequest(changes=made[at : at + A_BATCH], all_or_nothing=True) for at in range(0, len(made), A_BATCH)]
    begin = time.perf_counter()
    for request in requests:
        client.subscribers.Batch(request)
    return len(requests), time.perf_counter() - begin


def _stream(client: Any, numbers: Sequence[int], seed: int, process: int) -> tuple[Any, float, float]:
    """Return what a stream has cost the device, its seconds, and the server's processor time meanwhile."""
    made = [subscriber(number, seed) for number in numbers]
    spent, begin = _processor_seconds(process), time.perf_counter()
    answer = client.provision(made)
    seconds, spent = time.perf_counter() - begin, _processor_seconds(process) - spent
    if answer.failed or answer.applied.queues != len(made) * EACH:
        raise RuntimeError(f"{answer.failed} of {len(made)} subscribers were not set: {answer.failures[:1]}")
    return answer.applied, seconds, spent


@contextlib.contextmanager
def _delayed(address: str, delay_us: int) -> Iterator[str]:
    """Yield a loopback address behind which the server is, each way `delay_us` later."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.2)
    stop = threading.Event()
    threads: list[threading.Thread] = []

    def accept() -> None:
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                near, _ = listener.accept()
                far = socket.socket(socket.AF_UNIX)
                far.connect(address.removeprefix("unix:"))
                for source, to in ((near, far), (far, near)):
                    threads.append(threading.Thread(target=_relay, args=(source, to, delay_us / 1e6), daemon=True))
                    threads[-1].start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        stop.set()
        thread.join()
        listener.close()


def _relay(source: socket.socket, to: socket.socket, delay: float) -> None:
    """Pass on what comes, each piece `delay` seconds after it has come."""
    import queue

    pieces: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()

    def send() -> None:
        while (piece := pieces.get())[1]:
            time.sleep(max(0.0, piece[0] - time.monotonic()))
            with contextlib.suppress(OSError):
                to.sendall(piece[1])
        with contextlib.suppress(OSError):
            to.shutdown(socket.SHUT_WR)

    threading.Thread(target=send, daemon=True).start()
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            pieces.put((time.monotonic() + delay, data))
    pieces.put((0.0, b""))


def _lines(result: dict[str, Any]) -> list[str]:
    names = ("raw", "unary", "batch", "stream", "remote")
    calls, queues = result["calls_per_second"], result["queues_per_second"]
    found = [f"{name:8} {calls[name]:12,.1f} calls/s {queues[name]:14,.0f} queues/s" for name in names]
    for clients in map(str, CLIENTS):
        bare, changed = result["grpc_calls_per_second"][clients], result["unary_calls_per_second"][clients]
        ratio, spent = result["unary_to_grpc"][clients], result["server_processor_us_per_call"][clients]
        found.append(f"{clients} at once: {changed:8,.1f} unary calls/s, {ratio:.2f} of gRPC's own {bare:,.1f}")
        found.append(f"  the server's processor time: {spent['change']:.0f} us a call, {spent['grpc']:.0f} us of it gRPC's own")
    for carrier, places in result["register_calls"].items():
        for where, one in places.items():
            words = ", ".join(f"{one[kind]:,.1f} {kind}s/s ({one[f'{kind}_to_grpc']:.2f})" for kind in ("write", "read"))
            found.append(f"one register, {carrier.replace('_', ' ')}, {where}: {words} of gRPC's own {one['grpc']:,.1f}")
    found.append(f"one row made durable: {result['commits_per_second']:,.1f} times/s")
    found.append(
        f"register writes per queue {result['bus_writes_per_queue']:.2f}, device cycles gone by {result['device_cycles_per_queue']:.1f}"
    )
    return [*found, f"140,000 queues in {result['seconds_for_140000_queues']:.2f} s"]


BENCH = Bench("how fast the control plane sets queues up", 0, plan, _prepare, run, _lines)
