"""C++ headers from the contract: what block models share, and what the engine knows of a device."""

import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from penstock.contract.rtl import header
from penstock.contract.source import SHARED, Device, Shared, camel
from penstock.paths import ROOT, tool_environment


def drop(common: Shared) -> str:
    """Return the twin of `pst_pkg::drop_e`."""
    entries = "".join(f"    {reason.camel} = {reason.number},\n" for reason in common.reasons)
    return _laid_out(f"""{header(SHARED)}// What became of a frame: the C++ twin of pst_pkg::drop_e, the same numbers.
#pragma once

#include <cstdint>

namespace penstock {{

enum class Drop : std::uint8_t {{
    None = 0,
{entries}}};
inline constexpr unsigned kDropKinds = {max(reason.number for reason in common.reasons) + 1};  // None is one
inline constexpr std::uint32_t kDropMask = {sum(1 << reason.number for reason in common.reasons):#x};  // bit n: n is one of these reasons

}}  // namespace penstock
""")


def settings(common: Shared) -> str:
    """Return widths and ranges of the settings, and where they are in the words that shapers and AQM take."""
    widths = {setting.name: setting.width for setting in common.settings}
    lines = []
    for setting in common.settings:
        lines += [f"// {setting.words[0].upper()}{setting.words[1:]}."]
        least = f"kLeast{camel(setting.name)} = {setting.least}, " if setting.least else ""
        lines += [f"inline constexpr unsigned k{camel(setting.name)}Width = {setting.width};"]
        lines += [f"inline constexpr std::uint32_t {least}kMost{camel(setting.name)} = {setting.most};"]
    exponent, burst = widths["mantissa"], widths["mantissa"] + widths["exponent"]
    ticks = widths["aqm_ticks"]
    return _laid_out(f"""{header(SHARED)}// Settings as registers, RTL and models carry them: bits and ranges.
#pragma once

#include <cstdint>

namespace penstock::settings {{

{chr(10).join(lines)}

// A shaper as one word (pst_pkg::shaper_cfg_t): burst, exponent, mantissa, which begins at bit 0.
inline constexpr unsigned kExponentAt = {exponent}, kBurstAt = {burst};
// An AQM as one word (pst_pkg::aqm_cfg_t): enable, ecn, the upper and the lower half of its setting word, which begins at bit 0.
inline constexpr unsigned kAqmTargetAt = {ticks}, kAqmEcnAt = {2 * ticks}, kAqmEnableAt = {2 * ticks + 1};

}}  // namespace penstock::settings
""")


def device(found: Device, table: Mapping[str, Mapping[str, Any]], enums: Mapping[str, Mapping[str, int]]) -> str:
    """Return what the engine knows of a device: registers (as in its JSON), the values that are named, and its drop reasons."""
    addresses, fields, resets = [], [], []
    for name, entry in table.items():
        addresses.append(f"k{camel(name)} = {entry['address']:#05x}")
        for field, (low, width, reset) in entry["fields"].items():
            fields.append(f"k{camel(name)}{camel(field)}{{{low}, {width}}}")
            if reset is not None:
                resets.append(f"k{camel(name)}{camel(field)} = {reset:#x}")
    values = "".join(
        f"// {name}\n{_constants('std::uint32_t', [f'k{camel(name)}{camel(key)} = {value}' for key, value in members.items()])}\n"
        for name, members in enums.items()
    )
    reasons = {entry.reason.number: entry.reason.name for entry in found.reasons}
    numbers = range(found.highest + 1)
    names = ", ".join(f'"{reasons.get(number, "")}"' for number in numbers)
    counters = ", ".join(
        f"{{registers::kDropped{camel(reasons[n])}Packets, registers::kDropped{camel(reasons[n])}Bytes}}" if n in reasons else "{0, 0}"
        for n in numbers
    )
    return _laid_out(f"""{header(f"designs/{found.design}/")}// Registers and drop reasons of {found.title}.
#pragma once

#include <array>
#include <cstdint>

namespace penstock::{found.design} {{

// Byte addresses. Registers of 8 bytes have their lower half there.
namespace registers {{
{_constants("std::uint32_t", addresses)}
}}  // namespace registers

// Where a field is in its register.
struct Field {{
    unsigned low, width;
    constexpr std::uint64_t most() const {{ return ~std::uint64_t{{0}} >> (64 - width); }}
    // The field's value in a register, and a value at its place.
    constexpr std::uint32_t of(std::uint32_t value) const {{ return static_cast<std::uint32_t>(value >> low & most()); }}
    constexpr std::uint32_t at(std::uint32_t value) const {{ return static_cast<std::uint32_t>((value & most()) << low); }}
}};
namespace fields {{
{_constants("Field", fields)}
}}  // namespace fields

// Values of fields after reset; those that hardware gives have none.
namespace resets {{
{_constants("std::uint32_t", resets)}
}}  // namespace resets

// Values that have names.
namespace values {{
{values}}}  // namespace values

// Drop reasons by their number; 0 is a frame that goes on.
inline constexpr unsigned kDropReasons = {found.highest + 1};
inline constexpr std::array<const char*, kDropReasons> kDropNames = {{{names}}};
// The device's counters of each, 8 bytes each.
struct DropCounters {{
    std::uint32_t packets, bytes;
}};
inline constexpr std::array<DropCounters, kDropReasons> kDropCounters = {{{{{counters}}}}};

}}  // namespace penstock::{found.design}
""")


def _constants(kind: str, entries: Iterable[str]) -> str:
    return "".join(f"inline constexpr {kind} {entry};\n" for entry in entries)


def _laid_out(text: str) -> str:
    """Return C++ as lint wants it."""
    style = f"--style=file:{ROOT / '.clang-format'}"
    done = subprocess.run(["clang-format", style], input=text, capture_output=True, text=True, check=True, env=_environment())
    return done.stdout


@cache
def _environment() -> dict[str, str]:
    return tool_environment()
