# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Sessions by RADIUS: accounting has subscribers come and go, CoA changes their plan; by pyrad's client, and by FreeRADIUS' where it is."""

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.designs import configs
from penstock.designs.access_edge.control import radius
from penstock.designs.access_edge.control.compare import differences
from penstock.designs.access_edge.control.plant import Plant
from penstock.designs.access_edge.testing.control import CONFIG, HeaderMirror, Mirror, plant_of
from penstock.errors import UserError
from penstock.v1 import common_pb2, hierarchy_pb2, plans_pb2

SECRET = b"a secret of ours"


def plans(plant: Plant) -> None:
    for name, limit in (("gold", 10), ("lead", 5)):
        plant.set_plan(plans_pb2.Plan(name=name, queues=[common_pb2.QueueSettings(limit_packets=limit)]))
    plant.set_parent("node", hierarchy_pb2.Node(index=2, name="olt-2"))


@contextlib.contextmanager
def answered(folder: Path, mirror: Mirror) -> Iterator[tuple[Plant, int]]:
    plant, secret = plant_of(mirror), folder / "secret"
    plans(plant)
    secret.write_bytes(SECRET + b"\n")
    with radius.sessions(plant, "127.0.0.1:0", secret) as place:
        yield plant, int(place.rpartition(":")[2])


def client_of(port: int, secret: bytes = SECRET) -> Any:
    from pyrad.client import Client
    from pyrad.dictionary import Dictionary

    made = Client("127.0.0.1", authport=port, acctport=port, coaport=port, secret=secret, dict=Dictionary(str(radius.DICTIONARY)))
    made.timeout, made.retries = 1, 1
    return made


def account(client: Any, status: int, **said: Any) -> int:
    request = client.CreateAcctPacket(**said)
    request["Acct-Status-Type"] = status
    return int(client.SendPacket(request).code)


def coa(client: Any, code: int, **said: Any) -> Any:
    return client.SendPacket(client.CreateCoAPacket(code=code, **said))


def test_a_session_comes_changes_and_goes(tmp_path: Path) -> None:
    mirror = Mirror(configs.load(CONFIG))
    with answered(tmp_path, mirror) as (plant, port):
        client = client_of(port)
        assert account(client, radius.START, User_Name="ann", Filter_Id="gold", NAS_Identifier="olt-2") == 5
        there = plant.get("ann")
        assert (there.plan, there.node, mirror.queues[0][2]) == ("gold", 2, 10)
        assert account(client, radius.INTERIM, User_Name="ann", Filter_Id="gold", NAS_Identifier="olt-2") == 5
        assert plant.get("ann").version == there.version, "an interim update that says the same changes nothing"
        assert account(client, radius.START, User_Name="ben", Filter_Id="lead", NAS_Port=1) == 5 and plant.get("ben").node == 1
        assert coa(client, radius.COA, User_Name="ann", Filter_Id="lead").code == 44
        assert (plant.get("ann").plan, plant.get("ann").node, mirror.queues[0][2]) == ("lead", 2, 5)
        refused = coa(client, radius.COA, User_Name="eve", Filter_Id="lead")
        assert refused.code == 45 and refused["Error-Cause"] == [503]
        assert coa(client, radius.COA, User_Name="ann", Filter_Id="iron").code == 45 and plant.get("ann").plan == "lead"
        assert coa(client, radius.COA, User_Name="ann")["Error-Cause"] == [404]
        assert account(client, radius.STOP, User_Name="ann") == 5 and "ann" not in plant.index_of
        assert account(client, radius.STOP, User_Name="ann") == 5, "a stop that is repeated is answered again"
        assert coa(client, radius.DISCONNECT, User_Name="ben").code == 41 and not plant.index_of
        assert coa(client, radius.DISCONNECT, User_Name="ben").code == 42
        assert differences(plant) == []
        lines = [line[1:3] for line in plant.audited(3)]
        assert {who for who, _ in lines} == {"radius"} and ("radius", "RADIUS Disconnect") in lines


