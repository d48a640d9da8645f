"""What must be assumed to try the paper's claims, in words; docs/papers.md says the same at more length."""

from penstock.designs.deadline_port.papers.edfr_skip_fifo.points import BURST_MS, LINK, PAUSE_MS, SHAPE, WARM_UP_S

_MODELS = """Schedulers are models, packet by packet (blocks/deadline/model), on a link of their own each, with the same packets: exact
EDFR sorts all that waits by deadline; a skip-FIFO works as the paper's figure 1, at its tick and depth, with and without the encoder's
check; the FIFO drops on arrival what would wait longer than the mean deadline of all packets. A packet may start up to and with its
deadline. Buffers have no other limit."""
_TRAFFIC = f"""Nothing answers to losses: sources are no TCP. The link has {LINK / 1e6:g} Mbit/s unless said; each class has the same
share of the packets; the load is what is offered, as a share of the link. On-off and Pareto are bursts of {BURST_MS} ms on average with
pauses of {PAUSE_MS} ms, Poisson within a burst, at four times the mean rate; their lengths are exponential, or of a Pareto distribution
of shape {SHAPE:g} (no variance). Each class has its own source, or one source's packets get classes at random (shared). Constant: equal
distances, random phases. The paper states no traffic for its claims of section II."""
_DEADLINES = """Deadlines: equal (60 ms); 30, 60 and 100 ms in turn (two classes: 30 and 100); geometric, 10 to 160 ms. Sizes: 1,000
byte, or 60, 590 and 1,514 byte at 7:4:1 (IMIX)."""
_COUNTED = f"""Packets count that arrive after {WARM_UP_S} s; arrivals go on until the last of them has met its fate. Drop shares are of
packets. Intervals are Student's, 95 %, over runs that differ in their seed; differences are taken within each run, between schedulers
or classes, and then averaged. Each interval is for itself: of a hundred points some five are outside of theirs."""

_HARDWARE = """Figure 2: the RTL in Verilator with the memory models of engine/memories.yaml (`penstock bench skipfifo`), at the paper's
250 MHz (assumed), three classes, every byte compared. Bursts are chunks; a frame is written and read once. Gbit/s are each way, and count
headers unless said; shares are of the theoretical bandwidth, reads and writes together."""

CONVENTIONS = {
    part: [" ".join(text.split()) for text in texts]
    for part, texts in {"figure 2": (_HARDWARE,), "section 2": (_MODELS, _TRAFFIC, _DEADLINES, _COUNTED)}.items()
}
