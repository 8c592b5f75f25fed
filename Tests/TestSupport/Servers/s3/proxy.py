"""Passes HTTP requests on to a server, one a connection, and makes the faults that a test asks for.

DIRECTORY/faults.json: {"id": any, "faults": [{"kind", "method", "times"}]}. A request uses up the first fault for its
method; a new id begins again. Kinds:
  slow_down   answers 503 SlowDown, and reads no body
  away        closes the connection at once
  drop        PUT: closes the connection after half of the body. GET: after half of the answer's body
  lost        passes the request on, and closes the connection instead of answering
  not_found   passes the request on, and answers 404 NoSuchKey
  slow        passes the bodies on, 64 KiB every 20 ms
DIRECTORY/requests has a line for each request: method, path, fault."""
import asyncio
import json
import sys

PIECE = 64 * 1024


class Faults:
    def __init__(self, directory):
        self.path = directory + "/faults.json"
        self.id = None
        self.left = []

    def take(self, method):
        try:
            with open(self.path) as file:
                wanted = json.load(file)
        except FileNotFoundError:
            return None
        if wanted["id"] != self.id:
            self.id, self.left = wanted["id"], wanted["faults"]
        for fault in self.left:
            if fault["method"] == method and fault["times"] > 0:
                fault["times"] -= 1
                return fault["kind"]
        return None


def cut(writer):
    """Closes with a reset, so that the client sees a broken connection."""
    writer.transport.abort()


def error(status, code):
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code></Error>".encode()
    return (
        f"HTTP/1.1 {status} Error\r\ncontent-type: application/xml\r\nconnection: close\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    ).encode() + body


async def head(reader):
    """The first line, the header lines, and the length of the body; -1: until the end."""
    lines = (await reader.readuntil(b"\r\n\r\n"))[:-4].split(b"\r\n")
    length = -1
    for line in lines[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return lines[0], [l for l in lines[1:] if l.split(b":")[0].lower() != b"connection"], length


async def pass_on(reader, writer, count, pause):
    while count != 0:
        piece = await reader.read(PIECE if count < 0 else min(PIECE, count))
        if not piece:
            return
        if count > 0:
            count -= len(piece)
        writer.write(piece)
        await writer.drain()
        if pause:
            await asyncio.sleep(0.02)


async def serve(reader, writer, upstream, faults, log, keys):
    first, headers, length = await head(reader)
    method, path, _ = first.decode().split(" ")
    if path == "/keys":
        body = await asyncio.to_thread(keys)
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        return await writer.drain()
    fault = faults.take(method)
    print(method, path.split("?")[0], fault or "-", file=log, flush=True)
    if fault == "away":
        return cut(writer)
    if fault == "slow_down":
        writer.write(error(503, "SlowDown"))
        return await writer.drain()
    length = max(0, length)
    if fault == "drop" and method == "PUT":
        await reader.readexactly(length // 2)
        return cut(writer)
    upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", upstream)
    try:
        upstream_writer.write(b"\r\n".join([first] + headers + [b"Connection: close", b"", b""]))
        await pass_on(reader, upstream_writer, length, fault == "slow")
        first, headers, length = await head(upstream_reader)
        if fault == "lost":
            return cut(writer)
        if fault == "not_found":
            writer.write(error(404, "NoSuchKey"))
            return await writer.drain()
        status = first.split(b" ")[1]
        if method == "HEAD" or status in (b"204", b"304"):
            length = 0
        writer.write(b"\r\n".join([first] + headers + [b"Connection: close", b"", b""]))
        if fault == "drop":
            await pass_on(upstream_reader, writer, length // 2, False)
            return cut(writer)
        await pass_on(upstream_reader, writer, length, fault == "slow")
    finally:
        upstream_writer.close()


async def run(upstream, directory, keys):
    faults = Faults(directory)
    log = open(directory + "/requests", "a")

    async def connected(reader, writer):
        try:
            await serve(reader, writer, upstream, faults, log, keys)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=1 << 18)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    await asyncio.to_thread(sys.stdin.read)
