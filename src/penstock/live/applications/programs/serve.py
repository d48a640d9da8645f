"""A web server of objects of any size: GET /N has N bytes."""

import contextlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from penstock.live.applications.programs import job as jobs

BLOCK = bytes(range(256)) * 256
MAX_BYTES = 1 << 31


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        words = self.path.removeprefix("/")
        size = int(words) if words.isascii() and words.isdigit() and len(words) < 11 else MAX_BYTES + 1
        if size > MAX_BYTES:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        with contextlib.suppress(OSError):
            while size > 0:
                part = BLOCK[:size]
                self.wfile.write(part)
                size -= len(part)
            return
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """A thread for each connection."""

    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, *_: object) -> None:
        """Say nothing: a client that leaves is none."""


def main() -> None:
    job = jobs.taken()
    version = job["version"]
    Server.address_family = jobs.family(version)
    with contextlib.suppress(jobs.Hurry):
        server = Server((job["here"], job["port"]), Handler, bind_and_activate=False)
        jobs.mark(server.socket, version, job)
        server.server_bind()
        server.server_activate()
        jobs.say(ready=True)
        server.serve_forever()
    jobs.say(result={})
    jobs.end()


if __name__ == "__main__":
    main()
