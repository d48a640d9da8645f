"""The two ends of TCP connections: kernel sockets in the namespaces of senders and receivers, and a loop that feeds and drains them."""

import contextlib
import errno
import os
import selectors
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

from penstock.network.spaces import SO_RCVBUFFORCE, Space, buffer

CHUNK = 1 << 18
SAMPLE_SECONDS = 0.05
TOS, TRAFFIC_CLASS = socket.IP_TOS, socket.IPV6_TCLASS
# struct tcp_info (linux/tcp.h), which only grows at its end: offsets of 32-bit words.
INFO_BYTES, RTT_US, CWND, MIN_RTT_US, RETRANSMITS = 192, 68, 80, 148, 100
OTHER_END = errno.ECONNRESET, errno.EPIPE, errno.ECONNREFUSED, errno.ETIMEDOUT, errno.EHOSTUNREACH, errno.ENETUNREACH


class Refused(Exception):
    """A sentence: what the kernel does not have."""


class Flow:
    """One connection."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given
        self.family = socket.AF_INET if given["version"] == 4 else socket.AF_INET6
        self.source, self.destination = given["source"], given["destination"]
        self.sender: socket.socket | None = None
        self.receiver: socket.socket | None = None
        self.left = given["bytes"] or None  # bytes to be given to the kernel; None: without end
        self.delivered = self.delivered_at = 0  # bytes in all; `at`: when rates begin to count
        self.connected_ns: int | None = None
        self.finished_ns: int | None = None
        self.round_trips: list[int] = []
        self.info: dict[str, int] = {}
        self.error = ""
        self.stopped = False

    def connect(self) -> socket.socket:
        """Begin the handshake and return the sender's end; the thread is in the namespace of the senders."""
        made = socket.socket(self.family, socket.SOCK_STREAM)
        made.setblocking(False)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        algorithm = self.given["algorithm"]
        try:
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm.encode())
        except OSError as error:
            made.close()
            raise Refused(f"this kernel has no {algorithm}, or does not let it be used ({error.strerror})") from None
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, self.given["mss"])
        if self.family == socket.AF_INET:
            made.setsockopt(socket.IPPROTO_IP, TOS, self.given["traffic_class"])
        else:
            made.setsockopt(socket.IPPROTO_IPV6, TRAFFIC_CLASS, self.given["traffic_class"])
        made.bind((self.source, self.given["source_port"]))
        self.sender = made
        with contextlib.suppress(BlockingIOError):
            made.connect((self.destination, self.given["destination_port"]))
        return made

    def sample(self) -> None:
        """Read what the kernel says of it."""
        if self.sender is None:
            return
        with contextlib.suppress(OSError):
            info = self.sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO_BYTES)
            words = {name: struct.unpack_from("I", info, at)[0] for name, at in (("rtt_us", RTT_US), ("cwnd", CWND))}
            self.info = words | {"retransmits": struct.unpack_from("I", info, RETRANSMITS)[0], "min_rtt_us": 0}
            if len(info) >= MIN_RTT_US + 4:
                self.info["min_rtt_us"] = struct.unpack_from("I", info, MIN_RTT_US)[0]
            if self.connected_ns is not None and not self.stopped:
                self.round_trips.append(self.info["rtt_us"])

    def result(self, begin_ns: int) -> dict[str, Any]:
        """Return what became of it; times from the beginning."""

        def since(moment: int | None) -> int | None:
            return None if moment is None else moment - begin_ns

        return {
            "delivered_bytes": self.delivered,
            "delivered_before_bytes": self.delivered_at,
            "connected_ns": since(self.connected_ns),
            "finished_ns": since(self.finished_ns),
            "round_trips_us": self.round_trips,
            **self.info,
            "error": self.error,
        }


