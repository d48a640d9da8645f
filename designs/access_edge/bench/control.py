"""`bench control`: how fast a control plane sets a device up, by carrier: the paper's Table III.

A server of its own process (`penstock serve`, the model engine, traffic of 10 Gbit/s through the device, the intent durable in SQLite
when a call is answered) is asked by this one. Messages are made before the clock starts. `raw` are register writes to a mapped file,
without any server; `unary` a call for each subscriber, `batch` and `stream` many in a call. `remote` is through a line that delays: calls
are of one subscriber each, queues are those of one stream. The stream is the median of several.

Beside that, what unary calls could be at best: the health check of the same server (gRPC and nothing else), and transactions of one row on
the same disk, each with its fsync; with one client and with several at once, each a process of its own.
"""

import contextlib
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

from penstock.command_line.options import nothing_left, take_number
from penstock.designs.design import Bench
from penstock.paths import BUILD

KEYS = ("subscribers", "unary", "delay_us", "traffic_mbps", "streams")
CLIENTS = (1, 8)  # at once
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
    return options


def _prepare(options: dict[str, Any], report: Callable[[str], None] | None) -> None:
    from penstock.engine import engine

    engine.build(report)


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
    count, unary = options["subscribers"], min(options["unary"], options["subscribers"])
    steps = iter(range(1, 100))

    def step() -> None:
        if progress:
            progress(next(steps), 6)

    with tempfile.TemporaryDirectory(prefix="penstock-control-", dir=BUILD) as folder:
        queues["raw"], writes = _raw(Path(folder), options)
        calls["raw"] = queues["raw"]
        commits = _commits(Path(folder))
        step()
        with _served(Path(folder), options) as (address, process):
            from penstock.designs.access_edge.control.client import Client

            bare = {clients: _callers(address, "health", clients, unary, options["seed"]) for clients in CLIENTS}
            step()
            changed = {clients: _callers(address, "change", clients, unary, options["seed"]) for clients in CLIENTS}
            step()
            with Client(address) as client:
                calls["unary"] = changed[1]
                queues["unary"] = calls["unary"] * EACH
                batches, seconds = _batches(client, range(unary), options["seed"] + 1)
                calls["batch"], queues["batch"] = batches / seconds, unary * EACH / seconds
                step()
                took = []
                for number in range(options["streams"]):
                    before = _processor_seconds(process)
                    applied, seconds = _stream(client, range(count), options["seed"] + 2 + number)
                    took.append((seconds, _processor_seconds(process) - before))
                seconds, processor = (statistics.median(values) for values in zip(*took, strict=True))
                calls["stream"], queues["stream"] = 1 / seconds, count * EACH / seconds
                step()
            with _delayed(address, options["delay_us"]) as far, Client(far) as client:
                few = max(10, min(unary, 200))
                calls["remote"] = _unary(client, range(few), options["seed"] + 3)
                _, far_seconds = _stream(client, range(count), options["seed"] + 4)
                queues["remote"] = count * EACH / far_seconds
                step()
    return {
        "calls_per_second": calls,
        "queues_per_second": queues,
        "register_writes_per_second": writes,
        "commits_per_second": commits,
        "grpc_calls_per_second": {str(clients): rate for clients, rate in bare.items()},
        "unary_calls_per_second": {str(clients): rate for clients, rate in changed.items()},
        "unary_to_grpc": {str(clients): changed[clients] / bare[clients] for clients in CLIENTS},
        "unary_to_commits": {str(clients): changed[clients] / commits for clients in CLIENTS},
        "stream_to_raw": queues["stream"] / queues["raw"],
        "server_processor_seconds_of_stream": processor,
        "streams_seconds": [seconds for seconds, _ in took],
        "bus_writes_per_queue": applied.bus_writes / applied.queues,
        "device_cycles_per_queue": applied.device_cycles / applied.queues,
        "seconds_for_140000_queues": 140_000 / queues["stream"],
        "seconds_for_10000_sessions": 10_000 * EACH / queues["stream"],
    }


def _commits(folder: Path) -> float:
    """Return how many transactions of a row SQLite makes durable in a second, one after the other, as the store does."""
    from penstock.designs.access_edge.control.intent import Intent

    with contextlib.closing(Intent(folder / "commits.sqlite")) as intent:
        begin = time.perf_counter()
        for number in range(COMMITS):
            with intent.transaction():
                intent.put([(number, bytes(200))])
        return COMMITS / (time.perf_counter() - begin)


