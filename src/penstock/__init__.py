"""Penstock: open packet-queueing hardware and the workbench that runs it.

For notebooks and tests of one's own: `penstock.open` (docs/how-to/python.md).
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"
__all__ = ["Device", "Fault", "UserError", "__version__", "open"]

if TYPE_CHECKING:
    from penstock.errors import UserError
    from penstock.library.device import Device, Fault
    from penstock.library.open import open


def __getattr__(name: str) -> Any:
    """Load what is asked for: the command line starts without it."""
    if name == "UserError":
        from penstock.errors import UserError

        return UserError
    if name == "open":
        from penstock.library import open as opening

        return opening.open
    if name in __all__:
        from penstock.library import device

        return getattr(device, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
