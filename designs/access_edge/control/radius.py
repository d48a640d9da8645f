"""Sessions by RADIUS: accounting (RFC 2866) has subscribers come and go, CoA and Disconnect requests (RFC 5176) change and end them.

A session is a subscriber of the name User-Name with the plan Filter-Id. An accounting request is answered when it is durable and in the
device; one that cannot be done is not answered, as RFC 2866 wants it, so that the sender repeats it, and the log says why.
"""

import contextlib
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from penstock.designs.access_edge.control.plans import FIELDS
from penstock.designs.access_edge.control.plant import Plant, Subscriber
from penstock.designs.access_edge.control.problems import Code, Problem, invalid, missing
from penstock.designs.access_edge.control.services import problem_of
from penstock.designs.access_edge.control.waiting import Entry
from penstock.errors import UserError

LOG = logging.getLogger("penstock.control")
DICTIONARY = Path(__file__).with_name("radius.dictionary")
START, STOP, INTERIM = 1, 2, 3  # of Acct-Status-Type
ACCOUNTING, DISCONNECT, COA = 4, 40, 43  # codes of requests
ACK, NAK = {ACCOUNTING: 5, DISCONNECT: 41, COA: 44}, {DISCONNECT: 42, COA: 45}
_CAUSES = {Code.NOT_FOUND: 503, Code.INVALID_ARGUMENT: 404, Code.FAILED_PRECONDITION: 404}  # of Error-Cause; else 506, resources
MOST_BYTES = 4096  # of a packet
WHO = "radius"  # in the audit log


class Sessions:
    """What requests do."""

    def __init__(self, plant: Plant) -> None:
        self._plant = plant

    def account(self, said: dict[str, Any]) -> None:
        """Do an accounting request. Raises Problem."""
        name, status = _name(said), said.get("Acct-Status-Type")
        if status in (START, INTERIM):
            self._do("Accounting-Start", name, lambda: self._session(name, said), skip=self._is_so(name, said))
        elif status == STOP and name in self._plant.index_of:
            self._do("Accounting-Stop", name, lambda: name)

    def change(self, said: dict[str, Any]) -> None:
        """Do a CoA request: another plan. Raises Problem."""
        name = _name(said)
        if "Filter-Id" not in said:
            raise invalid("names no plan (Filter-Id)")

        def make() -> Subscriber:
            there = self._plant.get(name)
            for field in FIELDS:
                there.ClearField(field)
            there.plan = said["Filter-Id"]
            return there

        self._do("CoA", name, make)

    def disconnect(self, said: dict[str, Any]) -> None:
        """Do a Disconnect request. Raises Problem."""
        name = _name(said)
        self._plant.find(name)
        self._do("Disconnect", name, lambda: name)

    def _do(self, method: str, name: str, make: Callable[[], Subscriber | str], skip: bool = False) -> None:
        if skip:
            return
        status = ["INTERNAL"]
        with self._plant.noting(Entry(WHO, f"RADIUS {method}", name), lambda: status[0]):
            try:
                self._plant.change([make])
            except Problem as problem:
                status[0] = problem.code.name
                raise

    def _is_so(self, name: str, said: dict[str, Any]) -> bool:
        """Return whether a session is there as it is said: interim updates change nothing."""
        if name not in self._plant.index_of:
            return False
        there, wanted = self._plant.get(name), self._session(name, said)
        return (there.plan, there.node, list(there.matches)) == (wanted.plan, wanted.node, list(wanted.matches))

    def _session(self, name: str, said: dict[str, Any]) -> Subscriber:
        if "Filter-Id" not in said:
            raise invalid("names no plan (Filter-Id)")
        made = Subscriber(name=name, plan=said["Filter-Id"], node=self._node(said))
        if "Framed-IP-Address" in said and self._plant.facts.header_profiles:
            made.matches.add(ipv4=said["Framed-IP-Address"])
        return made

    def _node(self, said: dict[str, Any]) -> int:
        """Return the node: of the name NAS-Identifier, else of the number NAS-Port. Raises Problem."""
        wanted = said.get("NAS-Identifier")
        if wanted is not None:
            for index, node in self._plant.nodes.items():
                if node.name == wanted:
                    return index
            if "NAS-Port" not in said:
                raise missing(f"there is no node of the name {str(wanted)[:128]!r} (NAS-Identifier)")
        return int(said.get("NAS-Port", 0))


