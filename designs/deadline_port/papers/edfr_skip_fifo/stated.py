"""What the paper states: of EDFR in words (section II gives no numbers but the skip tick), of its hardware in numbers (section III)."""

TICK_PS = 200_000_000_000 // 2**14  # 200 ms / 2^14, rounded down to a picosecond
DEPTH = 2**14  # time stamps of a class

TOTAL = (
    "Even though incoming packets' deadlines are distributed, the complete drop rates depend only on their mean; they are approximated by "
    "those of a limited FIFO whose buffer is the mean deadline."
)
EQUAL = "The drop rates of even different deadlines are equal or fair."
DELAY = "EDFR drops a packet when it misses its deadline, so that buffer delays stay within what was asked for."
SPECIAL = "A limited FIFO is a special case of EDFR, in which all packets have the same deadline."
INACCURACY = (
    "The inaccuracy that the time stamps cause is expected to be insignificant; even if it is not, the priority encoder can offset it by "
    "discarding what has expired, at the price of the bandwidth for reading it."
)

# Section III, figure 2 and its text.
CLOCK_MHZ = 250
CLASSES = 3
CHANNEL_GBPS = {"sram": 115.0, "ddr4_2400": 60.0, "hbm2": 39.0}  # best of one channel, metadata counted, each way
HBM_CHANNELS, HBM_SHARE = 16, 76.0  # percent of the theoretical bandwidth, reads and writes together
HBM_WHOLE, HBM_GBPS = 32, 1250.0  # pseudo channels of 12.8 GB/s in 410 GB/s; each way
DDR4_CHANNELS, DDR4_GBPS = 4, 220.0
SMALL_SHARE = 100 / 3  # a packet of 64 byte takes three bus cycles

FIGURE_2_WORDS = [
    (
        "The paper",
        "The shorter the burst and the packet, the less a skip-FIFO carries. 115 Gbit/s with BRAM, 60 with a channel of DDR4, 39 with a "
        "pseudo channel of HBM; 1.25 Tbit/s with FIFOs side by side on the whole HBM, 76 % of 410 GB/s, reads and writes together; 220 "
        "Gbit/s on four channels of DDR4. A 64-byte packet takes three cycles of the 512-bit bus: 128 bit of metadata and control lines "
        "go with each beat.",
    ),
    (
        "Why ours differ",
        "Packets are packed at 8 byte behind an 8-byte header each, so one of 64 byte costs 1.14 beats, not three, and small packets keep "
        "the bandwidth. Bursts are chunks of one class, written when they are full, so the burst length is all that the DRAM sees of a "
        "packet's size. With memory on the chip the port's own beat per cycle is the limit: 128 Gbit/s at 250 MHz. The whole HBM is one "
        "logical port of eight columns here, with FIFO order in each class over all channels; sixteen FIFOs need no order among them.",
    ),
    (
        "What is assumed",
        "The clock, and the memory controller (engine/memories.yaml). The paper counts 16 pseudo channels in 410 GB/s; of 12.8 GB/s each, "
        "of which its 39 Gbit/s each way are 76 %, the device has 32: its 1.25 Tbit/s are 32 x 39. Ours are of 12.8 GB/s.",
    ),
]

RESOURCES_NOTE = (
    "The paper: about 1,700 LUTs and 10 block RAMs, three classes in front of one memory. Ours, by module: Yosys for UltraScale+ (xcup), "
    "`./penstock synth MODULE`, 64 classes and chunks of 4,096 byte unless said. The port is all but memory controller, registers and "
    "counters: it parses DSCPs, keeps 32 kbyte of frames whose end is not in, and 72 kbyte of chunks on the chip (two of each class that "
    "are filled, four that are read), which are most of its block RAMs."
)
RESOURCES = [
    ["the paper's skip-FIFO scheduler", "1,700", "10", "0"],
    ["pst_edfr, the port with 3 classes", "12,439", "43.5", "0"],
    ["pst_edfr_wide, 4,096 bit, 8 columns with 3 classes (sum of its parts)", "150,895", "363", "136"],
    ["pst_deadline_tail", "5,552", "18", "16"],
    ["pst_deadline_mover", "2,228", "0", "0"],
    ["pst_deadline_stamps", "722", "0", "3"],
    ["pst_chunk_lists, 4,096 chunks", "475", "2", "0"],
    ["pst_deadline_head", "12,605", "33", "30"],
    ["pst_deadline_encoder, 64 classes", "8,155", "0", "0"],
    ["pst_deadline_encoder, 3 classes", "344", "0", "0"],
]
