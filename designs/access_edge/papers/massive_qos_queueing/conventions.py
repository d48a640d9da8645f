"""What must be assumed to make the paper's experiments again, in words; docs/papers.md says the same at more length."""

from penstock.designs.access_edge.papers.massive_qos_queueing.experiments import SCENARIOS

_DEVICE = f"""The access edge at 220 MHz, the paper's clock, on the model engine, which is equal to the SystemVerilog in every cycle. Each
experiment is a file in {SCENARIOS}; its runs last 10 s, as the paper's, unless said."""
_LATENCY = """Latency is RFC 1242's for a store-and-forward device: from the last bit of a packet at the input to its first bit at the
output. The paper's is that of its measuring equipment, less what that adds; whether the packet's own time on the line is in it, the paper
does not say."""
_RATE = """99.9 Gbit/s are taken for the line's, with preamble, FCS and gap (24 byte), and 1,474 byte for a frame without FCS: 98.3 Gbit/s
of frames, 8.34 million a second. If the paper's 1,474 byte have the FCS in them, it is 0.3 % more packets. Without --full the runs last
100 ms. What the device does not take waits in a FIFO of 16 kB at the input; what finds it full is lost."""
_RANDOM = """Packets go to queues at random, and in figure 5 come at random distances (Poisson); the paper says nothing of either."""
_QUEUE = """In figure 6 the queue holds 64 packets and its burst is 0; the paper's limits are not known."""
_LIVE = f"""Figure 7 is {SCENARIOS}/figure_7.yaml in real time: three connections of this machine's kernel (CUBIC, by iperf3). The paper
names neither rate nor round trip; here 24 Mbit/s and 20 ms. The hardware is the RTL itself, at 0.4 MHz (live_codel_16), a clock at which
it keeps real time; what this machine adds to delays is measured and said. The P4 program is p4/router.p4 in the P4 device
(figure_7_p4.yaml). CoDel of the Linux kernel (sch_codel), the paper's reference, is on the interface of a router in the device's place
where this machine's kernel has it, or user-mode-linux is there; what packets wait there is what the kernel says of them.
ns-3's CoDel has ns-3's senders, and is there where PENSTOCK_NS3 names its folder."""
_AREA = """Resources are Yosys' for UltraScale+ (synth_xilinx -family xcup) of the whole device, the paper's those of Vivado after
synthesis. Descriptors are the paper's buckets."""

_CONTROL = """Table 3 is `bench control`: a server in a process of its own, the model engine with 10 Gbit/s through it, the intent durable
in SQLite. The paper's columns are single register accesses through PCIe; no card is here. Calls for one register are made of the simulated
device in the server's process, and of a mapped file, which is what the server would see of a card."""

CONVENTIONS = {
    name: [" ".join(text.split()) for text in texts]
    for name, texts in {
        "figure 4": [_DEVICE, _LATENCY, _RATE, _RANDOM],
        "figure 5": [_DEVICE, _LATENCY, _RANDOM],
        "figure 6": [_DEVICE, _QUEUE],
        "figure 7": [_LIVE],
        "table 1": [_AREA],
        "table 3": [_CONTROL],
    }.items()
}