class Ends:
    """All connections of a run."""

    def __init__(self, given: list[dict[str, Any]], senders: Space, receivers: Space) -> None:
        self.flows = [Flow(one) for one in given]
        self.senders = senders
        self.random = os.urandom(CHUNK)
        self.scratch = bytearray(CHUNK)
        self.select = selectors.DefaultSelector()
        self.waiting: dict[tuple[str, int, str, int], Flow] = {}
        receivers.enter()
        self.listeners: dict[tuple[str, int], socket.socket] = {}
        for flow in self.flows:
            self.waiting[flow.source, flow.given["source_port"], flow.destination, flow.given["destination_port"]] = flow
            place = flow.destination, flow.given["destination_port"]
            if place not in self.listeners:
                made = socket.socket(flow.family, socket.SOCK_STREAM)
                made.setblocking(False)
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                made.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, flow.given["mss"])
                buffer(made, SO_RCVBUFFORCE, socket.SO_RCVBUF, flow.given["window_bytes"])
                made.bind(place)
                made.listen(4096)
                self.listeners[place] = made
                self.select.register(made, selectors.EVENT_READ, None)

    def run(self, begin_ns: int, end_ns: int, after_ns: int, check: Callable[[], bool]) -> None:
        """Send from `begin_ns` (CLOCK_MONOTONIC) to `end_ns`, or until `check` says no. Bytes from `after_ns` on are told apart."""
        self.senders.enter()
        starts = sorted(self.flows, key=lambda flow: flow.given["start_ns"])
        stops = sorted(self.flows, key=lambda flow: flow.given["stop_ns"])
        sample = begin_ns
        after = False
        while (now := time.monotonic_ns()) < end_ns and check():
            while starts and begin_ns + starts[0].given["start_ns"] <= now:
                flow = starts.pop(0)
                self.select.register(flow.connect(), selectors.EVENT_WRITE, flow)
            while stops and begin_ns + stops[0].given["stop_ns"] <= now:
                self._stop(stops.pop(0))
            if not after and now >= after_ns:
                after = True
                for flow in self.flows:
                    flow.delivered_at = flow.delivered
            if now >= sample:
                sample = now + int(SAMPLE_SECONDS * 1e9)
                for flow in self.flows:
                    flow.sample()
            moments = [end_ns, sample, now + 100_000_000, *([begin_ns + starts[0].given["start_ns"]] if starts else [])]
            for key, _ in self.select.select(max(0.0, (min(moments) - now) / 1e9)):
                if key.data is None:
                    self._accept(key.fileobj)
                elif key.fileobj is key.data.sender:
                    self._send(key.data)
                else:
                    self._receive(key.data)
        for flow in self.flows:
            self._stop(flow)

    def close(self) -> None:
        """Close all sockets; connections are reset."""
        for flow in self.flows:
            for one in (flow.sender, flow.receiver):
                if one is not None:
                    with contextlib.suppress(OSError):
                        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    one.close()
        for listener in self.listeners.values():
            listener.close()
        self.select.close()

    def _forget(self, one: socket.socket | None) -> None:
        if one is not None:
            with contextlib.suppress(KeyError, ValueError):
                self.select.unregister(one)

    def _stop(self, flow: Flow) -> None:
        """All figures are of this moment: what comes later is not counted."""
        if not flow.stopped:
            flow.sample()
            flow.stopped = True
            self._forget(flow.sender)
            self._forget(flow.receiver)

    def _accept(self, listener: Any) -> None:
        with contextlib.suppress(BlockingIOError):
            made, peer = listener.accept()
            made.setblocking(False)
            flow = self.waiting.get((*peer[:2], *made.getsockname()[:2]))
            if flow is None or flow.receiver is not None:
                made.close()
                return
            flow.receiver = made
            if not flow.stopped:
                self.select.register(made, selectors.EVENT_READ, flow)

    def _send(self, flow: Flow) -> None:
        assert flow.sender is not None
        try:
            if flow.connected_ns is None:
                if number := flow.sender.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                    raise OSError(number, os.strerror(number))
                flow.connected_ns = time.monotonic_ns()
            size = CHUNK if flow.left is None else min(CHUNK, flow.left)
            sent = flow.sender.send(memoryview(self.random)[:size]) if size else 0
        except BlockingIOError:
            return
        except OSError as error:
            self._failed(flow, error)
            return
        if flow.left is not None:
            flow.left -= sent
            if not flow.left:
                self._forget(flow.sender)
                with contextlib.suppress(OSError):
                    flow.sender.shutdown(socket.SHUT_WR)

    def _receive(self, flow: Flow) -> None:
        assert flow.receiver is not None
        try:
            size = flow.receiver.recv_into(self.scratch)
        except BlockingIOError:
            return
        except OSError as error:
            self._failed(flow, error)
            return
        flow.delivered += size
        if not size or flow.delivered == flow.given["bytes"]:
            flow.finished_ns = flow.finished_ns or time.monotonic_ns()
            self._forget(flow.receiver)

    def _failed(self, flow: Flow, error: OSError) -> None:
        flow.error = error.strerror or str(error)
        if error.errno not in OTHER_END:
            raise error
        self._forget(flow.sender)
        self._forget(flow.receiver)
