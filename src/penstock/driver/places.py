"""Where a control plane and a device are found on this machine, unless the user says otherwise."""

import os
from pathlib import Path

from penstock.errors import UserError


def folder() -> Path:
    """Return the folder of this user's sockets, which no other user may enter. Raises UserError for one that is not so."""
    found = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/tmp/penstock-{os.getuid()}")
    if "XDG_RUNTIME_DIR" in os.environ:
        found = found / "penstock"
    try:
        found.mkdir(mode=0o700, parents=True, exist_ok=True)
        there = found.stat()
    except OSError as error:
        raise UserError(f"{found}: {(error.strerror or str(error)).lower()}") from None
    if there.st_uid != os.getuid() or there.st_mode & 0o077:
        raise UserError(f"{found}: must be this user's alone (mode 700), as its sockets set the device")
    return found


def control() -> str:
    """Return the address of the control plane."""
    return f"unix:{folder() / 'control.sock'}"
