"""One side of a call: RTP packets (RFC 3550) at equal distances to the other side, and when each of its packets comes."""

import select
import socket
import struct
import time

from penstock.live.applications.programs import job as jobs

SAY_NS = 200_000_000


def packet(job: "dict[str, int]", number: int, sent_ns: int) -> bytes:
    """Return one: a header of RTP, and a payload that begins with its whole number and when it was sent."""
    stamp = number * job["ticks"]
    head = struct.pack("!BBHII", 0x80, job["type"], number & 0xFFFF, stamp & 0xFFFFFFFF, job["source"])
    return head + struct.pack("!Iq", number, sent_ns) + bytes(job["size"] - 12)


def main() -> None:
    job = jobs.taken()
    version = job["version"]
    made = socket.socket(jobs.family(version), socket.SOCK_DGRAM)
    jobs.mark(made, version, job)
    jobs.stamp(made)
    made.bind((job["here"], job["port"]))
    made.setblocking(False)
    poller = select.poll()
    poller.register(made, select.POLLIN)
    got: list[tuple[int, int, int]] = []
    sent, late, refused, said = 0, 0, 0, 0
    jobs.say(ready=True)
    try:
        following, last = job["start_ns"], job["stop_ns"]
        stop = last if job["speaks"] else following
        while True:
            until = following if following < stop else last + job["drain_ns"]
            if jobs.await_data(poller, until):
                try:
                    data, came = jobs.received(made)
                except OSError:  # an ICMP error of a packet before: the other side is not there (yet)
                    continue
                if len(data) >= 24 and struct.unpack_from("!I", data, 8)[0] == job["expected"]:
                    number, begun = struct.unpack_from("!Iq", data, 12)
                    got.append((number, begun, came))
                    if came - said > SAY_NS:
                        jobs.say(now={"delay_ns": came - begun})
                        said = came
            elif (now := time.monotonic_ns()) >= until:
                if following >= stop:
                    break
                try:
                    made.sendto(packet(job, sent, now), (job["there"], job["port"]))
                except OSError:
                    refused += 1
                late, sent = max(late, now - following), sent + 1
                following += job["interval_ns"]
    except jobs.Hurry:
        pass
    jobs.say(result={"sent": sent, "refused": refused, "late_ns": late, "got": got})
    jobs.end()


if __name__ == "__main__":
    main()
