"""What the paper states in words and tables (its plots carry no numbers), section by section."""

# Section IV.A, figure 4: 99.9 Gbit/s on the line, 1,474 byte.
LINE_GBPS, FRAME_BYTES = 99.9, 1474
OVERHEAD_BYTES = 24  # preamble, FCS and gap: what 99.9 Gbit/s of a line hold besides the frames
JITTER_NS = {2048: 1200}  # measured, "around"
SCAN_CYCLES = {2048: 64, 262_144: 8192}  # in one clock cycle 32 queues are scanned
CYCLE_NS = 4.5  # as the paper rounds 1 / 220 MHz
ONE_DDR4_GBPS = 70.0  # "around", the same packets with one memory

# Section IV.A, figure 5: 100 Mbit/s.
LESS_JITTER_NS = 600  # of 500-byte packets in SRAM than in DDR4

# Section IV.B, figure 6: one queue at 100 Mbit/s, 1,000 byte, offered at least 200 Mbit/s.
RATE_MBPS, PACKET_BYTES = 100, 1000

# Table I: (configuration in the paper's words, LUT, FF, BRAM, URAM).
RESOURCES = (
    ("2048 queues, 16384 buckets, 1x DDR4, no-scheduler", 36_463, 51_104, 130, 6),
    ("2048 queues, 16384 buckets, 1x DDR4, simple-scheduler", 36_775, 54_445, 139, 8),
    ("2048 queues, 16384 buckets, 1x DDR4, simple-scheduler, AQM", 37_178, 54_596, 130, 9),
    ("2048 queues, 16384 buckets, 2x DDR4, 1x SRAM, simple-scheduler, AQM", 65_373, 88_797, 157, 73),
    ("262144 queues, 131072 buckets, 2x DDR4, 1x SRAM, simple-scheduler, AQM", 66_576, 89_108, 173, 416),
)

# Table III, and section IV.F: control plane, microseconds a 32-bit write, and 10,000 customers' sessions over local gRPC.
MAPPED_WRITE_US, LOCAL_CALL_US, REMOTE_CALL_US = 1.25, 270.4, 14_822
CUSTOMERS_SECONDS = 2.7

U200_URAM = 960  # what the card has, of which the paper's table gives shares


def scan_ns(queues: int) -> float:
    """Return how long the paper's scheduler takes to look at all queues, as the paper calculates it."""
    return SCAN_CYCLES[queues] * CYCLE_NS