def _processor_seconds(process: int) -> float:
    """Return the processor time that a server has taken, without that of the device that it simulates."""
    ticks = 0
    for task in Path(f"/proc/{process}/task").iterdir():
        with contextlib.suppress(OSError):  # it has ended
            name, _, rest = (task / "stat").read_text().rpartition(")")
            if not name.endswith("(device"):
                ticks += sum(map(int, rest.split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _callers(address: str, what: str, clients: int, calls: int, seed: int) -> float:
    """Return calls per second of several processes, each with a connection of its own and one call after the other."""
    context = multiprocessing.get_context("spawn")
    ready, told = context.Barrier(clients), context.SimpleQueue()
    each = -(-calls // clients)
    processes = [
        context.Process(target=_caller, args=(address, what, range(at * each, (at + 1) * each), seed, ready, told), daemon=True)
        for at in range(clients)
    ]
    for process in processes:
        process.start()
    spans = [told.get() for _ in processes]
    for process in processes:
        process.join()
    if None in spans:
        raise RuntimeError(f"a client of `{what}` calls was refused")
    return clients * each / (max(end for _, end in spans) - min(begin for begin, _ in spans))


def _caller(address: str, what: str, numbers: Sequence[int], seed: int, ready: Any, told: Any) -> None:
    from grpc_health.v1 import health_pb2, health_pb2_grpc

    from penstock.designs.access_edge.control.client import Client
    from penstock.v1 import subscribers_pb2 as pb

    try:
        with Client(address) as client:
            health = health_pb2_grpc.HealthStub(client.channel)
            if what == "health":
                call, requests = health.Check, [health_pb2.HealthCheckRequest()] * len(numbers)
            else:
                call = client.subscribers.Batch
                made = (pb.Change(replace=subscriber(number, seed)) for number in numbers)
                requests = [pb.BatchRequest(changes=[change], all_or_nothing=True) for change in made]
            health.Check(health_pb2.HealthCheckRequest())
            ready.wait()
            begin = time.monotonic()
            for request in requests:
                call(request)
            told.put((begin, time.monotonic()))
    except Exception:
        told.put(None)
        ready.abort()
        raise


def _raw(folder: Path, options: dict[str, Any]) -> tuple[float, float]:
    """Return queues and register writes per second of a program in a mapped file."""
    import numpy as np

    from penstock.designs.access_edge.control.codes import Codes
    from penstock.designs.access_edge.control.facts import Facts, Tree
    from penstock.designs.access_edge.control.programs import Programs
    from penstock.driver.mapped import Mapped

    file = folder / "resource0"
    file.write_bytes(bytes(4096))
    facts = Facts(4, 262_144, 131_072, 1522, 220_000_000, 8, True, "codel", Tree(EACH, NODES, 2, 4), None)
    codes, programs, carrier = Codes(facts), Programs(facts), Mapped(file)
    numbers = np.array([codes.queue(queue) for n in range(options["unary"]) for queue in subscriber(n, 0).queues], dtype=np.int32)
    program = programs.queues(np.arange(len(numbers), dtype=np.uint32), codes.queue_rows(numbers))
    writes = program.accesses[program.accesses[:, 0] == 0]  # a file neither steps nor answers
    begin = time.perf_counter()
    carrier.run(writes)
    seconds = time.perf_counter() - begin
    carrier.close()
    return len(numbers) / seconds, len(writes) / seconds


@contextlib.contextmanager
def _served(folder: Path, options: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Serve the bench's device in a process of its own; yield address and process."""
    scenario = folder / "bench_control.yaml"
    scenario.write_text(SCENARIO % max(1, options["traffic_mbps"]))
    address = f"unix:{folder / 'control.sock'}"
    command = [
        sys.executable,
        "-P",
        "-m",
        "penstock",
        "serve",
        str(scenario),
        "--store",
        str(folder / "intent.sqlite"),
        "--listen",
        address,
    ]
    with (folder / "log").open("w+") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            end = time.monotonic() + START_SECONDS
            while "Serving" not in (folder / "log").read_text():
                if process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"the server does not start: {(folder / 'log').read_text()[-300:]}")
                time.sleep(0.1)
            yield address, process.pid
        finally:
            process.terminate()
            process.wait()


def _unary(client: Any, numbers: Sequence[int], seed: int) -> float:
    from penstock.v1 import subscribers_pb2 as pb

    # The first call of all makes, later ones replace: either is one change of one subscriber.
    requests = [pb.BatchRequest(changes=[pb.Change(replace=subscriber(number, seed))], all_or_nothing=True) for number in numbers]
    begin = time.perf_counter()
    for request in requests:
        client.subscribers.Batch(request)
    return len(requests) / (time.perf_counter() - begin)


def _batches(client: Any, numbers: Sequence[int], seed: int) -> tuple[int, float]:
    from penstock.v1 import subscribers_pb2 as pb

    made = [pb.Change(replace=subscriber(number, seed)) for number in numbers]
    requests = [pb.BatchRequest(changes=made[at : at + A_BATCH], all_or_nothing=True) for at in range(0, len(made), A_BATCH)]
    begin = time.perf_counter()
    for request in requests:
        client.subscribers.Batch(request)
    return len(requests), time.perf_counter() - begin


def _stream(client: Any, numbers: Sequence[int], seed: int) -> tuple[Any, float]:
    made = [subscriber(number, seed) for number in numbers]
    begin = time.perf_counter()
    answer = client.provision(made)
    seconds = time.perf_counter() - begin
    if answer.failed or answer.applied.queues != len(made) * EACH:
        raise RuntimeError(f"{answer.failed} of {len(made)} subscribers were not set: {answer.failures[:1]}")
    return answer.applied, seconds


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
        found.append(f"{clients} at once: {changed:8,.1f} unary calls/s, {changed / bare:.2f} of gRPC's own {bare:,.1f}")
    found.append(f"one row made durable: {result['commits_per_second']:,.1f} times/s")
    found.append(
        f"register writes per queue {result['bus_writes_per_queue']:.2f}, device cycles gone by {result['device_cycles_per_queue']:.1f}"
    )
    return [*found, f"140,000 queues in {result['seconds_for_140000_queues']:.2f} s"]


BENCH = Bench("how fast the control plane sets queues up", 0, plan, _prepare, run, _lines)  # type: ignore[arg-type]
