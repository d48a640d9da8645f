# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What a package has for software beside its register map: rates and bursts encoded, in Python and in C."""

import re

from penstock import __version__
from penstock.designs.access_edge import rates
from penstock.paths import DESIGNS

NUMBERS = ("MANTISSA_BITS", "MIN_MANTISSA", "MAX_EXPONENT", "MAX_BURST_CYCLES", "MIN_RATE_BPS", "MAX_RATE_BPS")


def files() -> dict[str, str]:
    """Return the files by their names."""
    return {"access_edge_rates.py": _python(), "access_edge_rates.h": _C.format(version=__version__, **_numbers())}


def _numbers() -> dict[str, int]:
    return {name: getattr(rates, name) for name in NUMBERS}


def _python() -> str:
    """Return the module that the workbench itself uses, with numbers in place of the contract."""
    text = (DESIGNS / "access_edge" / "rates.py").read_text()
    numbers = "".join(f"{name} = {value:_}\n" for name, value in _numbers().items())
    found, count = re.subn(
        r"# begin: of the contract\n.*?# end\n", f"# Written by Penstock {__version__}.\n{numbers}", text, flags=re.DOTALL
    )
    assert count == 1
    return found


_C = """/* SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
 * Rates and bursts as the hardware takes them. C99 and C++11, integers of 64 bits only, no library but the compiler's own division.
 * A clock has at most ACCESS_EDGE_RATE_MAX_CLOCK_HZ.
 * Written by Penstock {version}; do not edit. access_edge_rates.py is the same in Python.
 *
 *   uint32_t word, cycles;
 *   if (access_edge_rate_encode(50000000u, 220000000u, &word)) access_edge_write(base, ACCESS_EDGE_QUEUE_RATE, word);
 *   if (access_edge_burst_cycles(3000u, 50000000u, 220000000u, &cycles)) access_edge_write(base, ACCESS_EDGE_QUEUE_BURST, cycles);
 */
#ifndef PENSTOCK_ACCESS_EDGE_RATES_H
#define PENSTOCK_ACCESS_EDGE_RATES_H

#include <stdint.h>

#define ACCESS_EDGE_RATE_CLOSED 0u
#define ACCESS_EDGE_RATE_UNSHAPED 1u
#define ACCESS_EDGE_RATE_MIN_BPS UINT64_C({MIN_RATE_BPS})
#define ACCESS_EDGE_RATE_MAX_BPS UINT64_C({MAX_RATE_BPS})
#define ACCESS_EDGE_RATE_MAX_CLOCK_HZ 536870912u
#define ACCESS_EDGE_BURST_MAX_CYCLES {MAX_BURST_CYCLES}u

/* The word of a rate register (mantissa below, exponent at bit {MANTISSA_BITS}) for bit/s of frame bytes, 0: a closed gate. It stands for a
 * rate that differs by at most 2^-16. Returns 1; 0, and leaves *word alone: there is no such rate, or none is near at this clock. */
static inline int access_edge_rate_encode(uint64_t bps, uint32_t clock_hz, uint32_t *word) {{
    uint64_t above, below, mantissa, rest;
    uint32_t exponent = 0;
    if (bps == 0) {{
        *word = ACCESS_EDGE_RATE_CLOSED;
        return 1;
    }}
    if (bps < ACCESS_EDGE_RATE_MIN_BPS || bps > ACCESS_EDGE_RATE_MAX_BPS) return 0;
    if (clock_hz == 0 || clock_hz > ACCESS_EDGE_RATE_MAX_CLOCK_HZ) return 0;
    /* period = above / below in 2^-16 cycles per byte = mantissa * 2^(exponent - 15) */
    above = (uint64_t)clock_hz << 19;
    for (rest = above / bps; rest > 1; rest >>= 1) exponent++;
    above <<= {MANTISSA_BITS} - 1;
    below = bps << exponent;
    mantissa = above / below;
    rest = above % below;
    /* The larger neighbour is taken when it is nearer in rate: rest * (2 * mantissa + 1) > mantissa * below. */
    if (mantissa != 0 && rest != 0 && (2 * rest >= below || (rest - 1) / mantissa >= below - 2 * rest)) mantissa++;
    if (mantissa == UINT64_C(1) << {MANTISSA_BITS}) {{
        mantissa = {MIN_MANTISSA}u;
        exponent++;
    }}
    if (mantissa < {MIN_MANTISSA}u || mantissa >> {MANTISSA_BITS} || exponent > {MAX_EXPONENT}u) return 0;
    *word = (uint32_t)mantissa | exponent << {MANTISSA_BITS};
    return 1;
}}

/* The rate in bit/s, rounded down, that a word stands for; UINT64_MAX: unshaped, 0: a closed gate, or a clock above the limit. */
static inline uint64_t access_edge_rate_decode(uint32_t word, uint32_t clock_hz) {{
    const uint64_t mantissa = word & ((1u << {MANTISSA_BITS}) - 1u);
    if (mantissa == 0 || clock_hz > ACCESS_EDGE_RATE_MAX_CLOCK_HZ) return 0;
    if (word == ACCESS_EDGE_RATE_UNSHAPED) return UINT64_MAX;
    return ((uint64_t)clock_hz << 34 >> (word >> {MANTISSA_BITS} & {MAX_EXPONENT}u)) / mantissa;
}}

/* A burst in cycles: the time that its bytes take at the rate. Returns 1; 0, and leaves *cycles alone: it is too long. */
static inline int access_edge_burst_cycles(uint32_t bytes, uint64_t bps, uint32_t clock_hz, uint32_t *cycles) {{
    uint64_t time, whole;
    if (clock_hz > ACCESS_EDGE_RATE_MAX_CLOCK_HZ) return 0;
    if (bps == 0 || bytes == 0) {{
        *cycles = 0;
        return 1;
    }}
    time = (uint64_t)bytes * clock_hz << 3;
    whole = time / bps + (time % bps >= bps - bps / 2);
    if (whole > ACCESS_EDGE_BURST_MAX_CYCLES) return 0;
    *cycles = (uint32_t)whole;
    return 1;
}}

#endif
"""
