# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`penstock live` as a user meets it: real hosts, the kernel's protocols through the device, and nothing left behind.

All traffic is in namespaces that the runs make. Times are bounded from below only, so that no load of the machine breaks a test.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from penstock.network import spaces
from penstock.paths import PACKAGE, ROOT

PROBE = Path(__file__).parent / "live_probe.py"
MARK = "PENSTOCK_TEST_LIVE"  # an environment variable by which a test knows its processes
SCENARIO = """\
name: live_test
device: {config: demo_codel_64}
duration: 60 s
drain: false
queues:
  - {id: 0, name: down, rate: 8 Mbit/s, burst: 3 kB, aqm: {}}
  - {id: 1, name: up, rate: 4 Mbit/s, burst: 3 kB}
  - {id: 2, name: icmp, rate: 8 Mbit/s, burst: 3 kB}
network:
  ends:
    - {name: internet, addresses: [10.0.0.1/24, "fd00::1/64"]}
    - {name: home, addresses: [10.0.0.2/24, "fd00::2/64"]}
traffic:
  - {live: {from: internet, to: home, delay: 10 ms}, map: [{match: {proto: icmp}, queue: icmp}], unmatched: down}
  - {live: {from: home, to: internet, delay: 5 ms}, unmatched: up}
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux" or spaces.problem() is not None, reason=f"no namespaces here: {spaces.problem()}")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the scenario."""
    (tmp_path / "s.yaml").write_text(SCENARIO)
    return tmp_path


STARTED: "list[subprocess.Popen[str]]" = []


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    """What a test has started does not outlive it, also where it fails."""
    yield
    for process in STARTED:
        if process.poll() is None:
            process.kill()
            process.wait()
    STARTED.clear()


def start(place: Path, *more: str, mark: str = "1") -> "subprocess.Popen[str]":
    """Start a live run; it has a process group of its own."""
    env = dict(os.environ) | {"PYTHONPATH": str(PACKAGE.parent), MARK: mark}
    command = [sys.executable, "-P", "-m", "penstock", "live", "s.yaml", "--engine", "model", "--json", *more]
    pipe = subprocess.PIPE
    STARTED.append(subprocess.Popen(command, cwd=place, env=env, stdout=pipe, stderr=pipe, text=True, start_new_session=True))
    return STARTED[-1]


def run(place: Path, task: str, *more: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a task of the probe at home; return the result and what it found."""
    process = start(place, *more, "--", sys.executable, str(PROBE), task, str(place / "found.json"))
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    found = json.loads((place / "found.json").read_text()) if (place / "found.json").exists() else {}
    return json.loads(out), found


def alive(mark: str) -> list[int]:
    """Return the processes that have this mark in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{MARK}={mark}\0".encode() in path.read_bytes() + b"\0":
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def gone(mark: str) -> bool:
    """Return whether all these processes are gone, soon."""
    end = time.monotonic() + 20
    while alive(mark) and time.monotonic() < end:
        time.sleep(0.05)
    return not alive(mark)


def whole(result: dict[str, Any]) -> None:
    """Assert that the device did nothing wrong, and that each frame of the hosts is accounted for."""
    assert result["findings"] == [] and result["conservation"]["ok"]
    internet, home = result["hosts"]
    down = sum(queue["in_packets"] for queue in result["live_queues"] if queue["name"] != "up")
    up = sum(queue["in_packets"] for queue in result["live_queues"] if queue["name"] == "up")
    assert internet["read"]["packets"] == down and home["read"]["packets"] == up
    for host, is_up in ((home, False), (internet, True)):
        left = sum(queue["out_packets"] for queue in result["live_queues"] if (queue["name"] == "up") == is_up)
        assert left == sum(host[key]["packets"] for key in ("written", "failed", "pending"))


def test_the_kernel_s_protocols_pass(place: Path) -> None:
    """ARP, neighbour discovery, echoes of both versions, and fragments, with bytes intact, no faster than the delays."""
    result, found = run(place, "pings")
    whole(result)
    assert all(seconds is not None and seconds >= 0.015 for seconds in found.values()), found
    by_name = {queue["name"]: queue for queue in result["live_queues"]}
    assert by_name["icmp"]["out_packets"] >= 4 + 2  # four answers, one of them in three fragments
    assert not result["interrupted"] and result["unplugged"] is None
    assert result["behind_real_time_ms"]["count"] > 10 and result["let_go_late_ms"]["count"] > 10


def test_frames_that_no_host_sends(place: Path) -> None:
    result, found = run(place, "odd")
    whole(result)
    assert found["sent"] > 250 and found["ping"] is not None
    assert result["hosts"][1]["read"]["packets"] > 250


def test_an_interface_that_goes_down(place: Path) -> None:
    """The run ends in a message and a result."""
    process = start(place, "--", sys.executable, str(PROBE), "down", str(place / "found.json"))
    out, err = process.communicate(timeout=60)
    result = json.loads(out)
    assert process.returncode == 0, err
    whole(result)
    assert result["unplugged"] == "home" and result["interrupted"]
    assert any("interface of home was gone, or down" in note for note in result["notes"])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=["ctrl-c", "term", "kill"])
