"""Page and metrics over HTTP: for browsers and Prometheus of this machine, since there is neither TLS nor a password.

What keeps other web pages out: names of the Host header that are not of loopback are refused (DNS rebinding); a change needs a header that
no form can send, and the page's own Origin; no answer has a CORS header.
"""

import contextlib
import io
import json
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
from numpy.typing import NDArray
from prometheus_client import CONTENT_TYPE_LATEST

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control import metrics
from penstock.designs.access_edge.control.answers import STATUS, Query, as_error, as_json, delay, known, settings, wanted
from penstock.designs.access_edge.control.history import INTERVAL_SECONDS
from penstock.designs.access_edge.control.incoming import Incoming
from penstock.designs.access_edge.control.keys import read
from penstock.designs.access_edge.control.looks import Looks
from penstock.designs.access_edge.control.plant import MAX_NAME, Plant, Subscriber, check_version
from penstock.designs.access_edge.control.problems import Problem, invalid
from penstock.designs.access_edge.control.search import understood
from penstock.designs.access_edge.control.server import is_local
from penstock.designs.access_edge.control.services import problem_of
from penstock.designs.access_edge.control.services.counters import queue_counters
from penstock.designs.access_edge.control.sweep import COLUMNS, Sweep
from penstock.designs.access_edge.control.waiting import Entry
from penstock.designs.access_edge.matches import match_of_key
from penstock.driver.carrier import CarrierError
from penstock.errors import UserError

PAGE, ICON = (Path(__file__).with_name(name) for name in ("page.html", "icon.svg"))
WHO = "web"  # in the audit log
MAX_BODY = 4096
MAX_CONNECTIONS = 64  # when there is one more, the one is closed whose request has been awaited longest
WAY_SECONDS = 1.0  # so long that may take; if it does, the new one is closed
IDLE_SECONDS = 15.0  # until a request has come whole, and then until its answer is taken
TOP, FOUND, NODES = 20, 20, 1_000  # entries of an answer at most
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"  # noqa: E501


