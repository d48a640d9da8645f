"""The library of a bench on verilated hardware: its functions, and whether its structs are those that Python has."""

import ctypes
from pathlib import Path


def load(path: Path, name: str, job: type[ctypes.Structure], result: type[ctypes.Structure], module: str) -> ctypes.CDLL:
    """Return the library, which has `pst_<name>_job_bytes` and `pst_<name>_result_bytes`; `module` is where `job` and `result` stand.

    Raises RuntimeError when one of them has another size there.
    """
    found = ctypes.CDLL(str(path))
    for kind, struct in (("job", job), ("result", result)):
        function = getattr(found, f"pst_{name}_{kind}_bytes")
        function.restype = ctypes.c_uint32
        if function() != ctypes.sizeof(struct):
            here = f"{module}.{kind.capitalize()} has {ctypes.sizeof(struct)}"
            raise RuntimeError(f"{path}: pst_{name}_{kind} has {function()} bytes, {here}")
    return found
