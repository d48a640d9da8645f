"""Where a control plane and a device are found on this machine, unless the user says otherwise."""

import os
from pathlib import Path


def folder() -> Path:
    """Return the folder of this user's sockets; nobody else may enter it."""
    found = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/tmp/penstock-{os.getuid()}")
    if "XDG_RUNTIME_DIR" in os.environ:
        found = found / "penstock"
    found.mkdir(mode=0o700, parents=True, exist_ok=True)
    return found


def control() -> str:
    """Return the address of the control plane."""
    return f"unix:{folder() / 'control.sock'}"
