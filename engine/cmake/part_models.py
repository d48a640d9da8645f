# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Tells CMake which models the parts below a folder have: `name|header|class` of each part.yaml, a line each."""

import sys
from pathlib import Path

from ruamel.yaml import YAML

for manifest in sorted(Path(sys.argv[1]).glob("*/part.yaml")):
    model = YAML(typ="safe").load(manifest.read_text())["model"]
    print(manifest.parent.name, manifest.parent / model["header"], model["class"], sep="|")