def test_what_cannot_be_done_is_not_answered(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from pyrad.client import Timeout

    with answered(tmp_path, Mirror(configs.load(CONFIG))) as (plant, port):
        client = client_of(port)
        for said in ({"Filter_Id": "iron"}, {}, {"Filter_Id": "gold", "NAS_Identifier": "nowhere"}):
            with pytest.raises(Timeout):
                account(client, radius.START, User_Name="ann", **said)
        with pytest.raises(Timeout):
            account(client_of(port, b"another secret"), radius.START, User_Name="ann", Filter_Id="gold")
        assert not plant.index_of
        assert account(client, radius.START, User_Name="ann", Filter_Id="gold") == 5
    for words in ("there is no plan 'iron'", "names no plan", "no node of the name 'nowhere'", "another secret than ours"):
        assert words in caplog.text, words


def test_an_address_is_a_match(tmp_path: Path) -> None:
    with answered(tmp_path, HeaderMirror(configs.load(CONFIG))) as (plant, port):
        client = client_of(port)
        assert account(client, radius.START, User_Name="ann", Filter_Id="gold", Framed_IP_Address="10.0.0.7") == 5
        assert [match.ipv4 for match in plant.get("ann").matches] == ["10.0.0.7"]
        assert coa(client, radius.COA, User_Name="ann", Filter_Id="lead").code == 44
        assert [match.ipv4 for match in plant.get("ann").matches] == ["10.0.0.7"]


@pytest.mark.parametrize("data", [b"", b"\x04", b"\x04\x01\x00\x14" + bytes(16), bytes(40), b"\x2b\x01\xff\xff" + bytes(60)])
def test_what_is_no_packet_ends_nothing(tmp_path: Path, data: bytes) -> None:
    import socket

    with answered(tmp_path, Mirror(configs.load(CONFIG))) as (plant, port):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.sendto(data, ("127.0.0.1", port))
        assert account(client_of(port), radius.START, User_Name="ann", Filter_Id="gold") == 5 and plant.index_of


def test_a_client_of_freeradius(tmp_path: Path) -> None:
    program = shutil.which("radclient")
    if not program:
        pytest.skip("no radclient is installed (apt-get install freeradius-utils)")
    with answered(tmp_path, Mirror(configs.load(CONFIG))) as (plant, port):

        def ask(kind: str, text: str) -> str:
            command = [program, "-x", "-r", "1", "-t", "3", f"127.0.0.1:{port}", kind, SECRET.decode()]
            done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
            return done.stdout + done.stderr

        said = ask("acct", 'User-Name = "ann"\nFilter-Id = "gold"\nAcct-Status-Type = Start\nAcct-Session-Id = "1"\nNAS-Port = 1\n')
        assert "Received Accounting-Response" in said and plant.get("ann").plan == "gold", said
        assert "Received CoA-ACK" in ask("coa", 'User-Name = "ann"\nFilter-Id = "lead"\n') and plant.get("ann").plan == "lead"
        assert "Received Disconnect-ACK" in ask("disconnect", 'User-Name = "ann"\n') and not plant.index_of
        assert "Received Disconnect-NAK" in ask("disconnect", 'User-Name = "ann"\n')


@pytest.mark.parametrize(
    ("address", "secret", "words"),
    [
        ("1813", "long enough", "--radius 1813: must be HOST:PORT"),
        ("127.0.0.1:0", "short", "must hold a secret of 8 characters at least"),
        ("127.0.0.1:0", None, "--radius-secret .*: no such file"),
        ("192.0.2.1:1813", "long enough", "cannot be listened at"),
    ],
)
def test_what_is_refused_at_the_start(tmp_path: Path, address: str, secret: str | None, words: str) -> None:
    file = tmp_path / "secret"
    if secret is not None:
        file.write_text(secret)
    with pytest.raises(UserError, match=words), radius.sessions(plant_of(Mirror(configs.load(CONFIG))), address, file):
        pass
