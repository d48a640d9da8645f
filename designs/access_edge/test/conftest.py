# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Where the helpers of these tests are."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # for mixes and fair_judge: pytest's importlib mode does not do it
