#!/usr/bin/env python3
"""Serves the web client from its sources, and passes all other requests on to a node: edit a file, reload the page.

    dev-server.py [--port 8081] [--node 8080] [--page FOLDER]

It answers as the node does (WebPage.swift and WebClientPage.swift), with the same headers, so what the
Content-Security-Policy forbids fails here, too. The version is computed at each request. If the node is down, connections
close without an answer. For development only: it listens on 127.0.0.1, and both its ends are unencrypted.
"""
import argparse
import base64
import hashlib
import http.server
import json
import pathlib
import re
import select
import socket

CSP = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; "
       "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
       "frame-ancestors 'none'; require-trusted-types-for 'script'")
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".json": "application/json", ".webmanifest": "application/manifest+json", ".svg": "image/svg+xml", ".base64": "image/png"}
NOT_IN_APP = {"index.html", "service-worker.js", "not-found.html"}


def first_modules(page):
    """The paths of `main.js` and all modules that it imports, directly or through others, sorted. What is imported by
    `import()` is loaded later. WebPage.swift does the same."""
    found, waiting = set(), [page / "main.js"]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            # The last line of an import: `import … from './a.js';`, or `} from './a.js';` after several lines.
            names = re.findall(r"^(?:import |} from )[^']*'(.+)';$", path.read_text(), re.MULTILINE)
            waiting += [(path.parent / name).resolve() for name in names]
    return sorted(found)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    rbufsize = 0  # nothing may be read ahead of what is relayed
    page: pathlib.Path
    node: int

    def handle_any(self):
        path = self.path.split("?")[0]
        if path in ("/", "/service-worker.js") or path.startswith("/app/"):
            self.serve(path)
        else:
            self.relay()

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = handle_any

    def files(self):
        return sorted(p for p in self.page.rglob("*") if p.is_file() and p.suffix in TYPES)

    def version(self):
        digest = hashlib.sha256()
        for path in self.files():
            digest.update(str(path.relative_to(self.page)).encode() + b"\0" + path.read_bytes() + b"\0")
        return digest.hexdigest()[:16]

    def serve(self, path):
        if self.command not in ("GET", "HEAD"):
            return self.answer(405, b"", "text/plain")
        version = self.version()
        paths = [f"/app/{version}/{p.relative_to(self.page).as_posix().removesuffix('.base64')}" for p in self.files()
                 if str(p.relative_to(self.page)) not in NOT_IN_APP]
        if path == "/":
            text = (self.page / "index.html").read_text()
            links = "\n".join(f'<link rel="modulepreload" href="/app/{version}/{p.relative_to(self.page).as_posix()}">'
                              for p in first_modules(self.page))
            return self.answer(200, text.replace("<!-- modules -->", links)
                               .replace("/app/dev/", f"/app/{version}/").encode(), TYPES[".html"])
        if path == "/service-worker.js":
            shell = json.dumps({"version": version, "files": paths})
            text = f"self.parleyShell = {shell};\n" + (self.page / "service-worker.js").read_text()
            return self.answer(200, text.encode(), TYPES[".js"])
        file = (self.page / "/".join(path.split("/")[3:])).resolve()
        encoded = file.with_name(file.name + ".base64")
        if encoded.is_relative_to(self.page) and encoded.is_file():
            return self.answer(200, base64.b64decode(encoded.read_text()), TYPES[".base64"])
        if not file.is_relative_to(self.page) or not file.is_file():
            return self.answer(404, b"not found", "text/plain")
        self.answer(200, file.read_bytes(), TYPES.get(file.suffix, "application/octet-stream"))

    def answer(self, status, body, kind):
        self.send_response(status)
        for name, value in {
            "Content-Type": kind, "Content-Length": str(len(body)), "Cache-Control": "no-store",
            "Content-Security-Policy": CSP, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Permissions-Policy": "camera=(), microphone=(), geolocation=(self)",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def relay(self):
        """Passes the request on and then copies bytes both ways until one side closes."""
        self.close_connection = True
        try:
            node = socket.create_connection(("127.0.0.1", self.node), timeout=5)
        except OSError:
            return
        with node:
            node.settimeout(None)
            head = [self.requestline] + [f"{k}: {v}" for k, v in self.headers.items() if k.lower() != "connection"]
            node.sendall(("\r\n".join(head) + "\r\nConnection: close\r\n\r\n").encode("latin-1"))
            while True:
                readable, _, _ = select.select([node, self.connection], [], [], 120)
                if not readable:
                    return
                for source, target in ((node, self.connection), (self.connection, node)):
                    if source in readable:
                        try:
                            data = source.recv(65536)
                            if not data:
                                return
                            target.sendall(data)
                        except OSError:
                            return

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description="Serves the web client from its sources.")
    parser.add_argument("--port", type=int, default=8081, help="the port to listen on")
    parser.add_argument("--node", type=int, default=8080, help="the port of the node")
    parser.add_argument("--page", type=pathlib.Path, default=pathlib.Path(__file__).parent / "page", help="the folder")
    arguments = parser.parse_args()
    Handler.page = arguments.page.resolve()
    Handler.node = arguments.node
    print(f"the web client is at http://127.0.0.1:{arguments.port}", flush=True)
    try:
        Server(("127.0.0.1", arguments.port), Handler).serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
