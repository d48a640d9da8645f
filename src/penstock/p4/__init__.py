"""The P4 programs of the folder p4/: the control law's table, and what the compiler makes of them."""

from penstock.paths import ROOT

FOLDER = ROOT / "p4"
