"""What must be assumed to make the paper's figures again, in words; docs/papers.md says the same at more length."""

from penstock.designs.p4_switch.papers.p4_codel.experiments import SCENARIOS
from penstock.designs.p4_switch.papers.p4_codel.runs import AFTER_S

_LINK = f"""Experiments are the scenarios in {SCENARIOS} with other senders. The link takes 2,000 packets of 1,514 byte a second, as the
paper's, paced in bits (24.224 Mbit/s, no overhead); acknowledgements of 40 byte do not pass it. The round trip without the queue is 4 ms.
The queue holds 10,000 packets, as the public program's commands say (RTL-CoDel: 4,000; CoDel never has so many)."""
_SENDERS = """TCP is CUBIC as Linux has it (docs/tcp.md; the paper: iperf3), least timeout 200 ms, with HyStart++ as Linux has HyStart.
ns-3's senders are its own, with the same numbers. The unresponsive sender sends at equal distances, 1.1 times the link's rate."""
_SYSTEMS = """P4-CoDel is p4/router.p4 in the P4 device; drops charged: what egress drops takes its turn on the link, as on the paper's
bmv2. RTL-CoDel is the access edge (demo_codel_64) on the model engine, which is equal to the RTL in every cycle. ns-3's CoDel has one
packet before its link besides its queue, which counts as delay."""
_COUNTED = f"""Delay is from a packet's last bit at the input to its first at the output; dropped packets have none. Figures count from
{AFTER_S:g} s on, the beginning's burst has lines of its own. The paper's own curves carry no numbers in its text; those beside ours are
of the example outputs in its public repository for 2,000 packets/s, read from their vector graphics."""
_WEAK = """Section 4: a round trip of 4.8 ms and queues of 10,000 packets, as in the measurements on bmv2; these are of senders of a Linux
kernel, and have an exact RFC 8289 bottleneck with the same senders beside them. One seed."""

_LIVE = f"""With --live experiments are {SCENARIOS}/live_router.yaml and live_edge.yaml: CUBIC of this machine's kernel, by iperf3, in real
time; the other direction goes past the queue. The link takes 2,000 packets of 1,514 byte a second, the delays add up to 4 ms; what this
machine adds to the round trip is in each run's own result (`let_go_late_ms`). RTL-CoDel is the RTL itself at 0.4 MHz (live_codel_16). Where
this machine's kernel has CoDel (sch_codel), or user-mode-linux is there, it is on the interface of a router in the device's place;
ns-3's has senders of its own."""

LIVE_CONVENTIONS = [" ".join(text.split()) for text in (_LIVE, _COUNTED)]
CONVENTIONS = {
    part: [" ".join(text.split()) for text in texts]
    for part, texts in {
        "figure 5": (_LINK, _SENDERS, _SYSTEMS, _COUNTED),
        "figure 6": (_LINK, _SENDERS, _SYSTEMS, _COUNTED),
        "section 4": (_LINK, _SENDERS, _SYSTEMS, _WEAK),
    }.items()
}