def test_nothing_is_left(place: Path, number: signal.Signals) -> None:
    """Whatever ends it: no process, also none that has left its group and its parents, and no interface."""
    before = sorted(os.listdir("/sys/class/net"))
    mark = f"{os.getpid()}-{number.value}"
    process = start(place, "--", sys.executable, str(PROBE), "rest", str(place / "found.json"), mark=mark)
    end = time.monotonic() + 60
    before_last: list[int] = []
    while time.monotonic() < end:  # until twice the same are there: command, one in between, the first one there, probe, and what it leaves
        if len(last := alive(mark)) >= 5 and last == before_last:
            break
        before_last = last
        time.sleep(0.2)
    assert len(last) >= 5
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert gone(mark), alive(mark)
    assert sorted(os.listdir("/sys/class/net")) == before
    if number == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL and not (place / "results" / "live_test" / "result.json").exists()
    else:
        assert process.returncode == 130, err
        whole(json.loads(out))


_STRANGERS = """
import os, signal, subprocess, sys, time
from penstock.live import apart
command = '''
import time
from penstock.basics import children
from penstock.live import apart
children.run(["true"])  # as a build before the run
def inside():
    with children.beside(["sleep", "60"]):
        print("runs", flush=True)
        time.sleep(60)
    return 0
apart.run(inside)
'''
def outside():
    assert os.getpid() == 1  # nothing of the machine can be met from here
    strangers = [subprocess.Popen(["sleep", "60"], start_new_session=True) for _ in range(30)]
    killed = subprocess.Popen([sys.executable, "-P", "-c", command], stdout=subprocess.PIPE, text=True)
    assert killed.stdout.readline() == "runs\\n"
    killed.kill()
    killed.wait()
    time.sleep(2.5)  # its minder ends what it knows with SIGTERM, and a second later with SIGKILL
    print([stranger.pid for stranger in strangers if stranger.poll() is not None])
    return 0
sys.exit(apart.run(outside))
"""


def test_a_kill_ends_no_strangers() -> None:
    """Processes of a run have numbers of their own namespace, which outside are those of others; also when something was built before."""
    env = dict(os.environ) | {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, "-P", "-c", _STRANGERS], env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_two_at_once(place: Path) -> None:
    """They have the same addresses, and know nothing of each other."""
    both = []
    for name in ("a", "b"):
        (place / name).mkdir()
        (place / name / "s.yaml").write_text(SCENARIO)
        command = [sys.executable, str(PROBE), "pings", str(place / name / "found.json")]
        both.append(start(place / name, "--", *command))
    for process, name in zip(both, ("a", "b"), strict=True):
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        whole(json.loads(out))
        found = json.loads((place / name / "found.json").read_text())
        assert all(seconds is not None and seconds >= 0.015 for seconds in found.values())


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("nft") is None, reason="an uplink needs root, and nft (nftables)")
@pytest.mark.parametrize("what", ["end", "kill"])
def test_an_uplink_is_taken_back(place: Path, what: str) -> None:
    """A host gets out by NAT; the machine is as before then, also after the next run where one was killed."""
    env = dict(os.environ) | {"PYTHONPATH": str(PACKAGE.parent)}
    command = [sys.executable, "-P", str(Path(__file__).parent / "live_uplink.py"), str(place), what]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["status"] == 0 and "hello" in found["words"], found["words"]
    assert found["seen"] == ["198.51.100.1"]
    assert found["before"]["forward"] == "0" and found["after"] == found["before"]
    if what == "kill":
        assert found["meanwhile"]["forward"] == "1" and any("penstock_" in word for word in found["meanwhile"]["tables"])
        assert found["killed"]["interfaces"] == found["before"]["interfaces"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("network.ends.0.addresses=10.0.0.1", "must name its network, too"),
        ("network.ends.home.mac=01:00:00:00:00:01", "must be the MAC address of a host"),
        ("network.ends.home.name=internet", "has two ends with the name internet"),
        ("network.ends.home.mac=02:00:00:00:00:01", "has two ends with the mac 02:00:00:00:00:01"),
        ("network.ends.home.addresses=10.0.0.1/24", "has two ends with the address 10.0.0.1"),
        ("network.ends.home.gateway=10.9.9.9", "has the `gateway` 10.9.9.9, which is no other host of its networks"),
        ("network.past=[{from: home, to: home}]", '`network.past.0` has "home" as `from` and as `to`'),
        ("traffic.0.live.from=hoem", 'is "hoem", but the ends are internet, home'),
        ("traffic.0.live.to=internet", "is the end that the frames come from"),
        ("network.past=[{from: internet, to: home}]", 'is "internet", whose frames have a way already'),
        ("network.slack=1 us", "must be 1 ms to 10 s"),
        ("traffic.0.live.delay=11 s", "must be at most 10 s"),
        ("rounds=[{name: A b}, {name: c}, {name: a_B}]", 'has two rounds with the folder a_b: "A b" and "a_B"'),
        ("output.pcap=result.json", 'must be the name of a capture file, not "result.json"'),
        ("network.ends.home.mtu=1000", "needs an mtu of at least 1,280"),
    ],
)
def test_what_cannot_be_is_one_sentence(place: Path, capsys: pytest.CaptureFixture[str], change: str, words: str) -> None:
    from penstock.command_line.app import main

    quick = ("--engine", "model", "--set", "duration=1 s")  # if it is not refused
    assert main(["live", str(place / "s.yaml"), *quick, "--set", change]) == 2
    said = capsys.readouterr().err
    assert words in said and len(said.strip().splitlines()) == 1


