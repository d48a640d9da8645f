"""What the paper states in words and tables (its plots carry no numbers), section by section."""

# Section 5.1, 16 x 16, input rate 1: worst-case latency in slots, averaged over runs: traffic -> (this switch, best scheduler).
WORST = {"uniform": (375, 1535), "bursty": (2807, 7992), "nonuniform": (310, 7212)}
# Section 5.1, the same: mean latency of the best scheduler over that of this switch.
MEAN_RATIO = {"uniform": 2.0, "bursty": 1.4, "nonuniform": 6.0}
# Section 5.1: the best scheduler for each traffic.
BEST = {"uniform": "pim", "bursty": "pim", "nonuniform": "edrrm"}
# Section 5.1, uniform traffic, input rate 1: FIFO depth without drops, and share of drops at depth 1: (this switch, best scheduler).
DEPTH = (33, 153)
DROP_SHARE = (0.052, 0.161)

# Table 1: pipeline latency in cycles for P = 2, 4, ... 256, by S.
TABLE_PORTS = (2, 4, 8, 16, 32, 64, 128, 256)
TABLE = {1: (4, 7, 10, 14, 20, 27, 35, 44), 2: (2, 4, 5, 7, 10, 14, 17, 22), 4: (1, 2, 2, 4, 5, 7, 8, 11)}

# Section 5.2, 256-bit cells, P = 32, FIFOs of one cell: flip-flops by S (Vivado 2018.3).
FLIP_FLOPS = {1: 1_720_000, 4: 579_000}
# Section 5.2, ZU19EG: clock in MHz by (width, P, S).
CLOCK_MHZ = {
    (256, 2, 1): 301, (256, 4, 1): 208, (256, 8, 1): 196, (256, 16, 1): 140,
    (512, 2, 1): 276, (512, 4, 1): 269, (512, 8, 1): 143, (512, 16, 1): 110, (512, 16, 4): 102,
}  # fmt: skip
# Section 6, 16 x 16: (switch, cell in bits, aggregate throughput in Gbit/s). For the first the abstract gives the throughput.
RIVALS = (
    ("this switch, S = 1", 512, 903.2),
    ("GCQ", 256, 222.0),
    ("SMiSLIP", 256, 118.0), ("SMiSLIP", 640, 282.0), ("SMiSLIP", 1280, 538.0),
)  # fmt: skip
