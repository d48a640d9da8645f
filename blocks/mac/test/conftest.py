# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Makes what the tests of this folder share importable."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