def test_run_and_live_lead_to_each_other(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from penstock.command_line.app import main

    assert main(["run", str(place / "s.yaml")]) == 2
    assert "`./penstock live" in capsys.readouterr().err
    plain = SCENARIO[: SCENARIO.index("network:")] + "traffic: [{constant: {queues: 0, rate: 1 Mbit/s, size: 100}}]\n"
    (place / "plain.yaml").write_text(plain)
    assert main(["live", str(place / "plain.yaml")]) == 2
    assert "has no live traffic" in capsys.readouterr().err
    assert main(["live", str(place / "s.yaml"), "--uplink", "nosuch0"]) == 2
    assert "--uplink nosuch0: there is no such interface" in capsys.readouterr().err


def test_summary_for_people(place: Path) -> None:
    env = dict(os.environ) | {"PYTHONPATH": str(PACKAGE.parent)}
    command = [sys.executable, "-P", "-m", "penstock", "live", "s.yaml", "--engine", "model", "--", "sh", "-c", "echo said by the command"]
    done = subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "said by the command\n" in done.stdout and "\nClock    the device was at most" in done.stdout
    assert "report.html" in done.stdout.splitlines()[-1]


def test_frames_that_leave_the_device_are_captured(place: Path) -> None:
    """As of every run: all of them, also those of other traffic."""
    task = ("--set", "output.pcap=left/x.pcap", "--out", "out", "--", sys.executable, str(PROBE), "pings", str(place / "found.json"))
    out, err = (process := start(place, *task)).communicate(timeout=120)
    assert process.returncode == 0, err
    result, data = json.loads(out), (place / "out/left/x.pcap").read_bytes()
    lengths, at = [], 24
    while at < len(data):
        lengths.append(int.from_bytes(data[at + 8 : at + 12], "little"))
        at += 16 + lengths[-1]
    assert (len(lengths), sum(lengths)) == (result["packets"]["out"], result["bytes"]["out"]) and len(lengths) > 10
    assert not list((place / "out").glob("*.pcap"))


def test_a_reader_that_is_gone(place: Path) -> None:
    """As `| head` is, once it has seen enough: no word of it, and the result is in its folder."""
    process = start(place, "--", "true")
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1 and "Error" not in err and "pipe" not in err.lower()
    whole(json.loads((place / "results/live_test/result.json").read_text()))


def test_rounds_leave_standard_output_to_json(place: Path) -> None:
    """What a command says goes to standard error then."""
    (place / "s.yaml").write_text(SCENARIO + "rounds: [{name: first}, {name: second}]\n")
    process = start(place, "--", "sh", "-c", "echo said by the command")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert [one["name"] for one in json.loads(out)["rounds"]] == ["first", "second"]
    assert err.count("said by the command") == 2


def test_a_device_that_does_not_keep_up_says_so_at_once(place: Path) -> None:
    """It is given more frames than any machine can simulate in time; the run need not come to its end for the sentence."""
    flood = "  - {constant: {queues: up, rate: 90 Gbit/s, size: 64}}\n"
    (place / "s.yaml").write_text(SCENARIO.replace("demo_codel_64", "codel_2048") + flood)
    process = start(place)
    alarm = threading.Timer(
        150, process.send_signal, [signal.SIGINT]
    )  # a run that says nothing ends all the same; its device may be compiled first
    alarm.start()
    said = []
    for line in process.stderr:
        said.append(line)
        if "does not keep real time" in line:
            process.send_signal(signal.SIGINT)
    result = json.loads(process.stdout.read())
    alarm.cancel()
    assert process.wait(timeout=60) == 130, said
    (sentence,) = (line for line in said if "does not keep real time" in line)
    assert "so that its 60 s may take" in sentence and "a lower rate or an idle machine helps" in sentence
    found = result["fell_behind"]
    assert found["after_s"] >= found["ran_s"] + 1.0 and found["ran_s"] < 60
    assert any(note.startswith("The engine did not keep real time: ") for note in result["notes"])


APPLICATIONS = """\
applications:
  - {name: call, voice: {from: internet, to: home}, stop: 2 s}
  - {name: ping, ping: {from: home, to: internet, interval: 50 ms}}
rounds:
  - {name: first}
  - {name: far away, set: {traffic.0.live.delay: 60 ms}}
"""


def test_rounds_with_applications(place: Path) -> None:
    """Each round is whole, and the comparison has what each application felt: no round trip is shorter than the delays."""
    (place / "s.yaml").write_text(SCENARIO.replace("duration: 60 s", "duration: 3 s") + APPLICATIONS)
    process = start(place)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    found = json.loads(out)
    assert found == json.loads((place / "results/live_test/result.json").read_text())
    assert [one["name"] for one in found["rounds"]] == ["first", "far away"]
    for one, least_ms in zip(found["rounds"], (15.0, 65.0), strict=True):
        result = one["result"]
        whole(result)
        call, ping = result["applications"]
        assert ping["error"] is None and ping["received"] > 20 and ping["round_trip_ms"]["min"] >= least_ms
        assert call["error"] is None and call["delay_ms"]["count"] > 50 and 1.0 <= call["mos"] <= 4.5
        folder = place / "results/live_test" / one["name"].replace(" ", "_")
        assert json.loads((folder / "result.json").read_text()) == result and (folder / "departures.npz").exists()
    assert "far away" in (place / "results/live_test/report.html").read_text()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("iperf3") is None, reason="iperf3 is not here")
