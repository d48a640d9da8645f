"""Makes a simulation's pins quick: most of a cycle's time goes to cocotb's values of four states, which Verilator has not.

The simulator imports this before the test file. `handle.value` is then a number, and writing the value that an input already has is left
out: nothing but the test drives the inputs of the module under test.
"""

from typing import Any

from cocotb.handle import HierarchyObject, LogicArrayObject, LogicObject, PackedObject, ValueObjectBase

_KINDS = (LogicObject, LogicArrayObject, PackedObject)


class Bits(int):
    """What a signal without X and Z says: a number, and how many bits it has."""

    width: int

    def __len__(self) -> int:
        return self.width

    def to_unsigned(self) -> int:
        """Return the number alone."""
        return int(self)


_general: Any = ValueObjectBase.value  # cocotb's way to read and write
_bits: dict[str, Bits] = {}


def _bits_of(text: str) -> Bits:
    found = Bits(text, 2)
    found.width = len(text)
    return found


def _read(signal: Any) -> Any:
    text = signal._handle.get_signal_val_binstr()
    if (known := _bits.get(text)) is not None:
        return known
    try:
        found = _bits_of(text)
    except ValueError:  # X or Z
        return signal.get()
    if len(text) <= 8:
        _bits[text] = found
    return found


def _write(signal: Any, value: Any) -> None:
    state = signal.__dict__
    known = isinstance(value, int)
    if known and state.get("_driven") == value:
        return
    _general.fset(signal, value)
    if "_is_input" not in state:
        state["_is_input"] = signal._name.endswith(("_i", "_ni")) and "clk" not in signal._name and signal._path.count(".") == 1
    state["_driven"] = value if known and state["_is_input"] else None


def _make_quick(kind: type) -> None:
    kind.value = property(_read, _write)  # type: ignore[attr-defined]
    if hasattr(kind, "__getitem__"):
        element_of = kind.__getitem__

        def element(signal: Any, index: int) -> Any:
            signal.__dict__.update(_is_input=False, _driven=None)  # it may be written in parts, too
            return element_of(signal, index)

        kind.__getitem__ = element


def make_quick() -> None:
    """Use all that for the signals of this simulation."""
    for kind in _KINDS:
        _make_quick(kind)
    child_of = HierarchyObject.__getattr__

    def child(parent: HierarchyObject, name: str) -> Any:
        found = child_of(parent, name)
        if not name.startswith("_"):
            parent.__dict__[name] = found  # the next time it is found without a search
        return found

    HierarchyObject.__getattr__ = child  # type: ignore[method-assign]
