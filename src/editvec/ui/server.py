"""A local web server for one person: it listens on the loopback address only, and requires a token.

The page's own script and style run, and no others: the policy that is sent with it names their digests. The number of
connections, the size of a request and the time that a connection may be idle are limited.

A page of another site could send requests to a port of this machine. Therefore each request must have our own address
as its host (a foreign name that resolves to this machine is refused), contain the token, which only the printed address
has, and have no other origin.
"""

from __future__ import annotations

import secrets
import threading
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson

from editvec.core.errors import UserError
from editvec.core.files import to_json

_MOST = 4096
MAX_CONNECTIONS = 1_000
"""Maximum number of connections at once; further ones are closed."""
MAX_IDLE_SECONDS = 10.0
"""Time after which a connection is closed if nothing was received or sent."""
Answer = dict[str, Any]


class LocalServer:
    """A server of one page and its data.

    `get` returns the data that the page reads. `post` takes what the page sends and returns the answer; it raises
    ValueError if what was sent is not valid.
    """

    def __init__(self, page: str, get: Callable[[], Answer], post: Callable[[Any], Answer], *, port: int = 0) -> None:
        self.token = secrets.token_urlsafe(24)
        self._page, self._get, self._post = page.encode("utf-8", "replace"), get, post
        self._policy = policy_of(self._page)
        try:
            self._server = _LimitedServer(("127.0.0.1", port), self._handler())
        except OSError as error:
            raise UserError(f"cannot listen on port {port} ({error.strerror}). Choose another with --port.") from None
        self.port = int(self._server.server_address[1])

    @property
    def address(self) -> str:
        """Return the address to open, with the token."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    def run(self) -> None:
        """Serve until `stop` is called or the process is interrupted."""
        try:
            self._server.serve_forever(poll_interval=0.2)
        finally:
            self._server.server_close()

    def stop(self) -> None:
        """Stop `run`."""
        self._server.shutdown()

    @property
    def policy(self) -> str:
        """Return the Content-Security-Policy of the page."""
        return self._policy

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        return type("Handler", (_Handler,), {"site": self})


def policy_of(page: bytes) -> str:
    """Return the policy that lets the page's own script and style run, and nothing else.

    They are the last script and the first style, so nothing between them that got into the page could run.
    """
    script = page.rpartition(b"<script>")[2].partition(b"</script>")[0]
    style = page.partition(b"<style>")[2].partition(b"</style>")[0]
    script_digest, style_digest = (b64encode(sha256(text).digest()).decode() for text in (script, style))
    return (
        f"default-src 'none'; script-src 'sha256-{script_digest}'; style-src 'sha256-{style_digest}'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


class _LimitedServer(ThreadingHTTPServer):
    """A server with a limited number of connections."""

    request_queue_size = 512

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._free = threading.BoundedSemaphore(MAX_CONNECTIONS)
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a connection in a thread, or close it if there are too many."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer a connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a connection that a client broke off is not an error of the server."""


class _Handler(BaseHTTPRequestHandler):
    """Answers requests of the server's own page, and refuses all others."""

    site: LocalServer
    timeout = MAX_IDLE_SECONDS

    def do_GET(self) -> None:
        """Send the page or its data."""
        path = urlsplit(self.path)
        if not self._welcome():
            return
        if path.path == "/":
            self._send(HTTPStatus.OK, self.site._page, "text/html; charset=utf-8")
        elif path.path == "/data":
            self._say(HTTPStatus.OK, self.site._get())
        else:
            self._say(HTTPStatus.NOT_FOUND, {"error": "there is no such page"})

    def do_POST(self) -> None:
        """Pass JSON from the page to `post`, and send the answer."""
        if not self._welcome():
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > _MOST:
            self._say(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error": "the request is too large"})
            return
        if self.headers.get_content_type() != "application/json":
            self._say(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, {"error": "JSON expected"})
            return
        try:
            self._say(HTTPStatus.OK, self.site._post(orjson.loads(self.rfile.read(int(length)))))
        except (ValueError, TypeError, KeyError, OSError) as error:
            self._say(HTTPStatus.BAD_REQUEST, {"error": str(error)[:200]})

    def _welcome(self) -> bool:
        hosts = {f"127.0.0.1:{self.site.port}", f"localhost:{self.site.port}"}
        origin = self.headers.get("Origin")
        given = self.headers.get("X-Token") or parse_qs(urlsplit(self.path).query).get("token", [""])[0]
        if self.headers.get("Host") not in hosts or (
            origin is not None and origin.removeprefix("http://") not in hosts
        ):
            self._say(HTTPStatus.FORBIDDEN, {"error": "the request does not come from this server's own page"})
        elif not secrets.compare_digest(given.encode(), self.site.token.encode()):
            self._say(HTTPStatus.FORBIDDEN, {"error": "open the address that editvec printed"})
        else:
            return True
        return False

    def _say(self, status: HTTPStatus, value: Answer) -> None:
        self._send(status, to_json(value), "application/json")

    def _send(self, status: HTTPStatus, content: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(content))),
            ("Content-Security-Policy", self.site.policy),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cache-Control", "no-store"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: requests are not shown on the terminal."""