@pytest.mark.parametrize("name", ["home", "live_codel", "live_deadline"])
@pytest.mark.parametrize("engine", ["model", "rtl"])
def test_ready_made_scenarios(tmp_path: Path, name: str, engine: str) -> None:
    """Those of scenarios/ run on both engines, whatever the machine's speed."""
    env = dict(os.environ) | {"PYTHONPATH": str(PACKAGE.parent)}
    scenario = ROOT / "scenarios" / f"{name}.yaml"
    command = [sys.executable, "-P", "-m", "penstock", "live", str(scenario), "--engine", engine, "--json", "--set", "duration=12 s"]
    done = subprocess.run([*command, "--out", str(tmp_path / "out")], env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for result in [one["result"] for one in found["rounds"]] if "rounds" in found else [found]:
        assert result["findings"] == [] and result["conservation"]["ok"]
        assert all(not one["error"] for one in result["applications"]), result["notes"]
        assert 0.5 * result["bottleneck_bps"] < result["carried_bps"] <= 1.02 * result["bottleneck_bps"]


LONG = """\
applications:
  - {name: downloads, iperf: {from: internet, to: home, flows: 4, algorithm: cubic}}
  - {name: call, voice: {from: internet, to: home}, start: 1 s, stop: STOP s}
  - {name: ping, ping: {from: home, to: internet, interval: 100 ms}, start: 1 s, stop: STOP s}
"""
LONG_SECONDS = int(os.environ.get("PENSTOCK_LIVE_SECONDS", "60"))
KEPT_FRAMES, KEPT_BYTES = 4_000_000, 48  # frames that are kept one by one, and what one takes at most
OTHER_BYTES = 8 << 20  # what memory may grow by, beside them: fragments, series


@dataclass(frozen=True)
class Sample:
    """A process at a time."""

    seconds: float
    resident: int  # bytes
    files: int
    threads: int


def first_there(command: int) -> int:
    """Return the process in which a run happens: the child of the one in between."""
    for _ in range(2):
        command = int(Path(f"/proc/{command}/task/{command}/children").read_text().split()[0])
    return command


def sampled(process: "subprocess.Popen[str]", seconds: float) -> Iterator[Sample]:
    """Look at a run's process until it ends."""
    step, begun, number = max(1.0, min(10.0, seconds / 20)), time.monotonic(), None
    while process.poll() is None:
        try:
            number = number or first_there(process.pid)
            status = dict(line.split(":", 1) for line in Path(f"/proc/{number}/status").read_text().splitlines())
            files = len(os.listdir(f"/proc/{number}/fd"))
            yield Sample(time.monotonic() - begun, int(status["VmRSS"].split()[0]) << 10, files, int(status["Threads"]))
        except (OSError, IndexError, KeyError):
            pass
        time.sleep(step)


@pytest.mark.slow
@pytest.mark.timeout(LONG_SECONDS + 600)
@pytest.mark.skipif(shutil.which("iperf3") is None, reason="iperf3 is not here")
def test_a_long_run_loses_nothing_and_keeps_nothing(place: Path) -> None:
    """Four connections at 36 Mbit/s, a call and pings: all is accounted for, to the packets of the call; memory and open files stay.

    PENSTOCK_LIVE_SECONDS makes it longer than a minute, PENSTOCK_LIVE_OUT keeps samples and result in a folder.
    """
    seconds = LONG_SECONDS
    rules = "map: [{match: {proto: icmp}, queue: icmp}, {match: {proto: udp}, queue: call}]"
    text = SCENARIO.replace("map: [{match: {proto: icmp}, queue: icmp}]", rules)
    text = text.replace("  - {id: 2,", "  - {id: 3, name: call, rate: 1 Mbit/s, burst: 3 kB}\n  - {id: 2,")
    text = text.replace("duration: 60 s", f"duration: {seconds} s").replace(
        "rate: 8 Mbit/s, burst: 3 kB, aqm", "rate: 36 Mbit/s, burst: 3 kB, aqm"
    )
    (place / "s.yaml").write_text(text + LONG.replace("STOP", str(seconds - 3)))
    process = start(place)
    kept = Path(os.environ.get("PENSTOCK_LIVE_OUT", place))
    kept.mkdir(parents=True, exist_ok=True)
    seen = []
    with (kept / "out.json").open("w+") as out, (kept / "samples.csv").open("w") as file:
        reader = threading.Thread(target=lambda: shutil.copyfileobj(process.stdout, out))
        words: list[str] = []
        errors = threading.Thread(target=lambda: words.extend(process.stderr))
        reader.start()
        errors.start()
        print("seconds,resident_bytes,files,threads", file=file)
        for sample in sampled(process, seconds):
            seen.append(sample)
            print(f"{sample.seconds:.1f},{sample.resident},{sample.files},{sample.threads}", file=file, flush=True)
        reader.join()
        errors.join()
        assert process.wait() == 0, "".join(words)
        out.seek(0)
        result = json.load(out)
    whole(result)
    assert all(not host[key]["packets"] for host in result["hosts"] for key in ("unmatched", "overrun", "failed"))
    queued = {queue["name"]: queue["in_packets"] - queue["out_packets"] - queue["drop_packets"] for queue in result["live_queues"]}
    assert min(queued.values()) >= 0 and sum(queued.values()) == result["packets"]["queued"]
    by_name = {queue["name"]: queue for queue in result["live_queues"]}
    downloads, call, ping = result["applications"]
    way = next(way for way in call["ways"] if way["to"] == "home")
    assert way["sent"] == by_name["call"]["in_packets"] == way["received"] + by_name["call"]["drop_packets"]
    assert ping["sent"] == ping["received"] + by_name["icmp"]["drop_packets"]
    assert downloads["bytes"] <= by_name["down"]["out_bytes"]
    # The last look is into the end of the run, where files are written and memory is needed for it.
    calm = [sample for sample in seen if 5 + seconds / 20 < sample.seconds < seconds]
    frames = sum(queue["out_packets"] for queue in result["live_queues"])
    print(
        f"{frames:,} frames left, {sum(queue['drop_packets'] for queue in result['live_queues']):,} were dropped, {queued} are queued; "
        f"resident {calm[0].resident:,} to {calm[-1].resident:,} byte, files {calm[0].files} to {calm[-1].files}"
    )
    for sample in calm:
        then = frames * sample.seconds / seconds
        more = max(0.0, min(KEPT_FRAMES, frames) - then)
        assert calm[-1].resident - sample.resident <= OTHER_BYTES + KEPT_BYTES * more, sample
    half = len(calm) // 2
    assert half > 2 and max(one.files for one in calm[half:]) <= max(one.files for one in calm[:half])
    assert max(one.threads for one in calm[half:]) <= max(one.threads for one in calm[:half])
