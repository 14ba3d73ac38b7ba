"""To which servers a program sends data."""

from __future__ import annotations

import asyncio
import http.client
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dllint.observation import Upload, read
from dllint.probe import recorder, uploads


class Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(200)
        self.end_headers()

    do_POST = do_PUT = do_GET

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    monkeypatch.setattr(http.client.HTTPConnection, "endheaders", http.client.HTTPConnection.endheaders)
    monkeypatch.setattr(uploads, "_told", set())
    monkeypatch.setattr(uploads, "_HERE", ("localhost",))
    for name in ("directory", "_path", "_pid"):
        monkeypatch.setattr(recorder, name, getattr(recorder, name))
    recorder.begin(str(tmp_path))
    uploads.hook(http.client)  # type: ignore[arg-type]
    with HTTPServer(("127.0.0.1", 0), Answers) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{found.server_port}/"
        found.shutdown()


def sent(directory: Path) -> list[tuple[str, str]]:
    return [(one.method, one.host) for one in read(str(directory)).of(Upload)]


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_data_that_is_sent(server: str, tmp_path: Path, method: str) -> None:
    for _ in range(3):
        with urllib.request.urlopen(urllib.request.Request(server, data=b"weights", method=method)):
            pass
    assert sent(tmp_path) == [(method, "127.0.0.1")]


def test_data_that_is_fetched(server: str, tmp_path: Path) -> None:
    with urllib.request.urlopen(server):
        pass
    assert sent(tmp_path) == []


def test_a_server_that_cannot_be_reached(server: str, tmp_path: Path) -> None:
    with pytest.raises(OSError):
        urllib.request.urlopen(urllib.request.Request("http://127.0.0.1:1/", data=b"weights"), timeout=2)
    assert sent(tmp_path) == []


class Transport:
    """As those of httpx: the request is sent by its own connections, not by `http.client`."""

    def handle_request(self, request: Any) -> str:
        return "sent"

    async def handle_async_request(self, request: Any) -> str:
        return "sent"


def test_data_that_httpx_sends(server: str, tmp_path: Path) -> None:
    module: Any = SimpleNamespace(HTTPTransport=type("One", (Transport,), {}), AsyncHTTPTransport=Transport)
    uploads.hook_httpx(module)

    def request(method: str, host: str) -> Any:
        return SimpleNamespace(method=method, url=SimpleNamespace(host=host))

    assert module.HTTPTransport().handle_request(request("PUT", "hub.example.org")) == "sent"
    assert module.HTTPTransport().handle_request(request("GET", "other.example.org")) == "sent"
    later = module.AsyncHTTPTransport().handle_async_request(request("POST", "later.example.org"))
    assert asyncio.run(later) == "sent"
    assert sent(tmp_path) == [("PUT", "hub.example.org"), ("POST", "later.example.org")]
