# SPDX-License-Identifier: MIT
"""
A server of models that behaves as it is told, by the first part of a path: "/ok/FILE" serves ranges, "/loop/FILE"
redirects for ever, and so on. It also is a hub: /api/models/ORG/REPO/tree/main and /ORG/REPO/resolve/main/FILE, the
behaviour being ORG. What it was asked, and how much it sent, is recorded.
"""
from __future__ import annotations

import http.server
import json
import pathlib
import re
import struct
import threading
import time
from typing import Callable, Iterator

PIECE = 64 << 10
FOREVER = 1 << 60


def gguf_string(text: bytes) -> bytes:
    return struct.pack("<Q", len(text)) + text


def gguf_head(n_tensors: int, n_keys: int) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, n_tensors, n_keys)


def endless_strings() -> Iterator[bytes]:
    """A header that goes on and on: an array of strings."""
    yield gguf_head(1, 1) + gguf_string(b"tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 1 << 40)
    piece = gguf_string(b"x" * 1016) * 64
    while True:
        yield piece


# Headers that no file has: the beginning of each, and the size that is claimed.
CRAFTED: dict[str, tuple[bytes, int]] = {
    "many-tensors.gguf": (gguf_head(1 << 60, 1), 1 << 40),
    "many-keys.gguf": (gguf_head(1, 1 << 60), 1 << 40),
    "far-key.gguf": (gguf_head(1, 2) + gguf_string(b"a") + struct.pack("<IIQ", 9, 0, 1 << 29), 1 << 40),
    "page.gguf": (b"<!DOCTYPE html><title>Sign in</title>" + b" " * 4000, 4037),
    "large-header.safetensors": (struct.pack("<Q", 99_000_000) + b'{"a":' + b" " * (1 << 20), 1 << 40),
    "wide-header.safetensors": (struct.pack("<Q", 1 << 55) + b"{" + b" " * 100, 1 << 40),
    "empty.gguf": (b"", 0),
}


class Request:
    """One request, as a test sees it afterwards."""

    def __init__(self, handler: "Handler") -> None:
        self.path, self.headers, self.sent = handler.path, dict(handler.headers.items()), 0
        self.port = handler.server.server_address[1]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "Server"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:  # noqa: N802
        request = Request(self)
        with self.server.lock:
            self.server.requests.append(request)
        self.request_record = request
        path = self.path.partition("?")[0]
        if path.startswith("http://"):  # as a proxy is asked
            path = "/" + path.split("/", 3)[3]
        try:
            self.serve(path)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def serve(self, path: str) -> None:
        listed = re.fullmatch(r"/api/models/([^/]+)/([^/]+)/tree/main", path)
        resolved = re.fullmatch(r"/([^/]+)/([^/]+)/resolve/main/(.+)", path)
        if listed:
            getattr(self, "list_" + listed[1].replace("-", "_"), self.list_ok)(listed[2])
            return
        behaviour, name = (resolved[1], resolved[3]) if resolved else (path.split("/")[1], path.split("/", 2)[-1])
        method = getattr(self, "do_" + behaviour.replace("-", "_"), None)
        if method is None:
            method = self.do_ok
        method(name)

    # --- answers ---

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        if "Content_Length" not in headers and "Transfer_Encoding" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.send(body)

    def send(self, body: bytes) -> None:
        self.wfile.write(body)
        self.request_record.sent += len(body)

    def content(self, name: str) -> tuple[Callable[[int, int], bytes], int] | None:
        """How to read a file, and its size."""
        if name == "endless.gguf":
            return self.server.endless, FOREVER
        if name in CRAFTED:
            start, size = CRAFTED[name]
            return lambda at, n: (start[at:at + n] + bytes(n))[:min(n, size - at)], size
        path = self.server.files.get(name.rpartition("/")[2])
        if path is None:
            return None

        def read(at: int, n: int) -> bytes:
            with open(path, "rb") as file:
                file.seek(at)
                return file.read(n)
        return read, path.stat().st_size

    def wanted(self, size: int) -> tuple[int, int] | None:
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        return (int(match[1]), min(int(match[2]), size - 1)) if match else None

    def part(self, name: str, change: Callable[[int, int, int], tuple[int, int, int]] | None = None,
             etag: str | None = None, **headers: str) -> None:
        """A file or a range of it; `change` makes of first, last and total what the answer says of them."""
        found = self.content(name)
        if found is None:
            self.answer(404, b"Entry not found", X_Error_Code="EntryNotFound")
            return
        read, size = found
        etag = etag or f'"{name}-{size}"'
        if self.headers.get("If-None-Match") == etag:
            self.answer(304, ETag=etag)
            return
        span = self.wanted(size)
        if span is None:
            self.answer(200, read(0, min(size, PIECE)), ETag=etag, Content_Length=str(size))
            return
        if span[0] >= size:
            self.answer(416, Content_Range=f"bytes */{size}")
            return
        first, last, total = change(*span, size) if change else (*span, size)
        body = read(span[0], last - first + 1)
        self.answer(206, body, ETag=etag, Content_Range=f"bytes {first}-{last}/{total}", **headers)

    def do_ok(self, name: str) -> None:
        self.part(name)

    def count(self, name: str) -> int:
        """How often this path was asked for before."""
        with self.server.lock:
            return sum(request.path == self.path for request in self.server.requests) - 1

    # --- redirects ---

    def redirect(self, target: str, status: int = 302) -> None:
        self.answer(status, b"moved", Location=target)

    def do_moved(self, name: str) -> None:
        self.redirect("/ok/" + name, 307)

    def do_away(self, name: str) -> None:
        self.redirect(f"{self.server.other}/ok/{name}")

    def do_loop(self, name: str) -> None:
        self.redirect("/loop/" + name)

    def do_down(self, name: str) -> None:
        self.redirect("http://plimsoll.invalid/" + name)

    def do_file(self, name: str) -> None:
        self.redirect("file:///etc/passwd")

    def do_signed(self, name: str) -> None:
        self.redirect(f"/404/{name}?signature=secret")

    def do_nowhere(self, name: str) -> None:
        self.answer(302, b"")

    def do_short_lived(self, name: str) -> None:
        """As a hub does: an address that is good for one request."""
        self.redirect(f"/once-{self.count(name)}/{name}")

    # --- refusals ---

    def do_401(self, name: str) -> None:
        self.answer(401, b"Invalid username or password.", X_Error_Code="RepoNotFound")

    def do_403(self, name: str) -> None:
        self.answer(403, b"Access restricted", X_Error_Code="GatedRepo")

    def do_404(self, name: str) -> None:
        self.answer(404, b"Not found")

    def do_416(self, name: str) -> None:
        self.answer(416, Content_Range="bytes */12")

    def do_500(self, name: str) -> None:
        self.answer(500, b"<html>" + b" " * 5000)

    def do_500_once(self, name: str) -> None:
        self.answer(500) if self.count(name) == 0 else self.part(name)

    def do_429_once(self, name: str) -> None:
        self.answer(429, Retry_After="0") if self.count(name) == 0 else self.part(name)

    def do_429_long(self, name: str) -> None:
        self.answer(429, Retry_After="86400")

    def do_503_date(self, name: str) -> None:
        self.answer(503, Retry_After="Wed, 21 Oct 2065 07:28:00 GMT")

    def do_teapot(self, name: str) -> None:
        self.answer(418, b"x" * (1 << 20))

    # --- answers that are wrong ---

    def do_cut(self, name: str) -> None:
        """Half of what is announced, then the end of the connection."""
        self.send_response(206)
        self.send_header("Content-Range", "bytes 0-65535/1000000")
        self.send_header("Content-Length", "65536")
        self.end_headers()
        self.send(b"GGUF" + bytes(1000))
        self.close_connection = True

    def do_cut_once(self, name: str) -> None:
        self.do_cut(name) if self.count(name) == 0 else self.part(name)

    def do_whole(self, name: str) -> None:
        """No ranges: everything, announced."""
        self.send_response(200)
        self.send_header("Content-Length", str(1 << 40))
        self.end_headers()
        self.pour()

    def do_stream(self, name: str) -> None:
        """No ranges: everything, in chunks without a length."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.pour(is_chunked=True)

    def pour(self, is_chunked: bool = False) -> None:
        """Without an end; the client must go."""
        for piece in endless_strings():
            self.send(b"%x\r\n%s\r\n" % (len(piece), piece) if is_chunked else piece)

    def do_more(self, name: str) -> None:
        """The right range, and more bytes than it has."""
        self.send_response(206)
        self.send_header("Content-Range", "bytes 0-1048575/1099511627776")
        self.end_headers()
        self.close_connection = True
        self.pour()

    def do_other_part(self, name: str) -> None:
        self.part(name, lambda first, last, total: (first + 1, last + 1, total + 2))

    def do_part_too_long(self, name: str) -> None:
        self.part(name, lambda first, last, total: (first, last + 4096, 1 << 40))

    def do_no_total(self, name: str) -> None:
        self.answer(206, b"GGUF" + bytes(60), Content_Range="bytes 0-63/*")

    def do_no_range(self, name: str) -> None:
        self.answer(206, b"GGUF" + bytes(60))

    def do_wild_range(self, name: str) -> None:
        self.answer(206, b"GGUF" + bytes(60), Content_Range="bytes 99999999999999999999-1/x")

    def do_small_total(self, name: str) -> None:
        """The file is said to end where the first range does: in the header or in the data."""
        self.part(name, lambda first, last, total: (first, last, last + 1))

    def do_changing(self, name: str) -> None:
        self.part(name, lambda first, last, total: (first, last, total + self.count(name)))

    def do_new_etag(self, name: str) -> None:
        self.part(name, etag=f'"{self.count(name)}"')

    def do_gzip(self, name: str) -> None:
        self.part(name, Content_Encoding="gzip")

    def do_dribble(self, name: str) -> None:
        """One byte for each request: right, and useless."""
        self.part(name, lambda first, last, total: (first, first, total))

    def do_heads(self, name: str) -> None:
        """A head without an end."""
        self.wfile.write(b"HTTP/1.1 206 Partial Content\r\n")
        while True:
            self.wfile.write(b"X-Filler: " + b"x" * 4000 + b"\r\n")
            self.request_record.sent += 4012

    def do_slow(self, name: str) -> None:
        self.send_response(206)
        self.send_header("Content-Range", "bytes 0-65535/1000000")
        self.send_header("Content-Length", "65536")
        self.end_headers()
        while True:
            self.send(b"G")
            time.sleep(0.02)

    def do_silent(self, name: str) -> None:
        self.server.over.wait(60)
        self.close_connection = True

    def do_garbage(self, name: str) -> None:
        self.wfile.write(b"\x00\xff" * 2000 + b"\r\n\r\n")
        self.close_connection = True

    # --- lists of a hub ---

    def list_ok(self, repository: str) -> None:
        self.list_files(self.server.repositories.get(repository))

    def list_files(self, names: list[str] | None) -> None:
        if names is None:
            self.answer(401, b"{}", X_Error_Code="RepoNotFound")
            return
        items = []
        for name in names:
            found = self.content(name)
            items.append({"type": "file", "path": name, "size": found[1] if found else 0, "oid": "0" * 40,
                          "lfs": {"oid": f"{hash(name) & (1 << 60) - 1:064x}", "size": 1, "pointerSize": 135}})
        self.answer(200, json.dumps(items).encode(), Content_Type="application/json")

    def list_pages(self, repository: str) -> None:
        page = int((re.search(r"page=(\d+)", self.path) or [0, "0"])[1])
        items = [{"type": "file", "path": f"model-{page}-Q{page}_0.gguf", "size": 1, "oid": "a"}]
        link = f'<{self.server.url}/api/models/pages/{repository}/tree/main?page={page + 1}>; rel="next"'
        self.answer(200, json.dumps(items).encode(), **({"Link": link} if page < 2 or repository == "endless" else {}))

    def list_away(self, repository: str) -> None:
        """The next page is on another host."""
        self.answer(200, b"[]", Link=f'<{self.server.other}/api/models/ok/gguf/tree/main>; rel="next"')

    def list_huge(self, repository: str) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        item = b'{"type":"file","path":"a-Q4_0.gguf","size":1},' * 1000
        self.send(b"1\r\n[\r\n")
        while True:
            self.send(b"%x\r\n%s\r\n" % (len(item), item))

    def list_many(self, repository: str) -> None:
        items = [{"type": "file", "path": f"{n:06}-Q4_0.gguf", "size": n, "oid": "f" * 40} for n in range(20000)]
        self.answer(200, json.dumps(items).encode())

    def list_broken(self, repository: str) -> None:
        self.answer(200, b'[{"type": "file", "path": ')

    def list_object(self, repository: str) -> None:
        self.answer(200, b'{"error": "no list"}')

    def list_hostile(self, repository: str) -> None:
        paths = ["../../../tmp/a-Q4_0.gguf", "/etc/b-Q4_0.gguf", "a//c-Q4_0.gguf", "d\n-Q4_0.gguf", "e\\..\\f-Q4_0.gguf",
                 "./g-Q4_0.gguf", "h/../i-Q4_0.gguf", "\u001b[2J-Q4_0.gguf"]
        self.answer(200, json.dumps([{"type": "file", "path": path, "size": 1} for path in paths]).encode())


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, files: dict[str, pathlib.Path], repositories: dict[str, list[str]], other: str = "") -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.repositories, self.other = files, repositories, other
        self.requests: list[Request] = []
        self.lock, self.over = threading.Lock(), threading.Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.strings = gguf_string(b"x" * 1016) * 64
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def endless(self, at: int, n: int) -> bytes:
        """The bytes of endless_strings() from `at` on."""
        head = next(endless_strings())
        start = max(at - len(head), 0) % len(self.strings)
        return (head[at:] + (self.strings * (n // len(self.strings) + 2))[start:])[:n]

    def handle_error(self, request: object, client_address: object) -> None:
        pass

    def stop(self) -> None:
        self.over.set()
        self.shutdown()
        self.server_close()
