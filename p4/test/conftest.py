"""Lets pytest find the helper files beside the tests, and RFC 8289 and the traces of the block `aqm`."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
AQM = HERE.parents[1] / "blocks" / "aqm"
sys.path[:0] = [str(HERE), str(AQM / "codel" / "test"), str(AQM / "pie" / "test"), str(AQM / "test")]
