"""What must be assumed to get the paper's numbers, in words; docs/papers.md says the same at more length."""

from penstock.designs.frame_switch.papers.fpga_network_switch.simulations import DROP_SLOTS, LATENCY_SLOTS

_SLOT = """A slot: packets arrive, then every output may send one. A packet that leaves in its slot of arrival has latency 0. There is no
warm-up and no draining: a run begins empty, and packets that still wait at its end are in no latency. At full load queues grow for as
long as the run lasts (for this switch about as the square root of its length), so the length decides."""
_SCHEDULERS = """Pointers start at port 0. RRM moves them in every iteration; iSLIP and DRRM in the first one only, for accepted or granted
pairs. EDRRM keeps a pair while its queue has packets and moves on when it is empty or was refused, in further iterations too (its paper
has one iteration). Without -1 there are log2(P) = 4 iterations."""
_BURSTS = """Bursty traffic: in each slot a chain draws anew with probability 1/s: New with probability r, else Off. The text of the paper
leaves the probabilities to a drawing; every chain with geometric bursts of mean s is the same at rate 1, where the stated numbers are."""
_LENGTH = f"""{LATENCY_SLOTS:,} slots give the paper's latencies; the paper does not state its run length. Half or double that length moves
them by 30 % and more."""
_DEPTH = f"""{DROP_SLOTS:,} slots give the paper's FIFO depths without drops; at {LATENCY_SLOTS:,} slots they are about 25 and 102. The
depth differs much between runs. The share at depth 1 does not depend on the length."""
_ARBITER = """The paper's switch at finite depth: a packet for a full FIFO is dropped and the write offset moves on all the same; the
output looks at one FIFO a slot, and when that one is empty while others are not it sends nothing and moves on by one."""
_AREA = """LUTs and flip-flops are Yosys' for UltraScale+ (synth_xilinx -family xcup), the paper's are Vivado's. FIFOs hold one cell, in
registers; rotating arbiters. Cells of 4 and 8 bits are synthesised and extended to 256, for every bit costs the same. Flip-flops are those
of the whole synthesis exactly; so are LUTs at P = 8, S = 1 (69,438, not 69,364), but at P = 4, S = 4 they are 11 % too many."""
_SPEED = """Clocks are nextpnr's for an ECP5 (LFE5U-85F, speed grade 8, out of context) with narrow cells, an older and slower device than
the paper's: compare how they fall with P and S, not their height. Latency is (pipeline cycles + 1) / clock, throughput width x clock."""
_ASSUMED = """There is no open place and route for UltraScale+: bit/s of blocks/fabric assume the clocks that the paper reports for 16 x 16
and 512 bit (110 MHz at S = 1, 102 MHz at S = 4). What is measured is one cell per cycle and port."""
_TABLE = """The formula of sections 4.1 and 4.2, and the hardware's own cycles from a cell's input to its FIFO, for the sizes that are
simulated."""

CONVENTIONS = {
    name: [" ".join(text.split()) for text in texts]
    for name, texts in {
        "figure 7": [_SLOT, _LENGTH, _SCHEDULERS, _BURSTS],
        "figure 9": [_SLOT, _DEPTH, _ARBITER, _SCHEDULERS, _BURSTS],
        "figure 10": [_AREA],
        "figure 11": [_SPEED],
        "figure 12": [_ASSUMED],
        "table 1": [_TABLE],
    }.items()
}
