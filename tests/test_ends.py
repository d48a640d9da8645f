# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""However a command ends, what it has started ends with it, nothing half-made is left, and nobody sees a traceback."""

import contextlib
import ctypes
import fcntl
import io
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock import cache, paths
from penstock.basics import children, growing
from penstock.command_line import app as cli
from penstock.command_line import console, terminal
from penstock.errors import UserError
from penstock.hardware import lint, verilate
from penstock.paths import ROOT

# A command that runs a tool which runs tools of its own, as make runs compilers.
HANGS = """
    import sys
    from penstock.basics import children
    from penstock.command_line import app as cli
    from penstock.commands import app
    from penstock.basics.growing import growing
    from pathlib import Path

    @app.command()
    def hang() -> None:
        with growing(Path("out")):
            children.run(["sh", "-c", "sleep 1000 & sleep 1000 & echo $$ >group.new; mv group.new group; wait"])

    sys.exit(cli.main(["hang"]))
"""


def start(folder: Path, program: str, before: Callable[[], Any] | None = None) -> subprocess.Popen[str]:
    """Start a program of Python's."""
    (folder / "program.py").write_text(textwrap.dedent(program))
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "program.py"]
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=before
    )


PATIENCE_SECONDS = 60  # what takes longer has not come to an end


def await_file(path: Path) -> str:
    """Wait until a file is there and return its text."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not path.exists():
        assert time.monotonic() < end, f"{path.name} does not come"
        time.sleep(0.02)
    return path.read_text()


def last_words(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Wait until a program has ended and return what it has written to standard output and standard error."""
    try:
        return process.communicate(timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError("the program goes on") from None


def await_words(heard: io.StringIO) -> None:
    """Wait until a thread has written a line. (`capsys` loses what is written while it is read.)"""
    end = time.monotonic() + PATIENCE_SECONDS
    while not heard.getvalue().endswith("\n"):
        assert time.monotonic() < end, "not a word"
        time.sleep(0.01)


def alive(group: int) -> bool:
    """Tell whether a process group has members that are not just waiting to be asked for their status."""
    members = subprocess.run(["ps", "-eo", "pgid=,stat="], capture_output=True, text=True, check=True).stdout.split("\n")
    return any(line.split()[0] == str(group) and not line.split()[1].startswith("Z") for line in members if line.strip())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_everything(tmp_path: Path, number: signal.Signals) -> None:
    """Status 130, not a word of Python's, no process left, no folder left."""
    process = start(tmp_path, HANGS)
    group = int(await_file(tmp_path / "group"))
    assert alive(group)
    process.send_signal(number)
    out, err = last_words(process)
    assert (process.returncode, out, err) == (130, "", "")
    assert not alive(group)
    assert not (tmp_path / "out").exists()


def test_a_kill_ends_what_was_started(tmp_path: Path) -> None:
    """Nothing can be tidied up then, but no compiler goes on, and the next call removes what was half-made."""
    process = start(tmp_path, HANGS)
    group = int(await_file(tmp_path / "group"))
    process.kill()
    process.wait()
    end = time.monotonic() + PATIENCE_SECONDS
    while alive(group):
        if time.monotonic() > end:
            os.killpg(group, signal.SIGKILL)
            raise AssertionError("what was started goes on")
        time.sleep(0.05)
    out = tmp_path / "out"
    assert list(out.glob(".partial-*"))
    with growing.growing(out) as grown:
        assert list(out.iterdir()) == [grown]


# A command whose main thread waits for a lock that nothing gives back, as for a pool of threads.
WAITS = """
    import sys, threading, time
    from pathlib import Path
    from penstock.command_line import app as cli
    from penstock.commands import app

    @app.command()
    def wait() -> None:
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
        Path("here").touch()
        threading.Event().wait()

    sys.exit(cli.main(["wait"]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_meets_another_thread(tmp_path: Path, number: signal.Signals) -> None:
    """The kernel may give it to any; the main thread, which Python's handler needs, waits and hears nothing by itself."""
    process = start(tmp_path, WAITS)
    await_file(tmp_path / "here")
    time.sleep(0.2)  # until the main thread waits
    others = [int(task.name) for task in Path(f"/proc/{process.pid}/task").iterdir() if int(task.name) != process.pid]
    assert others and ctypes.CDLL(None).tgkill(process.pid, max(others), number) == 0
    out, err = last_words(process)
    assert (process.returncode, out, err) == (130, "", "")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 0), (signal.SIGHUP, 130)])
