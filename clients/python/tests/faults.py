"""Servers that fail: one with prepared responses, and a proxy that cuts connections."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


@dataclass
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Reply:
    status: int = 200
    body: Any = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None
    """The length that is announced, if it is not that of the body."""
    silent: threading.Event | None = None
    """Nothing is sent until this is set."""
    stalled: threading.Event | None = None
    """After the first byte of the body nothing is sent until this is set."""


class FaultServer:
    """Sends prepared replies in their order, the last one repeatedly, and keeps the requests."""

    def __init__(self, *replies: Reply) -> None:
        self.requests: list[Received] = []
        self._arrived = threading.Condition()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def reply(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                names = {name.lower(): value for name, value in self.headers.items()}
                with outer._arrived:
                    outer.requests.append(Received(self.command, self.path, names, body))
                    outer._arrived.notify_all()
                outer.send(self, replies[min(len(outer.requests), len(replies)) - 1])

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = reply

            def log_message(self, *_args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def send(self, handler: BaseHTTPRequestHandler, reply: Reply) -> None:
        if reply.silent is not None:
            reply.silent.wait()
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        handler.send_response(reply.status)
        for name, value in {"content-type": "application/json", **reply.headers}.items():
            handler.send_header(name, value)
        if reply.length is not None or "content-type" not in reply.headers:
            handler.send_header("content-length", str(len(content) if reply.length is None else reply.length))
        handler.end_headers()
        if reply.stalled is not None:
            handler.wfile.write(content[:1])
            reply.stalled.wait()
            content = content[1:]
        handler.wfile.write(content)
        handler.close_connection = True

    def wait_for(self, fits: Callable[[Received], bool], timeout: float) -> Received:
        with self._arrived:
            if not self._arrived.wait_for(lambda: any(map(fits, self.requests)), timeout):
                raise AssertionError("no such request arrived")
            return next(filter(fits, self.requests))

    def __enter__(self) -> FaultServer:
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class CutProxy:
    """A way to the service that breaks: each connection lets this number of bytes of the response through, None is all."""

    def __init__(self, target: str, response_bytes: Callable[[int], int | None]) -> None:
        parts = urlsplit(target)
        self._target = (parts.hostname or "", parts.port or 80)
        self._bytes = response_bytes
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.connections = 0
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._connect, args=(client, self._bytes(self.connections)), daemon=True).start()

    def _connect(self, client: socket.socket, limit: int | None) -> None:
        with client, socket.create_connection(self._target) as service:
            request = threading.Thread(target=self._copy, args=(client, service, None), daemon=True)
            request.start()
            self._copy(service, client, limit)
            request.join()

    def _copy(self, source: socket.socket, target: socket.socket, limit: int | None) -> None:
        try:
            while data := source.recv(65_536):
                passed = data if limit is None else data[:limit]
                target.sendall(passed)
                if limit is not None:
                    limit -= len(passed)
                    if limit == 0:
                        break
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def __enter__(self) -> CutProxy:
        return self

    def __exit__(self, *_error: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
