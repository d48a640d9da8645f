"""What the paper states, what its public program's example outputs show, and what that program does on bmv2."""

from typing import Any

PACKETS = 2000  # section IV: dequeued in a second, of FRAME bytes
FRAME = 1514
ROUND_TRIP_US = 4000
FLOWS = 4
TARGET_MS, INTERVAL_MS = 5.0, 100.0  # listing 1

CLAIMS = {  # section IV, in our words
    "falls": "keeps falling below TARGET",
    "burst": "first burst caught",
    "rate": "the link's rate",
}

# The example outputs for 2,000 packets/s beside the public program (exampleOutputs/2000pps: pcapTrace.pdf and pcapQueueDelay.pdf, the
# curves of figures 5 and 6), read from their vector graphics: 10.3 s, delay in ms. Its script starts iperf3 with one flow (`-P 1`).
EXAMPLE: dict[str, float] = {
    "mean_ms": 5.65,
    "p50_ms": 5.59,
    "p95_ms": 7.63,
    "p99_ms": 8.11,
    "longest_ms": 8.95,
    "below_target_percent": 37.7,
    "burst_ms": 13.98,
    "burst_over_s": 0.37,
    "longest_above_s": 0.22,
}

# What the issue behind this page measured: the public program, unchanged, on bmv2 with the senders of a Linux kernel, a round trip of
# 4.8 ms; beside it an exact RFC 8289 bottleneck with the same senders. (mean ms, p95 ms, packets/s); None: not measured.
ROUND_TRIP_BMV2_US = 4800
Figures = tuple[float | None, float | None, float | None]
BMV2: dict[str, tuple[str, Figures]] = {
    "1 TCP": ("5.7 / 7.8 ms, 1,995", (5.7, 7.8, 1995)),
    "4 TCP": ("9.0 to 9.3 / 13 ms, 1,967", (9.15, 13.0, 1967)),
    "16 TCP": ("14.2 / 20.6 ms, 1,821", (14.2, 20.6, 1821)),
    "4 BBR": ("22.4 / 29.9 ms, 1,787", (22.4, 29.9, 1787)),
    "UDP 1.1": ("grows to 2,100 ms, 1,498", (None, None, 1498)),
    "wrap": ("9 ms, then 3,400 ms, no recovery", (3400.0, None, None)),
    "100/s": ("82.5 packets/s", (None, None, 82.5)),
    "tail drop": ("2,221 / 3,545 ms, 2,000", (None, None, 2000)),
}
RFC: dict[str, str] = {
    "1 TCP": "5.7 to 5.9 ms, 1,993 to 2,000",
    "4 TCP": "9.1 ms, 1,998",
    "16 TCP": "15.7 ms, 2,000",
    "4 BBR": "19.4 ms, 2,000",
    "UDP 1.1": "43 to 174 ms, 1,998",
    "wrap": "unchanged",
    "100/s": "100 packets/s",
    "tail drop": "",
}

Found = dict[str, Any]
