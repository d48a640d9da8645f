"""Lets pytest find the helper files beside the tests, and those that all AQMs share."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "test")]
