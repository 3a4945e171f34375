"""A server for one person on this machine: loopback only, behind a token, deaf to other sites.

A page that some other site opened could send requests to a port of this machine. So each request must name our own
address as its host (which a foreign name that points here does not), token_skip the token that only the printed address
has, and come from no other origin.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson

from editvec.core.errors import UserError
from editvec.core.files import to_json

_MOST = 4096
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'"
Answer = dict[str, Any]


class LocalServer:
    """Serves one page, and answers its questions: `get` for reading, `post` for what it sends (ValueError where that
    makes no sense)."""

    def __init__(self, page: str, get: Callable[[], Answer], post: Callable[[Any], Answer], *, port: int = 0) -> None:
        self.token = secrets.token_urlsafe(24)
        self._page, self._get, self._post = page.encode("utf-8", "replace"), get, post
        try:
            self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        except OSError as error:
            raise UserError(f"cannot listen on port {port} ({error.strerror}). Choose another with --port.") from None
        self.port = int(self._server.server_address[1])

    @property
    def address(self) -> str:
        """What to open."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    def run(self) -> None:
        """Serves until it is stopped."""
        try:
            self._server.serve_forever(poll_interval=0.2)
        finally:
            self._server.server_close()

    def stop(self) -> None:
        """Ends `run`."""
        self._server.shutdown()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        return type("Handler", (_Handler,), {"site": self})


class _Handler(BaseHTTPRequestHandler):
    """Answers requests of the site's own page, and refuses all others."""

    site: LocalServer

    def do_GET(self) -> None:
        path = urlsplit(self.path)
        if not self._welcome():
            return
        if path.path == "/":
            self._send(HTTPStatus.OK, self.site._page, "text/html; charset=utf-8")
        elif path.path == "/data":
            self._say(HTTPStatus.OK, self.site._get())
        else:
            self._say(HTTPStatus.NOT_FOUND, {"error": "no such page"})

    def do_POST(self) -> None:
        if not self._welcome():
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > _MOST:
            self._say(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error": "too large"})
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
            self._say(HTTPStatus.FORBIDDEN, {"error": "not from this machine's own page"})
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
            ("Content-Security-Policy", _POLICY),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cache-Control", "no-store"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass
