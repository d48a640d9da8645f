"""A module with many instances in a bench, all with the same parameters, that is compiled once: a hierarchical block of Verilator's.

Verilator's hierarchical blocks with parameters are flattened in the version at hand. So the module is wrapped in a block that has none, and
what stands in its place hands its pins over, and checks that it was given the parameters that the block was made for.
"""

import re
from pathlib import Path

_PARAMETER = re.compile(r"^(\s*)parameter(\s.*?)\b(\w+)(\s*=\s*)(.+?)(,?)(\s*//.*)?$")


def compiled_once(path: Path, parameters: dict[str, str]) -> str:
    """Return SystemVerilog that stands for the module in `path`: made with `parameters` (those that differ from its defaults), once."""
    text, module = path.read_text(), path.stem
    if f"module {module}\n" not in text and f"module {module} #" not in text:
        raise ValueError(f"{path} has no module {module}")
    begin = text.index(f"module {module}")
    end = text.index("\n);\n", begin) + len("\n);\n")
    header = text[begin:end]
    names: list[str] = []

    def fixed(line: str) -> str:
        found = _PARAMETER.match(line)
        if not found:
            return line
        space, kind, name, equals, default, comma, comment = found.groups()
        names.append(name)
        return f"{space}localparam{kind}{name}{equals}{parameters.get(name, default)}{comma}{comment or ''}"

    block = "\n".join(map(fixed, header.split("\n")))
    if missing := set(parameters) - set(names):
        raise ValueError(f"{path} has no parameter {', '.join(sorted(missing))}")
    own = text[:begin] + text[begin:].replace(f"module {module}", f"module {module}_own", 1)
    settings = ", ".join(f".{name}({name})" for name in names)
    block = block.replace(f"module {module}", f"module {module}_block", 1)
    block += f"  /*verilator hier_block*/\n  {module}_own #(\n      {settings}\n  ) u_own (.*);\nendmodule\n"
    checks = "".join(
        f'  if ({name} != {value}) $error("{module}: {name} is not {value}, as it is in the block that is compiled once");\n'
        for name, value in parameters.items()
    )
    return f"{own}\n{block}\n{header}{checks}  {module}_block u_block (.*);\nendmodule\n"
