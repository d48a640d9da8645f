"""What the paper states of EDFR in words (section II and the end of section III gives no numbers but the skip tick)."""

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
