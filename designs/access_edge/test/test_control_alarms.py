# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Rules of alarms: Prometheus' own promtool sees each one quiet, fire and clear (alarms_test.yaml), and sees a rule that never does."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from penstock.paths import DESIGNS
from penstock.testing import debian

ALARMS = DESIGNS / "access_edge" / "control" / "alarms.yaml"
CASES = DESIGNS / "access_edge" / "test" / "alarms_test.yaml"
RULES: list[dict[str, Any]] = yaml.safe_load(ALARMS.read_text())["groups"][0]["rules"]


@pytest.fixture(scope="module")
def promtool() -> Path:
    found = debian.unpacked("promtool", "prometheus")
    if found is None:
        pytest.skip("promtool, which evaluates the rules, is not on the PATH, and apt-get cannot get Debian's package prometheus")
    return found


def judged(promtool: Path, folder: Path, rules: list[dict[str, Any]]) -> subprocess.CompletedProcess[str]:
    """Return what promtool says of rules by the cases."""
    (folder / "alarms.yaml").write_text(yaml.safe_dump({"groups": [{"name": "penstock", "rules": rules}]}))
    cases = yaml.safe_load(CASES.read_text())
    (folder / "cases.yaml").write_text(yaml.safe_dump(cases | {"rule_files": ["alarms.yaml"]}))
    return subprocess.run([promtool, "test", "rules", str(folder / "cases.yaml")], capture_output=True, text=True, check=False)


def test_each_rule_fires_and_clears(promtool: Path) -> None:
    subprocess.run([promtool, "check", "rules", str(ALARMS)], check=True, capture_output=True)
    done = subprocess.run([promtool, "test", "rules", str(CASES)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_rule_has_its_cases() -> None:
    """Quiet first, then an alarm, then quiet again: by time, of each case."""
    named = set()
    for case in yaml.safe_load(CASES.read_text())["tests"]:
        name = case["name"].split(",")[0]
        checks = case["alert_rule_test"]
        assert {check["alertname"] for check in checks} == {name}
        times = [int(check["eval_time"].removesuffix("m")) for check in checks]
        fires = [len(check["exp_alerts"]) for check in checks]
        assert times == sorted(times) and fires[-2:] == [1, 0] and fires[:-2] in ([0], []), name
        named.add(name)
    assert named == {rule["alert"] for rule in RULES}


@pytest.mark.parametrize("name", [rule["alert"] for rule in RULES])
def test_what_is_wrong_with_a_rule_is_seen(promtool: Path, tmp_path: Path, name: str) -> None:
    """One that never fires, and one that always does."""
    for expression in ("vector(1) > 2", "vector(1)"):
        rules = [rule | {"expr": expression} if rule["alert"] == name else rule for rule in RULES]
        done = judged(promtool, tmp_path, rules)
        assert done.returncode == 1 and f"alertname: {name}" in done.stdout + done.stderr
