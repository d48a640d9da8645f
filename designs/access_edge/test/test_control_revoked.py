# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Revoked certificates of clients: the lines of the how-to, a list that changes while clients are there, and lists that are none."""

import logging
import os
import shutil
import subprocess
from pathlib import Path

import grpc
import pytest

from penstock.designs import configs
from penstock.designs.access_edge.control.client import Client
from penstock.designs.access_edge.control.server import Tls, serving
from penstock.designs.access_edge.control.sweep import Sweep
from penstock.designs.access_edge.testing.control import CONFIG, Mirror, fails, home, plant_of
from penstock.errors import UserError
from penstock.paths import ROOT
from penstock.v1 import device_pb2, subscribers_pb2

PAGE = (ROOT / "docs" / "how-to" / "certificates.md").read_text()


def script(text: str) -> str:
    """Return the lines of the page that are for a shell, without those that serve."""
    lines, block = text.splitlines(), []
    for line in lines:
        if line.startswith("    ./penstock"):
            break
        block += [line] if line.startswith("    ") else []
    return "\n".join(block)


def shell(folder: Path, text: str) -> None:
    subprocess.run(["sh", "-ec", text], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The authority, the server, alice and bob, and what takes to revoke: `now`; another authority: `other`."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not there")
    folder = tmp_path_factory.mktemp("revoked")
    first, revoke = script(PAGE.split("URI:`")[0]), script(PAGE.split("that is not to come any more")[1])
    for name in ("now", "other"):
        (folder / name).mkdir()
        shell(folder / name, first)
    bob = first[first.rindex("    openssl req") : first.rindex("    chmod")].replace("alice", "bob")
    shell(folder / "now", bob)
    shell(folder / "now", revoke.replace("-revoke alice.pem", "-updatedb"))
    shutil.copy(folder / "now" / "revoked.pem", folder / "none.pem")
    for name in ("now", "other"):
        shell(folder / name, revoke.replace("touch", ": >"))
    return folder


def put(source: Path, place: Path) -> None:
    """Put a list in the place of another, as a new file."""
    shutil.copy(source, place.with_suffix(".new"))
    os.replace(place.with_suffix(".new"), place)


def test_a_revoked_certificate_is_not_taken(made: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    now, place_of_list = made / "now", tmp_path / "revoked.pem"
    put(made / "none.pem", place_of_list)
    caplog.set_level(logging.INFO)
    logging.getLogger("penstock").propagate = True
    plant = plant_of(Mirror(configs.load(CONFIG)))
    tls = Tls(now / "server.pem", now / "server.key", now / "ca.pem", place_of_list)
    create = subscribers_pb2.CreateSubscriberRequest
    with serving(plant, Sweep(plant), ["127.0.0.1:0"], tls) as (place,):
        alice, bob = (Client(place, now / f"{name}.pem", now / f"{name}.key", now / "ca.pem") for name in ("alice", "bob"))
        with alice, bob:
            alice.subscribers.Create(create(subscriber=home("first")))
            put(now / "revoked.pem", place_of_list)  # she is there, and her next call is refused
            words = r"the certificate of alice was revoked on \d{4}-\d\d-\d\d"
            for _ in range(2):
                with pytest.raises(grpc.RpcError, match=words) as refused:
                    alice.subscribers.Create(create(subscriber=home("second")))
                assert refused.value.code() == grpc.StatusCode.PERMISSION_DENIED
            with pytest.raises(grpc.RpcError, match=words):
                alice.provision([home("third")])
            with pytest.raises(grpc.RpcError, match=words):
                alice.device.Get(device_pb2.GetDeviceRequest())
            assert [line[1:3] + line[4:] for line in plant.audited(9)][-2] == (
                "alice", "/penstock.v1.Subscribers/Create", "PERMISSION_DENIED",
            )  # fmt: skip
            bob.subscribers.Create(create(subscriber=home("of bob")))
            assert sorted(plant.index_of) == ["first", "of bob"]
            place_of_list.write_text("no list")  # wrong ones: that before holds, and the log says so once
            fails(grpc.StatusCode.PERMISSION_DENIED, "was revoked", alice.device.Get, device_pb2.GetDeviceRequest())
            put(made / "other" / "revoked.pem", place_of_list)
            fails(grpc.StatusCode.PERMISSION_DENIED, "was revoked", alice.device.Get, device_pb2.GetDeviceRequest())
            place_of_list.unlink()
            fails(grpc.StatusCode.PERMISSION_DENIED, "was revoked", alice.device.Get, device_pb2.GetDeviceRequest())
            bob.device.Get(device_pb2.GetDeviceRequest())
            said = [record.getMessage() for record in caplog.records if "goes on to hold" in record.getMessage()]
            assert [words for words in ("holds no list", "is not signed by", "no such file") if sum(words in one for one in said) == 1] == [
                "holds no list", "is not signed by", "no such file",
            ]  # fmt: skip
            put(made / "none.pem", place_of_list)  # an authority may take it back
            alice.device.Get(device_pb2.GetDeviceRequest())
        with Client(place, now / "alice.pem", now / "alice.key", now / "ca.pem") as again:
            again.device.Get(device_pb2.GetDeviceRequest())


def test_lists_behind_one_another_and_old_ones(made: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Of two authorities in one file; a list that is past its time holds, with a warning."""
    now, other = made / "now", made / "other"
    (tmp_path / "ca.pem").write_text((now / "ca.pem").read_text() + (other / "ca.pem").read_text())
    (tmp_path / "both.pem").write_text((other / "revoked.pem").read_text() + (now / "revoked.pem").read_text())
    dates = "-crl_lastupdate 20200101000000Z -crl_nextupdate 20200102000000Z"
    shell(now, f"openssl ca -config revoked.conf -cert ca.pem -keyfile ca.key -gencrl {dates} -out old.pem")
    plant = plant_of(Mirror(configs.load(CONFIG)))
    for authority, revoked in ((tmp_path / "ca.pem", tmp_path / "both.pem"), (now / "ca.pem", now / "old.pem")):
        tls = Tls(now / "server.pem", now / "server.key", authority, revoked)
        with serving(plant, Sweep(plant), ["127.0.0.1:0"], tls) as (place,):
            with Client(place, now / "alice.pem", now / "alice.key", now / "ca.pem") as alice:
                fails(grpc.StatusCode.PERMISSION_DENIED, "was revoked", alice.device.Get, device_pb2.GetDeviceRequest())
            with Client(place, now / "bob.pem", now / "bob.key", now / "ca.pem") as bob:
                bob.device.Get(device_pb2.GetDeviceRequest())
    assert "a newer list was due on 2020-01-02; this one goes on to hold" in caplog.text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("now/ca.pem", "holds no list of revoked certificates"),
        ("nowhere.pem", "--tls-revoked .*nowhere.pem: no such file"),
        ("other/revoked.pem", "is not signed by the authority of --tls-clients"),
    ],
)
def test_what_is_no_list_is_said_at_the_start(made: Path, name: str, words: str) -> None:
    now = made / "now"
    plant = plant_of(Mirror(configs.load(CONFIG)))
    tls = Tls(now / "server.pem", now / "server.key", now / "ca.pem", made / name)
    with pytest.raises(UserError, match=words), serving(plant, Sweep(plant), ["127.0.0.1:0"], tls):
        pass
