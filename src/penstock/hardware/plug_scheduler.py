"""The file that says which scheduler of the user's own is in a device, as penstock.hardware.plugs does it for AQMs."""

from collections.abc import Mapping

from penstock.basics.suggest import nearest
from penstock.errors import UserError
from penstock.hardware.plugs import Header, header
from penstock.parts.manifest import Part
from penstock.paths import BLOCKS, shown

FRAME = BLOCKS / "schedule" / "rtl" / "pst_schedule_own.sv"
NEEDED = ("m_deq_valid_o", "m_deq_queue_o")  # without them it decides nothing; what it leaves out of the others says yes
PAGE = "docs/how-to/own-scheduler.md has the ports"


def text(part: Part, parameters: Mapping[str, int]) -> str:
    """Return the text of pst_schedule_own.sv with this scheduler in it; `parameters` are those of its module that the device does not set.

    Raises UserError for a module that is no scheduler: one that is not there, that asks for nothing, or an input that nothing drives.
    """
    frame = header(FRAME, FRAME.stem)
    assert frame is not None
    path, module = next(((path, found) for path in part.rtl_files if (found := header(path, part.hardware.module))), (None, None))
    if path is None or module is None:
        raise UserError(f"{shown(part.folder / 'part.yaml')}: none of its files has a module {part.hardware.module}")
    where = f"{shown(path)}: module {part.hardware.module}"
    for name in parameters:
        if name not in module.parameters:
            raise UserError(f"{where} has no parameter {name}{nearest(name, module.parameters)}")
    for name, direction in module.ports.items():
        if direction != frame.ports.get(name, "output"):
            known = name in frame.ports
            what = f"{name}, which is an {frame.ports[name]} of a scheduler" if known else f"{name}, which nothing drives"
            raise UserError(f"{where} has an {direction} {what}{'' if known else nearest(name, frame.ports)}; {PAGE}")
    if missing := [name for name in NEEDED if name not in module.ports]:
        raise UserError(f"{where} has no output {missing[0]}, so it decides nothing; {PAGE}")
    return _text(part, frame, module, parameters)


def _text(part: Part, frame: Header, module: Header, parameters: Mapping[str, int]) -> str:
    source = FRAME.read_text()
    ports = source.split("\nmodule ", 1)[1].split("\n);\n", 1)[0]
    numbers = [f".{name}({name})" for name in frame.parameters if name in module.parameters]
    numbers += [f".{name}({value})" for name, value in parameters.items()]
    pins = [f".{name}" if name in frame.ports else f".{name}()" for name in module.ports]
    left = [name for name in frame.ports if name not in module.ports]
    yes = [f"  assign {name} = 1'b1;" for name in left if frame.ports[name] == "output"]
    ignored = [name for name in left if frame.ports[name] == "input"]
    ignored += [
        f"{name} != {chr(34) * 2}" if name == "QueueRamStyle" else f"{name} != 0"
        for name in frame.parameters
        if name not in module.parameters
    ]
    return "\n".join(
        [
            source.splitlines()[0],
            f"// The scheduler that is in: {part.shown}. {part.words}",
            "// Written by penstock.hardware.plug_scheduler; do not edit.",
            f"module {ports}",
            ");",
            "",
            f"  {part.hardware.module} #(",
            ",\n".join(f"      {number}" for number in numbers),
            "  ) u_schedule (",
            ",\n".join(f"      {pin}" for pin in pins),
            "  );",
            *["", *yes][: 1 + len(yes) if yes else 0],
            *(
                [
                    "",
                    "  logic unused;",
                    "  assign unused = ^{1'b0,\n" + ",\n".join(f"                    {name}" for name in ignored) + "};",
                ]
                if ignored
                else []
            ),
            "",
            "endmodule",
            "",
        ]
    )
