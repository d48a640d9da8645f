"""Certificates of clients that are not taken any more: the revocation list (CRL) of their authority, looked at with each call.

gRPC's handshake knows no such lists, so a revoked client comes as far as its first call. What is under way goes on to its end.
"""

import logging
import os
import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import grpc

from penstock.errors import UserError

if TYPE_CHECKING:
    from cryptography import x509

LOG = logging.getLogger("penstock.control")
OPTION = "--tls-revoked"
MOST_KNOWN = 10_000  # certificates whose names are kept
Name = tuple[bytes, int]  # of a certificate: its issuer and its serial number
_END = b"-----END X509 CRL-----"


class Revoked:
    """The list in a file, read again when it changes. One that is wrong is logged, and the one before goes on to hold."""

    def __init__(self, path: Path, authority: Path) -> None:
        """`authority`: the certificates of who signs it. Raises UserError."""
        self._path, self._authority = path, authority
        self._lock = threading.Lock()
        self._known: dict[bytes, Name] = {}  # by certificate as it came
        self._state, self._words = self._state_now(), ""
        self._revoked, self._until = self._read()
        self._say_if_old()

    def words(self, context: grpc.ServicerContext, name: str) -> str:
        """Return why a caller is not taken; "": it is, or it has no certificate."""
        auth = cast(Mapping[str, Sequence[bytes]], context.auth_context())
        pem = (auth.get("x509_pem_cert") or [b""])[0]
        if not pem:
            return ""
        with self._lock:
            self._look()
            since = self._revoked.get(self._name(pem))
        return f"the certificate of {name} was revoked on {since:%Y-%m-%d}" if since else ""

    def _name(self, pem: bytes) -> Name:
        if pem not in self._known:
            from cryptography import x509

            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            found = x509.load_pem_x509_certificate(pem)
            self._known[pem] = found.issuer.public_bytes(), found.serial_number
        return self._known[pem]

    def _state_now(self) -> Any:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _look(self) -> None:
        state = self._state_now()
        if state == self._state:
            return
        self._state = state
        try:
            self._revoked, self._until = self._read()
        except UserError as error:
            if str(error) != self._words:
                self._words = str(error)
                LOG.error("%s; the list until now goes on to hold", error)
            return
        self._words = ""
        LOG.info("%s: %s certificates are revoked", self._path, f"{len(self._revoked):,}")
        self._say_if_old()

    def _say_if_old(self) -> None:
        if self._until and self._until < datetime.now(UTC):
            LOG.warning("%s: a newer list was due on %s; this one goes on to hold", self._path, f"{self._until:%Y-%m-%d}")

    def _read(self) -> tuple[dict[Name, datetime], datetime | None]:
        """Return when each certificate was revoked, and when a newer list is due. Raises UserError."""
        from cryptography import x509

        try:
            data = self._path.read_bytes()
        except OSError as error:
            raise UserError(f"{OPTION} {self._path}: {(error.strerror or str(error)).lower()}") from None
        parts = [part + _END for part in data.split(_END)[:-1]]
        try:
            lists = [x509.load_pem_x509_crl(part) for part in parts]
            signers = x509.load_pem_x509_certificates(self._authority.read_bytes())
        except (ValueError, OSError):
            lists = []
        if not lists:
            raise UserError(f"{OPTION} {self._path}: holds no list of revoked certificates (X509 CRL, as PEM)")
        found: dict[Name, datetime] = {}
        for one in lists:
            if not any(_signed(one, signer) for signer in signers):
                raise UserError(f"{OPTION} {self._path}: is not signed by the authority of --tls-clients {self._authority}")
            issuer = one.issuer.public_bytes()
            found |= {(issuer, entry.serial_number): entry.revocation_date_utc for entry in one}
        due = [one.next_update_utc for one in lists if one.next_update_utc]
        return found, min(due, default=None)


def _signed(crl: "x509.CertificateRevocationList", signer: "x509.Certificate") -> bool:
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        return crl.issuer == signer.subject and crl.is_signature_valid(signer.public_key())  # type: ignore[arg-type]
    except (TypeError, UnsupportedAlgorithm):
        return False
