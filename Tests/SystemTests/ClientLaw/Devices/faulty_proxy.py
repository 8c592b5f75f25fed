#!/usr/bin/env python3
"""Forwards HTTP requests to one of several nodes, and makes random faults on the way.

    faulty_proxy.py --nodes 8080,8081 --seed 7 --share 0.2

Prints {"port": N}. Reads commands as lines of JSON and answers each with one line:
  {"id": 1, "do": "faults", "on": false}   switches the faults off or on
  {"id": 2, "do": "report"}                answers {"id": 2, "requests": N, "faults": {kind: count}, "statuses": {status: count},
    "refusals": {call and code: count}}

Kinds of faults. Each may happen to any request; the server may have done what was asked in all but the first three:
  refused   the connection is closed before the request reaches a node
  busy      the answer is 503 or 429 with Retry-After: 1, and no node has seen the request
  gateway   the answer is 502 with a page of HTML, and no node has seen the request
  slow      the request waits for up to 2 s, rarely 10 s, on its way to the node
  late      the answer waits for up to 2 s
  lost      the node answers, and the connection is closed instead
  torn      the node answers, and the connection is closed in the middle of the answer's body. (Not in its head: there
            Foundation on Linux ends the process, "Transfer completed, but there's no response.")
  doubled   the request is sent twice, and one of the two answers is returned
  overtaken the answer is held until a later request of the same device has been answered, for up to 3 s
  stale     a poll is answered as an earlier poll with the same cursor was, if there was one
A node that refuses connections makes the answer 502, as a load balancer would.
"""

import argparse
import asyncio
import collections
import json
import random
import re
import sys

# The weights of the kinds; `stale` is tried apart, because it needs an earlier answer.
KINDS = {
    "refused": 2, "busy": 2, "gateway": 1, "slow": 3, "late": 3, "lost": 3, "torn": 2, "doubled": 3, "overtaken": 3,
}
STALE_SHARE = 0.5
DELAY_MAX_SECONDS = 2
LONG_DELAY_SECONDS = 10
LONG_DELAY_SHARE = 0.02
HOLD_MAX_SECONDS = 3
# How often a waiting request looks whether its client has gone.
LOOK_SECONDS = 0.5
STORED_POLLS_MAX = 1_000
GATEWAY_PAGE = b"<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"


class Gone(Exception):
    """The client has closed its connection, or a fault closes it."""


class Message:
    """A request or an answer: the first line, the header lines, and the whole body."""

    def __init__(self, first, headers, body):
        self.first, self.headers, self.body = first, headers, body

    @classmethod
    async def read(cls, reader, answers_head=False):
        head = (await reader.readuntil(b"\r\n\r\n"))[:-4]
        first, *headers = head.split(b"\r\n")
        message = cls(first, headers, b"")
        if not answers_head and message.status not in (b"204", b"304"):
            message.body = await reader.readexactly(int(message.header(b"content-length") or 0))
        return message

    @property
    def method(self):
        """Of a request."""
        return self.first.split(b" ")[0]

    @property
    def path(self):
        """Of a request, with the query."""
        return self.first.split(b" ")[1]

    @property
    def status(self):
        """Of an answer."""
        return self.first.split(b" ")[1]

    def header(self, name):
        values = (line.partition(b":") for line in self.headers)
        return next((value.strip() for key, _, value in values if key.lower() == name), None)

    @property
    def closes(self):
        return (self.header(b"connection") or b"").lower() == b"close"

    def bytes(self):
        return b"\r\n".join([self.first, *self.headers, b"", b""]) + self.body


def shape(path):
    """A path without ids and query."""
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "_", path.decode().partition("?")[0])


def code(answer):
    try:
        return json.loads(answer.body).get("code")
    except ValueError:
        return "-"


def made(status, content_type, body, *headers):
    length = b"Content-Length: %d" % len(body)
    return Message(b"HTTP/1.1 " + status, [b"Content-Type: " + content_type, length, *headers], body)


def problem(status, title, code):
    document = {"type": f"urn:parley:problem:{code}", "title": title, "status": status, "code": code}
    body = json.dumps(document | {"detail": "The faulty proxy made this answer."}).encode()
    return made(f"{status} {title}".encode(), b"application/problem+json", body, b"Retry-After: 1")


def bad_gateway():
    return made(b"502 Bad Gateway", b"text/html", GATEWAY_PAGE)


class Node:
    """A node, and the connections to it that wait for a next request."""

    def __init__(self, port):
        self.port, self.idle = port, []

    async def answer(self, request):
        """Sends a request to the node. Raises OSError if the node is down, EOFError if it broke off."""
        connection = self.idle.pop() if self.idle else None
        # A node closes connections that wait for long, and all when it ends.
        if connection is None or connection[0].at_eof():
            connection = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = connection
        try:
            writer.write(request.bytes())
            answer = await Message.read(reader, request.method == b"HEAD")
            while answer.status[:1] == b"1":
                answer = await Message.read(reader, request.method == b"HEAD")
        except BaseException:
            writer.transport.abort()
            raise
        if answer.closes:
            writer.close()
        else:
            self.idle.append(connection)
        return answer


