# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""A stand-in for Vivado: Tcl that says each command of a script as it is called, and makes the files that others wait for.

What Vivado itself makes of the scripts is not known here.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from penstock.paths import tool_environment

SAYS = r"""#!/usr/bin/env tclsh
proc unknown args { puts [join $args " "]; return 0 }
proc write_edif name { close [open $name w] }
proc write_verilog name { close [open $name w] }
proc current_project {} { return [file rootname [lindex [glob *.xpr] 0]] }
proc create_project {name args} { puts "create_project $name"; close [open $name.xpr w] }
proc get_property {what of args} { return [dict get {SLACK 0.500 PROGRESS 0% NEEDS_REFRESH 0} $what] }
foreach script [lrange $argv [lsearch $argv -source]+1 end] {
  if {[file extension $script] eq ".tcl"} { puts "source $script"; source $script }
}
"""


def vivado(folder: Path) -> Path:
    """Put a program `vivado` into a folder of its own, and return that; skips the test where there is no Tcl."""
    if not shutil.which("tclsh"):
        pytest.skip("there is no tclsh")
    place = folder / "stand_in"
    place.mkdir()
    (place / "vivado").write_text(SAYS)
    (place / "vivado").chmod(0o755)
    return place


def run(folder: Path, place: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command in `folder` with the stand-in at `place`, and with these variables of the environment alone that say a clock."""
    environment = {key: value for key, value in tool_environment().items() if not key.endswith("CLOCK_MHZ")} | variables
    environment["PATH"] = f"{place}{os.pathsep}{environment['PATH']}"
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
