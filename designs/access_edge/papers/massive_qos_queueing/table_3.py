"""Table III: how fast the control plane is, beside the paper's: `bench control`, and what it means for 10,000 customers."""

from collections.abc import Callable
from typing import Any

from penstock.designs.access_edge.bench import control
from penstock.designs.access_edge.papers.massive_qos_queueing import stated
from penstock.papers import Options
from penstock.papers.comparison import entry

PART = "table 3"
SEED = 1
SETTINGS: dict[str, str] = {}  # of the bench, where they are not its defaults


def measure(options: Options, line: Callable[[str], None]) -> dict[str, Any]:
    """Return the figures of the bench. Raises RuntimeError when the server does not do what it was asked."""
    settings = control.plan(dict(SETTINGS), SEED)
    line("building the engine")
    control.BENCH.prepare(settings, None)
    found = control.run(settings, None, lambda done, of: line(f"step {done} of {of}"))
    return {"settings": settings, **found}


def compare(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the stated numbers beside ours, in microseconds a call; and the paper's 10,000 customers."""
    calls, note = found["calls_per_second"], "ours sets a subscriber with four queues, durably"
    # The paper's own call is an access to one register.
    registers = [
        entry(PART, f"register {kind}, gRPC {where}, {device}", "us", us, 1e6 / found["register_calls"][key][where][kind], note=words)
        for where, us in (("local", stated.LOCAL_CALL_US), ("remote", stated.REMOTE_CALL_US))
        for kind in ("write", "read")
        for key, device, words in (("in_process", "device in process", "10 Gbit/s through it"), ("mapped", "mapped file", "no PCIe"))
    ]
    return [
        entry(
            PART, "write, memory mapped", "us", stated.MAPPED_WRITE_US, 1e6 / found["register_writes_per_second"], note="a file, no PCIe"
        ),
        *registers,
        entry(PART, "call of four queues, gRPC local", "us", stated.LOCAL_CALL_US, 1e6 / calls["unary"], note=note),
        entry(PART, "call of four queues, gRPC remote", "us", stated.REMOTE_CALL_US, 1e6 / calls["remote"], note=note),
        entry(PART, "10,000 customers", "s", stated.CUSTOMERS_SECONDS, found["seconds_for_10000_sessions"], note="one streaming call"),
    ]


def cards(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the page's card."""
    calls, queues = found["calls_per_second"], found["queues_per_second"]
    table = [["", "calls/s", "queues/s"]]
    table += [[name, f"{calls[name]:,.1f}", f"{queues[name]:,.0f}"] for name in calls]
    for key, device in (("in_process", "device in process"), ("mapped", "mapped file")):
        for where, one in found["register_calls"][key].items():
            table += [[f"{kind} of one register, {where}, {device}", f"{one[kind]:,.1f}", ""] for kind in ("write", "read")]
    own = found["register_calls"]["in_process"]["local"]
    note = (
        f"One register write sets what differs: {found['bus_writes_per_queue']:.2f} writes a queue. Remote: a line that delays "
        f"{found['settings']['delay_us']:,} us each way; its calls are of a subscriber each, its queues those of one stream."
    )
    words = [
        (
            "The paper",
            "A register a call: 1.25 us mapped, 270 us over local gRPC, 15 ms remotely; 2.7 s for 10,000 customers. It names batches, "
            "streams and parallel calls as what is missing.",
        ),
        (
            "Here",
            f"A local call that writes one register is {1e6 / own['write']:,.0f} us, {own['write_to_grpc']:.2f} of a bare call. One "
            f"that sets four queues and their subscriber, durable in SQLite when it is answered, {1e6 / calls['unary']:,.0f} us. One "
            f"streaming call sets {queues['stream']:,.0f} queues/s: 10,000 customers of four queues in "
            f"{found['seconds_for_10000_sessions']:.2f} s, while 10 Gbit/s run through the device; from afar "
            f"{queues['remote']:,.0f} queues/s.",
        ),
        (
            "Why",
            "A call for one register is gRPC and little else. One for a subscriber is gRPC, the store on the disk, which the paper "
            "does not have, and waiting for the device. That is the model engine in the server's process, and the mapped file is no card: "
            f"there a write takes the paper's 1.25 us, and 140,000 queues {140_000 * found['bus_writes_per_queue'] * 1.25e-6:.2f} s. "
            "Client, server and device share this machine's cores.",
        ),
    ]
    return [{"title": "Table 3: speed of the control plane", "note": note, "table": table, "words": words}]
