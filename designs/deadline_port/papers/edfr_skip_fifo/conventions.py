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

_TCP = """Figures 4 to 7: ns-3's hosts and TCP (CUBIC, SACK, time stamps, HyStart, at least 200 ms to a timeout, windows up to 6 MB,
Linux' default) at 1 Gbit/s; segments of 1,448 byte unless said. EDFR is the deadline port (deadline_ddr4_3: three classes, the paper's
tick), by its model that is equal to the RTL in every cycle, behind an ns-3 queueing discipline; its memory answers after a fixed time,
its line is ns-3's. DSCPs give the classes. Acknowledgements meet no queue but their links'."""
_PAIRS = """Two groups of 3 x 3 connections, one way delays of the TCP evaluation suite: 0, 12 and 25 ms on the one side, 2, 37 and 75 ms on
the other, so round trips of 4 to 200 ms, 101 ms on average. A FIFO holds as much, tail drop by bytes; two take turns by packets."""
_WEB = """Web pages are those of the 3GPP2 model (C.R1002-A): lognormal objects, a Pareto number of them; a user's connection stays open,
asks for all that is embedded at once, and begins with the next page after a time like that for parsing. The paper does not say how many
users it has, nor their pauses."""
_SECOND = """Two connections with a round trip of 80 ms each. The paper does not state the round trip of figures 6 and 7; 80 ms is the
deadline that its pairs have in common. A FIFO holds 80 ms. IP packets have 9,000 byte (jumbo frames) and windows up to 24 MB, as one
connection fills link and queue: ns-3's TCP walks through the whole window at each acknowledgement, and with packets of 1,500 byte there
are some ten thousand in it."""

_LIVE = """With --live figures 4 to 7 are the scenarios in scenarios/paper/edfr_skip_fifo: CUBIC of this machine's kernel through the port
(live_deadline_4, the RTL at 0.4 MHz, a tick of 100 us) in real time, at 24 Mbit/s instead of 1 Gbit/s. Where the RTL does not keep real
time (it stands still for more than 1 % of a run; four seconds are tried first), its model plays. The FIFO is the port's own
(live_fifo_4), tail drop; its memory holds what the line carries in as many ms. A FIFO for each class are two queues of one subscriber of an
access edge (live_tree_16), which take turns. Acknowledgements go past the device. Times are by the machine's clock, and what it adds to a
round trip is said."""
_LIVE_PAIRS = """Nine pairs of hosts have the nine round trips of the TCP evaluation suite, 4 to 200 ms, 101 ms on average; each pair has a
connection (figure 5: two users) of either class, where the paper's pairs belong to one class."""
_LIVE_WEB = """A page is seven objects over two connections that stay open; sizes are the quantiles of the 3GPP2 model's distributions
(C.R1002-A), the pause between pages is 210 ms. The paper does not say how many users it has, nor their pauses."""
_LIVE_SECOND = """Figures 6 and 7 have round trips of 80 ms, which the paper does not state, and the bytes of the second connection are
fewer, as the link is slower."""

CONVENTIONS = {
    part: [" ".join(text.split()) for text in texts]
    for part, texts in {
        "figure 2": (_HARDWARE,),
        "figure 4": (_TCP, _PAIRS),
        "figure 5": (_TCP, _PAIRS, _WEB),
        "figure 6": (_TCP, _SECOND),
        "figure 7": (_TCP, _SECOND),
        "section 2": (_MODELS, _TRAFFIC, _DEADLINES, _COUNTED),
    }.items()  # fmt: skip
}

LIVE_CONVENTIONS = {
    part: [" ".join(text.split()) for text in texts]
    for part, texts in {
        "figure 4": (_LIVE, _LIVE_PAIRS),
        "figure 5": (_LIVE, _LIVE_PAIRS, _LIVE_WEB),
        "figure 6": (_LIVE, _LIVE_SECOND),
        "figure 7": (_LIVE, _LIVE_SECOND),
    }.items()  # fmt: skip
}