def _name(said: dict[str, Any]) -> str:
    if not said.get("User-Name"):
        raise invalid("names no session (User-Name)")
    return str(said["User-Name"])


class _Server:
    def __init__(self, plant: Plant, secret: bytes, socket_: socket.socket) -> None:
        from pyrad.dictionary import Dictionary

        self._sessions, self._secret, self._socket = Sessions(plant), secret, socket_
        self._words = Dictionary(str(DICTIONARY))
        self.ended = threading.Event()

    def run(self) -> None:
        """Answer until the end."""
        while not self.ended.is_set():
            with contextlib.suppress(TimeoutError):
                data, sender = self._socket.recvfrom(MOST_BYTES)
                try:
                    answer = self.answer(data)
                except Exception as error:  # one packet that nobody has thought of ends nothing
                    LOG.error("RADIUS: a packet of %s was not understood (%s)", sender[0], type(error).__name__)
                    continue
                if answer:
                    with contextlib.suppress(OSError):
                        self._socket.sendto(answer, sender)

    def answer(self, data: bytes) -> bytes | None:
        """Return the answer to a packet; None: there is none."""
        from pyrad import packet

        code = data[0] if data else 0
        if code not in ACK:
            return None
        kind = packet.AcctPacket if code == ACCOUNTING else packet.CoAPacket
        request = kind(secret=self._secret, dict=self._words, packet=data)
        if not (request.VerifyAcctRequest() if code == ACCOUNTING else request.VerifyCoARequest()):
            LOG.warning("RADIUS: a packet has another secret than ours, and is left alone")
            return None
        said = {str(key): request[key][0] for key in request.keys() if isinstance(key, str) and request[key]}  # noqa: SIM118
        do = {ACCOUNTING: self._sessions.account, COA: self._sessions.change, DISCONNECT: self._sessions.disconnect}[code]
        reply = request.CreateReply()
        reply.code = ACK[code]
        try:
            do(said)
        except Exception as error:
            problem = problem_of(error)
            LOG.warning("RADIUS: %s: %s", said.get("User-Name", "no name"), problem)
            if code == ACCOUNTING:
                return None
            reply.code = NAK[code]
            reply["Error-Cause"] = _CAUSES.get(problem.code, 506)
        return bytes(reply.ReplyPacket())


@contextlib.contextmanager
def sessions(plant: Plant, address: str, secret: Path) -> Iterator[str]:
    """Answer RADIUS requests at `HOST:PORT` (UDP) inside of the `with`; yields the address. Raises UserError."""
    host, _, port = address.rpartition(":")
    if not (host and port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise UserError(f"--radius {address}: must be HOST:PORT, such as 127.0.0.1:1813")
    try:
        words = secret.read_bytes().strip()
    except OSError as error:
        raise UserError(f"--radius-secret {secret}: {(error.strerror or str(error)).lower()}") from None
    if len(words) < 8:
        raise UserError(f"--radius-secret {secret}: must hold a secret of 8 characters at least")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as there:
        try:
            there.bind((host.strip("[]"), int(port)))
        except OSError as error:
            raise UserError(f"--radius {address}: cannot be listened at ({(error.strerror or str(error)).lower()})") from None
        there.settimeout(0.2)
        server = _Server(plant, words, there)
        thread = threading.Thread(target=server.run, name="radius", daemon=True)
        thread.start()
        try:
            yield f"radius:{host}:{there.getsockname()[1]}"
        finally:
            server.ended.set()
            thread.join()
