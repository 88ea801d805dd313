# SPDX-License-Identifier: MIT
"""A hub of models on this machine, for programs that want one: the lists and the files of folders, with ranges."""
import hashlib
import http.server
import json
import os
import re
import threading

COMMIT = "0" * 40


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else the second write of an answer waits for the client's acknowledgement

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = self.path.partition("?")[0]
        listed = re.fullmatch(r"/api/models/([^/]+/[^/]+)(/tree/[^/]+|/revision/[^/]+)?", path)
        file = re.fullmatch(r"/([^/]+/[^/]+)/resolve/[^/]+/([^/]+)", path)
        found = listed or file
        folder = self.server.folders.get(found[1]) if found else None
        if listed and folder:
            self.answer(200, json.dumps(self.files(folder) if "/tree/" in path else self.about(found[1], folder)).encode())
        elif file and folder and file[2] in os.listdir(folder):
            self.send_file(os.path.join(folder, file[2]))
        else:
            self.answer(404, b"{}", X_Error_Code="EntryNotFound" if folder else "RepoNotFound")

    def files(self, folder):
        """As the hub lists them."""
        return [{"type": "file", "path": name, "size": os.path.getsize(os.path.join(folder, name)),
                 "oid": hashlib.sha1(name.encode()).hexdigest()} for name in sorted(os.listdir(folder))]

    def about(self, name, folder):
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        return {"_id": "0" * 24, "id": name, "modelId": name, "sha": COMMIT, "private": False, "tags": ["transformers"],
                "config": {key: config[key] for key in ("architectures", "model_type")}, "library_name": "transformers",
                "siblings": [{"rfilename": file} for file in os.listdir(folder)]}

    def send_file(self, path):
        size = os.path.getsize(path)
        headers = {"ETag": f'"{hashlib.sha1(path.encode()).hexdigest()}"', "X_Repo_Commit": COMMIT, "Accept_Ranges": "bytes"}
        span = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        first, last = (int(span[1]), min(int(span[2]), size - 1)) if span else (0, size - 1)
        if span:
            headers["Content_Range"] = f"bytes {first}-{last}/{size}"
        with open(path, "rb") as file:
            file.seek(first)
            body = file.read(last - first + 1) if self.command == "GET" else b""
        self.answer(206 if span else 200, body, Content_Length=str(last - first + 1), **headers)

    def answer(self, status, body, **headers):
        self.send_response(status)
        for key, value in {"Content_Length": str(len(body)), "Content_Type": "application/json", **headers}.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


class Hub(http.server.ThreadingHTTPServer):
    """folders: where the files of "ORG/NAME" are."""
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, folders):
        super().__init__(("127.0.0.1", 0), Handler)
        self.folders = folders
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()