class Site:
    """What the paths answer. Figures are those of the last sweep, so a reader costs the device nothing, but for those of one subscriber."""

    def __init__(self, plant: Plant, sweep: Sweep) -> None:
        self._plant, self._sweep, self._looks = plant, sweep, Looks(plant, sweep)
        self.get: dict[str, Callable[[Query], Any]] = {
            "/api/totals": self._totals, "/api/top": self._top, "/api/subscriber": self._subscriber, "/api/search": self._search,
            "/api/history": self._history,
        }  # fmt: skip
        self.post: dict[str, Callable[[Any], Any]] = {"/api/gate": self._gate}

    def metrics(self, query: Query) -> bytes:
        """Return what Prometheus reads. Raises Problem."""
        known(query, "subscriber", "node")
        if not query:
            return metrics.exposition(self._plant, self._sweep)
        if len(query) > 1:
            raise invalid("either subscriber or node is given, not both")
        return metrics.exposition_of_queues(self._plant, self._sweep, self._chosen(query))

    def _chosen(self, query: Query) -> NDArray[np.int64]:
        plant, each = self._plant, self._plant.facts.queues_per_subscriber
        if "subscriber" in query:
            index = plant.find(query["subscriber"], "subscriber")
            return np.arange(index * each, (index + 1) * each, dtype=np.int64)
        nodes, node = plant.facts.hierarchy.nodes if plant.facts.hierarchy else 0, query["node"]
        if not nodes:
            raise invalid("the device has no hierarchy, so no nodes", "node")
        if not (node.isascii() and node.isdigit() and len(node) < 10 and int(node) < nodes):
            raise invalid(f"must be 0 to {nodes - 1:,}, not {node[:20]!r}", "node")
        queues = self._sweep.owned()
        return queues[plant.node_of[queues // each] == int(node)]

    # ---- reading

    def _totals(self, query: Query) -> Any:
        known(query)
        plant, sweep = self._plant, self._sweep
        found = metrics.levels(plant, sweep)
        listed: dict[str, list[dict[str, Any]]] = {
            level: [
                {"index": index, "name": metrics.name_of(plant, level, index) or f"{level} {index}"} | values for index, values in entries
            ]
            for level, entries in found.items()
        }
        subscribed = np.unique(plant.node_of[sweep.taken()])
        known_at = {"node": set(subscribed.tolist()), "port": set(plant.port_of[subscribed].tolist())}
        for level in ("node", "port"):
            for each in listed[level]:
                each["limit_bps"] = metrics.limit_of(plant, level, each["index"])
                each["share_of_limit"] = each["rate_bps"] / each["limit_bps"] if each["limit_bps"] else None
                # What is queued is known of queues with a subscriber alone.
                each["delay_seconds"] = delay(each) if each["index"] in known_at[level] else None
        memory = self._memory()  # of a device whose classes share it, it has the packets of all queues, also of those without a subscriber
        used = {one["index"]: one["used"] for one in memory["classes"]}
        for each in listed["class"]:
            each["delay_seconds"] = delay(each, used.get(each["index"]))
        nodes = sorted(listed["node"], key=lambda node: (-(node["share_of_limit"] or 0), -node["rate_bps"]))[:NODES]
        for node in nodes:
            node["port"] = int(plant.port_of[node["index"]])
        return {
            "up": metrics.is_up(sweep),
            "error": sweep.error,
            "age_seconds": self._age(),
            "subscribers": len(plant.index_of),
            "subscribers_max": plant.facts.subscribers,
            "queues": plant.facts.queues,
            "aqm": plant.facts.aqm,
            "line_bps": plant.line_bps,
            "device": found["device"][0][1],
            "delay_seconds": delay(found["device"][0][1], memory["used"] if used else None),
            "memory": memory,
            "drops_per_second": sum(sweep.reason_rates.values()) if sweep.reason_rates else None,
            "ports": listed["port"],
            "nodes": nodes,
            "nodes_left_out": len(listed["node"]) - len(nodes),
            "classes": listed["class"],
            "headers": sweep.headers and sweep.headers.as_dict(),
            "reasons": [
                {
                    "reason": name,
                    "words": registers.DROP_WORDS[name],
                    "packets": packets,
                    "bytes": size,
                    "per_second": sweep.reason_rates.get(name),
                }
                for name, (packets, size) in sweep.reasons.items()
            ],  # fmt: skip
        }

    def _memory(self) -> dict[str, Any]:
        found = self._sweep.packet_memory()
        classes = [{"index": n, "used": one.used, "reserved": one.reserved} for n, one in enumerate(found.classes)]
        return {"pages": found.pages, "used": found.used, "limits": found.limits, "warning": found.warning, "classes": classes}

    def _top(self, query: Query) -> Any:
        known(query, "by")
        sweep, by, each = self._sweep, query.get("by", "rate"), self._plant.facts.queues_per_subscriber
        columns: dict[str, NDArray[Any]] = {"rate": sweep.rates, "backlog": sweep.queued[:, 1], "drops": sweep.drops}
        if by not in columns:
            raise invalid(f"must be {', '.join(columns)}, not {by[:20]!r}", "by")
        queues = sweep.owned()
        values = columns[by][queues]
        queues, values = queues[values > 0], values[values > 0]
        if len(queues) > TOP:  # a partition first: of 262,144 queues only the largest are sorted
            largest = np.argpartition(-values, TOP)[:TOP]
            queues, values = queues[largest], values[largest]
        queues = queues[np.argsort(-values, kind="stable")]
        entries = self._queues(queues)
        for entry in entries:
            entry["subscriber"] = self._plant.name_of.get(entry["queue"] // each, "")
        return {"by": by, "age_seconds": self._age(), "queues": entries}

    def _subscriber(self, query: Query) -> Any:
        known(query, "name")
        plant, each = self._plant, self._plant.facts.queues_per_subscriber
        message = plant.get(wanted(query, "name"))
        places = np.arange(message.index * each, (message.index + 1) * each, dtype=np.int64)
        try:
            now = self._looks.look(message.index, places)
        except CarrierError:  # then the figures of the last sweep, whose age is beside them
            now = None
        queues = self._queues(places)
        for position, entry in enumerate(queues):
            if now:
                entry["rate_bps"], entry["drops_per_second"] = int(now[0][position]), float(now[1][position])
                entry["drain_seconds"] = 8 * entry["queued_bytes"] / now[0][position] if now[0][position] else None
            else:
                entry["drops_per_second"] = None
            there = position < len(message.queues)
            entry["settings"] = settings(message.queues[position]) if there else {"limit_packets": 0}
        return {
            "name": message.name,
            "index": message.index,
            "node": message.node if plant.facts.hierarchy else None,
            "rate_limit_bps": message.rate_bps if message.HasField("rate_bps") else None,
            "guarantee_bps": message.guarantee_bps,
            "weight": message.weight if message.HasField("weight") else 1,
            "gate_closed": message.gate_closed,
            "bypass": message.bypass,
            "matches": [read(one, "matches").shown for one in message.matches],
            "version": message.version,
            "tells_sojourn": plant.facts.sojourn,
            "queues": queues,
        }

    def _history(self, query: Query) -> Any:
        known(query, "name")
        place = self._plant.find(wanted(query, "name"))
        with self._sweep.done:
            found = self._sweep.history.of(place)
        return {"interval_seconds": INTERVAL_SECONDS, "points": [vars(point) for point in found]}

    def _search(self, query: Query) -> Any:
        known(query, "q")
        text = wanted(query, "q")
        found = self._plant.page("", FOUND + 1, None, text)
        if (test := understood(text)) is not None:  # those of this VLAN, session or address go first
            by_match = self._plant.page("", FOUND + 1, None, "", lambda key: test(match_of_key(key)))
            names = {each.name for each in by_match}
            found = [*by_match, *(each for each in found if each.name not in names)]
        subscribers = [
            {
                "name": each.name, "node": each.node, "gate_closed": each.gate_closed,
                "matches": [read(one, "matches").shown for one in each.matches],
            }
            for each in found[:FOUND]
        ]  # fmt: skip
        return {"subscribers": subscribers, "more": len(found) > FOUND}

    def _queues(self, queues: NDArray[np.int64]) -> list[dict[str, Any]]:
        with self._sweep.done:
            found = queue_counters(self._sweep, queues)
            drops, looked = self._sweep.drops[queues].tolist(), (self._sweep.at[queues] > 0).tolist()
        names = ("queue", *COLUMNS, "queued_packets", "queued_bytes", "rate_bps")
        each = self._plant.facts.queues_per_subscriber
        return [
            {name: getattr(queue, name) for name in names}
            | {
                "position": queue.queue % each,
                "drops_now": dropped,
                "head_sojourn_seconds": queue.head_sojourn_ns / 1e9 if seen and queue.HasField("head_sojourn_ns") else None,
                # How long what is queued takes at the rate of now: an estimate of what the last packet has before it.
                "drain_seconds": 8 * queue.queued_bytes / queue.rate_bps if queue.rate_bps else None,
                "age_seconds": queue.age_ns / 1e9 if seen else None,
            }
            for queue, dropped, seen in zip(found, drops, looked, strict=True)
        ]

    def _age(self) -> float | None:
        age = self._sweep.age_ns()
        return None if age is None else age / 1e9

    # ---- changes

    def _gate(self, body: Any) -> Any:
        if not isinstance(body, dict) or set(body) - {"subscriber", "closed", "version"}:
            raise invalid("the body must be an object with subscriber, closed and, if wished, version")
        name, closed, version = body.get("subscriber"), body.get("closed"), body.get("version", 0)
        if not isinstance(name, str) or not name:
            raise invalid("must be the name of a subscriber", "subscriber")
        if not isinstance(closed, bool):
            raise invalid("must be true or false", "closed")
        if isinstance(version, bool) or not isinstance(version, int) or version < 0:
            raise invalid("must be a whole number; 0: whichever is in force", "version")

        def make() -> Subscriber:
            there = self._plant.get(name)
            check_version(version, there.version, repr(name[:MAX_NAME]))
            there.gate_closed = closed
            return there

        with self._noting("POST /api/gate", f"{'close' if closed else 'open'} {name[:MAX_NAME]!r}"):
            (there,) = self._plant.change([make]).subscribers
        return {"name": there.name, "gate_closed": there.gate_closed, "version": there.version}

    @contextlib.contextmanager
    def _noting(self, method: str, what: str) -> Iterator[None]:
        """What this thread does is in the audit log: in the transaction of the change, or after it with what was wrong."""
        status = ["INTERNAL"]
        with self._plant.noting(Entry(WHO, method, what), lambda: status[0]):
            try:
                yield
            except Problem as problem:
                status[0] = problem.code.name
                raise


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, place: tuple[str, int], site: Site) -> None:
        self.address_family = socket.AF_INET6 if ":" in place[0] else socket.AF_INET
        self.site, self._free = site, threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._awaited: dict[socket.socket, None] = {}  # connections whose request has not come yet, the one of the longest time first
        self._lock = threading.Lock()
        super().__init__(place, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False) or (self._make_way() and self._free.acquire(timeout=WAY_SECONDS)):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def await_request(self, connection: socket.socket) -> None:
        """From now on a request is awaited of a connection."""
        with self._lock:
            self._awaited[connection] = None

    def has_come(self, connection: socket.socket) -> None:
        """It has come, or will not come any more."""
        with self._lock:
            self._awaited.pop(connection, None)

    def _make_way(self) -> bool:
        """End the connection whose request has been awaited longest, if there is one."""
        with self._lock:
            longest = next(iter(self._awaited), None)
            if longest is None:
                return False
            del self._awaited[longest]
            with contextlib.suppress(OSError):  # its client has ended it
                longest.shutdown(socket.SHUT_RDWR)
        return True

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes in the middle of an answer is nobody's business."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self._incoming = Incoming(self.connection)
        self.rfile = io.BufferedReader(self._incoming)

    def handle_one_request(self) -> None:
        """Its line, its headers and its body come within one time limit."""
        self._incoming.until = time.monotonic() + self.timeout
        self.server.await_request(self.connection)
        try:
            super().handle_one_request()
        finally:
            self.server.has_come(self.connection)

    def do_GET(self) -> None:
        self.server.has_come(self.connection)
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _answer(self, what: Callable[[], tuple[str, bytes]]) -> None:
        try:
            self._check_host()
            kind, body = what()
            status = HTTPStatus.OK
        except _Refused as refused:
            status, kind, body = refused.status, *as_error(str(refused))
            self.close_connection = True  # a body may be unread
        except Problem as problem:
            status = STATUS.get(problem.code, HTTPStatus.SERVICE_UNAVAILABLE)
            kind, body = as_error(f"{problem.field}: {problem.message}" if problem.field else problem.message)
        except (CarrierError, sqlite3.Error) as error:
            status, kind, body = HTTPStatus.SERVICE_UNAVAILABLE, *as_error(problem_of(error).message)
        except Exception as error:  # one request that nobody has thought of ends neither the connection nor its thread
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            kind, body = as_error(f"the server has met an error of its own ({type(error).__name__})")
            self.close_connection = True
        self._send(status, kind, body)

    def _check_host(self) -> None:
        try:
            name = urlsplit(f"//{self.headers.get('Host', '')}").hostname
        except ValueError:
            name = None
        if not name or not is_local(f"[{name}]:0"):
            raise _Refused(HTTPStatus.FORBIDDEN, "this server is reached as localhost or a loopback address only")

    def _get(self) -> tuple[str, bytes]:
        parts = urlsplit(self.path)
        try:
            query = dict(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=8))
        except ValueError:
            raise invalid("there are more than 8 parameters") from None
        if parts.path == "/":
            return "text/html; charset=utf-8", PAGE.read_bytes()
        if parts.path == "/icon.svg":
            return "image/svg+xml", ICON.read_bytes()
        if parts.path == "/metrics":
            return CONTENT_TYPE_LATEST, self.server.site.metrics(query)
        found = self.server.site.get.get(parts.path)
        if found is None:
            self._no_path(parts.path, self.server.site.post, "POST")
        return as_json(found(query))  # type: ignore[misc]

    def _post(self) -> tuple[str, bytes]:
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        if self.headers.get("X-Penstock") != "1":
            raise _Refused(HTTPStatus.FORBIDDEN, "a change needs the header X-Penstock: 1")
        if origin is not None and origin != f"http://{host}":
            raise _Refused(HTTPStatus.FORBIDDEN, "a change is taken from this server's own page only")
        found = self.server.site.post.get(self.path)
        if found is None:
            self._no_path(self.path, {"/": None, "/icon.svg": None, "/metrics": None, **self.server.site.get}, "GET")
        if self.headers.get_content_type() != "application/json":
            raise _Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body must be application/json")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            raise _Refused(HTTPStatus.LENGTH_REQUIRED, "Content-Length must be given")
        if len(length) > 9 or int(length) > MAX_BODY:
            raise _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body has at most {MAX_BODY:,} bytes")
        try:
            data = self.rfile.read(int(length))
        except TimeoutError:
            raise _Refused(HTTPStatus.REQUEST_TIMEOUT, f"a request must come within {self.timeout:g} s") from None
        self.server.has_come(self.connection)
        try:
            body = json.loads(data)
        except (ValueError, RecursionError):
            raise invalid("the body is no JSON") from None
        return as_json(found(body))  # type: ignore[misc]

    def _no_path(self, path: str, others: Any, method: str) -> None:
        if path in others:
            raise _Refused(HTTPStatus.METHOD_NOT_ALLOWED, f"{path} takes {method} only")
        raise _Refused(HTTPStatus.NOT_FOUND, f"there is nothing at {path[:80]!r}")

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.connection.settimeout(self.timeout)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Security-Policy", _POLICY)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the library refuses (a method, a line too long) is said like everything else."""
        self.close_connection = True
        status = HTTPStatus(code)
        self._send(status, *as_error(message or status.phrase))

    def log_message(self, format: str, *args: Any) -> None:
        """A line for each request helps nobody."""

    def version_string(self) -> str:
        """Without versions of what is below."""
        return "penstock"


class _Refused(Exception):
    """A request that is not let in."""

    def __init__(self, status: HTTPStatus, words: str) -> None:
        super().__init__(words)
        self.status = status


@contextlib.contextmanager
def pages(plant: Plant, sweep: Sweep, address: str) -> Iterator[str]:
    """Serve page and metrics at `HOST:PORT` (port 0: any that is free) inside of the `with`; yields the address. Raises UserError."""
    host, _, port = address.rpartition(":")
    if not (host and port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise UserError(f"--http {address}: must be HOST:PORT, such as 127.0.0.1:8080")
    if address.startswith("unix:") or not is_local(address):
        raise UserError(f"--http {address}: must be of the loopback interface, such as 127.0.0.1:{port}, for the page asks for no password")
    bare = "127.0.0.1" if host == "localhost" else host.strip("[]")
    try:
        server = _Server((bare, int(port)), Site(plant, sweep))
    except OSError as error:
        raise UserError(f"--http {address}: cannot be listened at ({(error.strerror or str(error)).lower()})") from None
    thread = threading.Thread(target=server.serve_forever, args=(0.2,), name="http", daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
