"""What is wrong with certificates, in words: of files before they are used, and of a connection that does not come about.

gRPC says only that there is no connection; OpenSSL, asked in its place, says why.
"""

import socket
import ssl
from pathlib import Path

from penstock.errors import UserError

SECONDS = 5.0
_HOST_MISMATCH, _ADDRESS_MISMATCH = 62, 64  # X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH
_EXPIRED, _NOT_YET = 10, 9
_NOT_TAKEN = "the server does not take --cert: it is not signed by the authority of the server's --tls-clients, or not valid at this time"


def checked(certificate: Path, key: Path, authority: Path, options: tuple[str, str, str]) -> ssl.SSLContext:
    """Return what OpenSSL makes of the files. Raises UserError that names the file by its option.

    `options`: of `certificate`, `key` and `authority`, "--cert".
    """
    for path, option in zip((certificate, key, authority), options, strict=True):
        try:
            path.read_bytes()
        except OSError as error:
            raise UserError(f"{option} {path}: {(error.strerror or str(error)).lower()}") from None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols(["h2"])
    try:
        context.load_verify_locations(cafile=authority)
    except (ssl.SSLError, ValueError):
        raise UserError(f"{options[2]} {authority}: holds no certificate") from None
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=certificate)
    except (ssl.SSLError, ValueError):
        raise UserError(f"{options[0]} {certificate}: holds no certificate") from None
    try:
        context.load_cert_chain(certificate, key, password=_no_password)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise UserError(f"{options[1]} {key}: is not the key of {options[0]} {certificate}") from None
        raise UserError(f"{options[1]} {key}: holds no private key") from None
    except _PasswordError:
        raise UserError(f"{options[1]} {key}: needs a password; a key without one is wanted here") from None
    return context


class _PasswordError(Exception):
    pass


def _no_password() -> str:
    raise _PasswordError


def refused(host: str, port: int, context: ssl.SSLContext) -> str:
    """Return why no TLS comes about with a server that answers: in words behind its address, "" where nothing is wrong."""
    try:
        with (
            socket.create_connection((host, port), timeout=SECONDS) as plain,
            context.wrap_socket(plain, server_hostname=host) as secure,
        ):
            said = secure.recv(1)  # with TLS 1.3 a server says here that it does not take the client's certificate, or only goes
            return "" if said else _NOT_TAKEN
    except ssl.SSLCertVerificationError as error:
        return _of_server(error, host)
    except ssl.SSLError as error:
        return _of_client(error)
    except ConnectionError:
        return _NOT_TAKEN
    except OSError:
        return ""


def _of_server(error: ssl.SSLCertVerificationError, host: str) -> str:
    if error.verify_code in (_HOST_MISMATCH, _ADDRESS_MISMATCH):
        return f"the server's certificate is not for the name {host} (its subjectAltName has others)"
    if error.verify_code in (_EXPIRED, _NOT_YET):
        return "the server's certificate is not valid at this time"
    return f"the server's certificate is not signed by the authority of --server-ca ({error.verify_message})"


def _of_client(error: ssl.SSLError) -> str:
    reason = (error.reason or str(error)).lower().replace("_", " ")
    if "wrong version number" in reason or "http request" in reason or "unexpected eof" in reason:
        return "a server is there, but none with TLS: a control plane on loopback takes no certificates"
    if "unknown ca" in reason or "bad certificate" in reason or "decrypt error" in reason:
        return _NOT_TAKEN
    if "certificate expired" in reason:
        return "the server does not take --cert: it is not valid at this time"
    return f"a server is there, but no TLS comes about ({reason})"
