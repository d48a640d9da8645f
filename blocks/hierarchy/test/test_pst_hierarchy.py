# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_hierarchy: every departure judged in a C++ loop: rates, fair shares, priority, gates, moves, conservation."""

from pathlib import Path

import pytest

from penstock.testkit import run_soak, seed

BENCH = Path(__file__).parent / "soak_hierarchy.cpp"
SMALL = {"Queues": 64, "QueuesPerSubscriber": 4, "Nodes": 2, "Ports": 2, "Classes": 4, "PayloadWidth": 8}
EIGHT = {"Queues": 256, "QueuesPerSubscriber": 8, "Nodes": 4, "Ports": 2, "Classes": 8, "PayloadWidth": 8}
NO_LIMIT = 10**9


def soak(parameters: dict[str, int], **arguments: int) -> dict[str, int]:
    return run_soak(
        BENCH,
        "hierarchy",
        "pst_hierarchy",
        parameters,
        {
            "queues": parameters["Queues"],
            "per_subscriber": parameters["QueuesPerSubscriber"],
            "nodes": parameters["Nodes"],
            "ports": parameters["Ports"],
            "classes": parameters["Classes"],
            "payloads": 2 ** parameters["PayloadWidth"],
            "tolerance": parameters.get("ToleranceCycles", 1024),
            "width": parameters.get("TimeWidth", 32),
            "seed": seed(),
            "cycles": 1_000_000,
            "level": 1,
            "kbps": 2_000_000,
            "burst": 0,
            "backlog": 1,
            "loop": 16,
            **arguments,
        },
    )