class Proxy:
    def __init__(self, nodes, seed, share):
        self.nodes = [Node(port) for port in nodes]
        self.random = random.Random(seed)
        self.share = share
        self.has_faults = True
        self.requests = 0
        self.faults, self.statuses, self.refusals = (collections.Counter() for _ in range(3))
        # By device, which is known by its token: set when a later answer has passed.
        self.held = collections.defaultdict(list)
        self.polls = collections.OrderedDict()

    # One connection.

    async def serve(self, reader, writer):
        try:
            while True:
                request = await Message.read(reader)
                self.requests += 1
                if not await self.respond(request, reader, writer):
                    break
        except (Gone, OSError, EOFError):
            writer.transport.abort()
        finally:
            writer.close()

    async def respond(self, request, reader, writer):
        """Answers one request. Returns whether the connection stays open."""
        kind = self.draw()
        token = request.header(b"authorization")
        answer, torn = await self.while_connected(reader, self.answer(request, kind, token))
        if torn:
            writer.write(answer.bytes()[: -len(answer.body) // 2])
            await writer.drain()
            raise Gone
        writer.write(answer.bytes())
        await writer.drain()
        self.statuses[answer.status.decode()] += 1
        if answer.status[:1] == b"4":
            self.refusals[f"{request.method.decode()} {shape(request.path)} {code(answer)}"] += 1
        for event in self.held.pop(token, []):
            event.set()
        return not (answer.closes or request.closes)

    async def while_connected(self, reader, work):
        """Runs `work` as long as the client is connected."""
        task = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait({task}, timeout=LOOK_SECONDS))[0]:
                if reader.at_eof():
                    raise Gone
            return task.result()
        finally:
            task.cancel()

    # Faults.

    def draw(self):
        if not self.has_faults or self.random.random() >= self.share:
            return None
        return self.random.choices(list(KINDS), KINDS.values())[0]

    async def answer(self, request, kind, token):
        """The answer that the client gets, and whether it is torn."""
        if stored := self.stale_answer(request, token):
            return stored, False
        if kind:
            self.faults[kind] += 1
        if kind == "refused":
            raise Gone
        if kind == "busy":
            if self.random.random() < 0.5:
                return problem(503, "Service Unavailable", "overloaded"), False
            return problem(429, "Too Many Requests", "rate_limited"), False
        if kind == "gateway":
            return bad_gateway(), False
        if kind == "slow":
            await self.delay()
        if kind == "doubled":
            # Half of the copies reach a node later, perhaps after other requests of the device.
            pause = self.random.choice([0, self.random.uniform(0, DELAY_MAX_SECONDS)])
            answers = await asyncio.gather(self.forward(request), self.forward(request, pause))
            answer = self.random.choice(answers)
        else:
            answer = await self.forward(request)
        self.store_poll(request, token, answer)
        if kind == "lost":
            raise Gone
        if kind == "late":
            await self.delay()
        if kind == "overtaken":
            await self.hold(token)
        return answer, kind == "torn" and len(answer.body) > 1

    async def forward(self, request, pause=0):
        await asyncio.sleep(pause)
        node = self.random.choice(self.nodes)
        try:
            return await node.answer(request)
        except ConnectionRefusedError:
            self.faults["away"] += 1
            return bad_gateway()

    async def delay(self):
        is_long = self.random.random() < LONG_DELAY_SHARE
        await asyncio.sleep(LONG_DELAY_SECONDS if is_long else self.random.uniform(0, DELAY_MAX_SECONDS))

    async def hold(self, token):
        passed = asyncio.Event()
        self.held[token].append(passed)
        try:
            await asyncio.wait_for(passed.wait(), HOLD_MAX_SECONDS)
        except asyncio.TimeoutError:
            pass

    def poll_key(self, request, token):
        query = request.path.partition(b"?")[2].split(b"&") if request.path.startswith(b"/v1/sync?") else []
        cursor = next((part for part in query if part.startswith(b"cursor=")), None)
        return cursor and (token, cursor)

    def stale_answer(self, request, token):
        stored = self.polls.get(self.poll_key(request, token)) if self.has_faults else None
        if stored is None or self.random.random() >= STALE_SHARE:
            return None
        self.faults["stale"] += 1
        return stored

    def store_poll(self, request, token, answer):
        key = self.poll_key(request, token)
        if key is None or answer.status != b"200":
            return
        self.polls[key] = answer
        if len(self.polls) > STORED_POLLS_MAX:
            self.polls.popitem(last=False)

    # Commands.

    def command(self, line):
        order = json.loads(line)
        if order["do"] == "faults":
            self.has_faults = order["on"]
        return {"id": order["id"], "requests": self.requests, "faults": self.faults, "statuses": self.statuses,
                "refusals": self.refusals}


async def run(arguments):
    proxy = Proxy([int(port) for port in arguments.nodes.split(",")], arguments.seed, arguments.share)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, limit=1 << 20, backlog=1_000)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(proxy.command(line)), flush=True)


def main():
    parser = argparse.ArgumentParser(description="Forwards HTTP requests to nodes, and makes random faults.")
    parser.add_argument("--nodes", required=True, help="ports of 127.0.0.1, separated by commas")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=0.2, help="the share of requests with a fault")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
