# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The C header of a design's registers: offsets, fields, named values, and reads and writes of one word each.

C99 and C++11, freestanding, without a struct: compilers for processors that trap or split unaligned accesses make four byte stores of a
store to a packed struct, and three of these have no byte of a command.
"""

from typing import Any

_HEAD = """/* SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
 * Registers of {design}: offsets in bytes, fields, named values. Written by Penstock {version} from the SystemRDL; do not edit.
 *
 *   {low}_write(base, {prefix}_{command}, {prefix}_COMMAND_SNAPSHOT);
 *   while ({low}_read(base, {prefix}_STATUS) & {prefix}_STATUS_BUSY_MASK) {{ }}
 *
 * X_MASK are the bits of a field in its register, X_LSB the number of the lowest one. A register of 8 bytes is read as two words, the
 * lower one first.
 */
#ifndef PENSTOCK_{prefix}_REGISTERS_H
#define PENSTOCK_{prefix}_REGISTERS_H

#include <stdint.h>

"""

_TAIL = """
static inline void {low}_write(volatile void *base, uint32_t offset, uint32_t value) {{
    *(volatile uint32_t *)((volatile char *)base + offset) = value;
}}

static inline uint32_t {low}_read(const volatile void *base, uint32_t offset) {{
    return *(const volatile uint32_t *)((const volatile char *)base + offset);
}}

static inline uint64_t {low}_read64(const volatile void *base, uint32_t offset) {{
    const uint64_t lower = {low}_read(base, offset);
    return lower | (uint64_t){low}_read(base, offset + 4u) << 32;
}}

#endif
"""


def text(design: str, registers: dict[str, dict[str, Any]], enums: dict[str, dict[str, int]], version: str) -> str:
    """Return the header for `registers` (address, bytes, fields by name: lowest bit, width, value after reset or None) and `enums`."""
    prefix = design.upper()
    command = next(name for name in registers if name.endswith("command")).upper()
    lines = []
    for name, values in enums.items():
        lines += ["#define " + f"{prefix}_{name}_{key}".upper() + f" {value}u" for key, value in values.items()]
        lines.append("")
    for name, entry in registers.items():
        own = f"{prefix}_{name.upper()}"
        lines.append(f"#define {own} 0x{entry['address']:03x}u")
        for key, (low, width, reset) in entry["fields"].items():
            field = own if key == "value" else f"{own}_{key.upper()}"
            lines += [f"#define {field}_LSB {low}u", f"#define {field}_MASK {_literal(((1 << width) - 1) << low, entry['bytes'])}"]
            if reset is not None:
                lines.append(f"#define {field}_RESET {_literal(reset, entry['bytes'])}")
    names = {"design": design, "prefix": prefix, "low": design, "version": version, "command": command}
    return _HEAD.format(**names) + "\n".join(lines) + "\n" + _TAIL.format(**names)


def _literal(value: int, size: int) -> str:
    return f"UINT64_C(0x{value:x})" if size == 8 else f"0x{value:x}u"