def test_a_service_manager_ends_a_server_without_a_failure(tmp_path: Path, number: signal.Signals, status: int) -> None:
    """`serve` has SIGTERM as its end; Ctrl-C, and a terminal that goes, interrupt it."""
    serving = WAITS.replace("threading.Event().wait()", "with _until_terminated(): threading.Event().wait()")
    process = start(tmp_path, serving.replace("import sys,", "from penstock.commands.serve import _until_terminated\n    import sys,"))
    await_file(tmp_path / "here")
    time.sleep(0.2)
    process.send_signal(number)
    out, err = last_words(process)
    assert (process.returncode, out, err) == (status, "", "")


def test_what_ignores_a_signal_goes_on_ignoring_it(tmp_path: Path) -> None:
    """`nohup` has SIGHUP ignored."""
    process = start(tmp_path, HANGS, lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    group = int(await_file(tmp_path / "group"))
    (ignored,) = (line.split()[1] for line in Path(f"/proc/{process.pid}/status").read_text().splitlines() if line.startswith("SigIgn"))
    assert int(ignored, 16) >> signal.SIGHUP - 1 & 1
    process.send_signal(signal.SIGHUP)
    time.sleep(0.2)
    assert process.poll() is None and alive(group)
    process.terminate()
    last_words(process)
    assert process.returncode == 130


def test_handing_over_passes_ctrl_c_on(tmp_path: Path) -> None:
    """As `penstock test` does with pytest: its last words are awaited, its status is 130."""
    words = "trap 'echo last words; exit 3' INT; echo $$ >group.new; mv group.new group; while :; do sleep 0.05; done"
    process = start(
        tmp_path,
        f"""
        import sys
        from penstock.basics import children
        sys.exit(children.hand_over(["sh", "-c", {words!r}]))
        """,
    )
    group = int(await_file(tmp_path / "group"))
    process.send_signal(signal.SIGINT)
    out, err = last_words(process)
    assert (process.returncode, out, err) == (130, "last words\n", "")
    assert not alive(group)


def test_a_program_that_is_not_there_is_a_sentence() -> None:
    with pytest.raises(UserError, match="the program /no/such is not there"):
        children.run(["/no/such"])


def test_lint_obeys_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both checks that run are ended, and no other begins."""
    begun = []

    def check() -> lint.Result:
        begun.append(1)
        children.run(["sleep", "1000"])
        return lint.Result("")

    monkeypatch.setattr(lint, "CHECKS", dict.fromkeys("abc", check))
    heard = []

    def interrupted(text: str) -> None:
        heard.append(text)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(lint.run("abc", interrupted))
    assert len(begun) == 2 and heard == ["a, b"]
    assert children.run(["true"]).returncode == 0


INTERRUPTIBLE = "import sys, time; open('here', 'w').close(); time.sleep(1000)"


def test_ctrl_c_while_the_command_line_loads(tmp_path: Path) -> None:
    """The libraries are not there yet, and nobody hears of them."""
    (tmp_path / "typer.py").write_text(INTERRUPTIBLE)
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT / 'src'}", "PENSTOCK_TAKE_INTERRUPTS": "1"}
    command = [sys.executable, "-P", "-m", "penstock", "--help"]

    def ignore() -> None:  # as the launcher does while Python starts
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True, preexec_fn=ignore)
    await_file(tmp_path / "here")
    process.send_signal(signal.SIGINT)
    _, err = last_words(process)
    assert (process.returncode, err) == (-signal.SIGINT, "")


def test_a_closed_standard_error_leaves_json_alone(tmp_path: Path) -> None:
    """What is said of a build goes nowhere then, least of all to standard output."""
    (tmp_path / "program.py").write_text(
        textwrap.dedent("""
        import penstock.__main__ as entry
        entry._open_standard_files()
        from penstock.command_line.console import console, spinner
        with spinner() as say:
            say("Compiling")
        console().print("a remark")
        open("opened", "w").write("by the program")
        print("{}")
        """)
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = ["sh", "-c", 'exec "$0" program.py 2>&-', sys.executable]
    done = subprocess.run(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == "{}\n"
    assert (tmp_path / "opened").read_text() == "by the program"


def test_an_error_that_nobody_foresaw(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence, status 1, and a file with where it came from; no traceback on the screen."""

    def fail(arguments: list[str]) -> int:
        raise ZeroDivisionError("nobody\nknew")

    monkeypatch.setattr(cli, "_run", fail)
    monkeypatch.setattr(paths, "BUILD", tmp_path)
    assert cli.main(["run"]) == 1
    err = capsys.readouterr().err
    assert err == f"penstock: this should not happen: ZeroDivisionError: nobody; please report it with {tmp_path / 'error.log'}\n"
    assert "in fail" in (tmp_path / "error.log").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "s.yaml", "--out", ""], "--out '': is empty"),
        (["run", "s.yaml", "--out", "  "], "--out '': is empty"),
        (["run", "s.yaml", "--out="], "--out=: has no value"),
        (["run", ""], "'': is empty"),
        (["generate", "access_edge", "--out", ""], "--out '': is empty"),
        (["synth", "queue", "--set", "queues= "], "give KEY=VALUE"),
        (["synth", "x" * 5000], "there is no block, design or module"),
        (["synth", "zzz"], "more"),
    ],
)
def test_empty_and_endless_words(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    """An empty value is an error, and no message is long."""
    assert cli.main(arguments) == 2
    err = capsys.readouterr().err
    assert words in err and len(err) < 700 and err.count("\n") == 1


@pytest.mark.parametrize("command", ["", "run", "bench", "synth", "test"])
def test_h_is_help(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert cli.main([*command.split(), "-h"]) == 0
    assert "Usage: penstock" in capsys.readouterr().out


def test_results_appear_whole(tmp_path: Path) -> None:
    """Nothing is seen before the end; an error leaves what was there; who is at work is left alone."""
    out = tmp_path / "a" / "out"
    with growing.growing(out) as grown, growing.growing(out) as other:
        (grown / "deep").mkdir()
        (grown / "deep" / "x").write_text("new")
        assert sorted(out.iterdir()) == sorted([grown, other])
    assert [str(path.relative_to(out)) for path in sorted(out.rglob("*"))] == ["deep", "deep/x"]
    with pytest.raises(ZeroDivisionError), growing.growing(out) as grown:
        (grown / "deep").mkdir()
        (grown / "deep" / "x").write_text("half")
        raise ZeroDivisionError
    assert (out / "deep" / "x").read_text() == "new" and len(list(out.iterdir())) == 1


def test_an_interrupted_build_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device is built in a folder of its own, which goes with the build, and so does what is left of a build that was killed."""
    monkeypatch.setattr(cache, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(cache, "BUILD", tmp_path / "build")
    source = tmp_path / "x.sv"
    source.write_text("module x; endmodule\n")
    what = verilate.Build("x", "x", [source], source)
    folder = tmp_path / "cache" / "devices" / what.key()
    (folder / ".partial-killed").mkdir(parents=True)
    seen: list[str] = []

    def interrupted(command: list[str], **_: Any) -> None:
        seen.extend(path.name for path in (tmp_path / "build" / "work").iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(children, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        verilate.build(what)
    assert len(seen) == 1
    assert [path.name for path in folder.iterdir()] == ["lock"]
    assert not list((tmp_path / "build" / "work").iterdir())


class Clock:
    """Stands in for time.monotonic."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@contextlib.contextmanager
def _of_run() -> Any:
    with console.run_progress(1000) as show:
        yield lambda part: show({"cycles": part * 10, "phase": "run", "packets_in": 3})


@contextlib.contextmanager
def _of_line(make: Any) -> Any:
    with make("work") as show:
        yield lambda part: show(f"part {part}")


@contextlib.contextmanager
def _of_bar() -> Any:
    with terminal.progress_bar("work", 100) as show:
        yield lambda part: show(part, 1000)


@contextlib.contextmanager
def _of_slots() -> Any:
    with terminal.slot_progress("work") as show:
        yield lambda part: show(part, 100)


@pytest.mark.parametrize(
    ("open_progress", "words"),
    [
        (_of_run, "Running 20 %: 3 in"),
        (lambda: _of_line(console.working), "part 20"),
        (lambda: _of_line(terminal.progress_line), "work: part 20"),
        (_of_bar, "work 20 %"),
        (_of_slots, "work 20 %"),
    ],
)
def test_a_log_hears_what_takes_long(
    open_progress: Any, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing for two seconds, then a line, then one now and then; on standard error."""
    clock = Clock()
    monkeypatch.setattr(console.time, "monotonic", clock.monotonic)
    monkeypatch.setattr(console.LogLines, "watch", lambda self: None)
    with open_progress() as show:
        clock.now += 1.9
        show(10)
        assert capsys.readouterr() == ("", "")
        clock.now += 0.2
        show(20)
        out, err = capsys.readouterr()
        assert out == "" and words in err and err.endswith("... 2 s\n")
        clock.now += 5
        show(30)
        assert capsys.readouterr().err == ""
        clock.now += 5.1
        show(40)
        assert capsys.readouterr().err.endswith("... 12 s\n")


def test_a_log_hears_it_of_what_does_not_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler says nothing while it works: a thread does."""
    heard = io.StringIO()
    monkeypatch.setattr(sys, "stderr", heard)
    with console.log_lines("compiling", 0.0):
        await_words(heard)
    assert heard.getvalue().startswith("penstock: compiling ... ")


def test_waiting_for_another_call_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "PATIENCE_SECONDS", 0.0)
    heard = io.StringIO()
    monkeypatch.setattr(sys, "stderr", heard)
    entered = threading.Event()

    def work() -> None:
        with paths.alone_in(tmp_path):
            entered.set()

    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        thread = threading.Thread(target=work)
        thread.start()
        await_words(heard)
        said, early = heard.getvalue(), entered.is_set()
    thread.join()
    assert said == f"penstock: waiting for another call, which works in {tmp_path}\n" and not early
    assert entered.is_set()


def test_paths_that_make_cannot_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository below a blank goes by a link; one that somebody else has put there is not followed."""
    root = tmp_path / "a clone (copy)"
    root.mkdir()
    links = [tmp_path / name for name in ("first", "second")]
    for folder in links:
        folder.mkdir()
    monkeypatch.setattr(paths, "ROOT", root)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(links[0]))
    paths._plain_root.cache_clear()
    try:
        made = paths.plain(root / "blocks")
        assert made.parent.parent == links[0] and made.parent.resolve() == root
        assert paths.plain(Path("/elsewhere/with a blank")) == Path("/elsewhere/with a blank")
        made.parent.unlink()
        made.parent.symlink_to("/elsewhere")
        paths._plain_root.cache_clear()
        other = paths.plain(root)
        assert other.parent == Path("/tmp") and other.resolve() == root
        other.unlink()
    finally:
        paths._plain_root.cache_clear()


def test_a_folder_of_another_user_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may not write learns whose it is."""

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    monkeypatch.setattr(paths.os, "geteuid", lambda: 12345)
    words = r"build: cannot be written: permission denied, it belongs to \w+; make a clone of your own"
    with pytest.raises(UserError, match=words), paths.alone_in(tmp_path / "build"):
        pass


def test_json_of_a_full_disk(tmp_path: Path) -> None:
    """A standard output that takes nothing is an error, in a sentence."""
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-P", "-m", "penstock", "--version"]
        done = subprocess.run(command, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "penstock: No space left on device\n")
