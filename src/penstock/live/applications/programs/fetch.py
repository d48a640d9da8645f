"""An object of the web server `serve`, over a connection that may be kept."""

import http.client
from collections.abc import Callable

READ_BYTES = 1 << 16


def fetch(link: http.client.HTTPConnection, size: int, came: Callable[[int], None]) -> None:
    """Load an object of `size` bytes; `came` is told of all bytes as they come. Raises OSError, http.client.HTTPException."""
    link.request("GET", f"/{size}")
    answer, seen = link.getresponse(), 0
    if answer.status != 200:
        raise OSError(f"the server answers {answer.status}")
    while part := answer.read1(READ_BYTES):
        seen += len(part)
        came(len(part))
    answer.read()  # nothing is left, but now the connection knows that it is free
    if seen != size:
        raise OSError(f"an object of {size} byte ends after {seen}")
