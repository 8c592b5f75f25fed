"""An endpoint for webhooks on a port of 127.0.0.1, for tests: it verifies signatures, and misbehaves as it is told.

Prints a line of JSON when it is ready and for each request; reads a command from each line, and ends when its standard
input does. `webhook_sink.py verify` instead verifies one request, which it reads as JSON."""

import asyncio
import json
import random
import sys
import time

try:
    from standardwebhooks import Webhook
except ImportError:
    Webhook = None


def say(**what):
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def refusal(secret, headers, body):
    """Why a secret does not verify a request; None if it does."""
    try:
        Webhook(secret).verify(body, headers)
        return None
    except Exception as error:
        return f"{error!r}, signed {time.time() - float(headers.get('webhook-timestamp', 'nan')):.0f} s ago"


class Sink:
    def __init__(self, port, seed):
        self.port = port
        self.server = None
        self.writers = set()
        self.behaviours = {}
        self.secrets = {}
        # Paths that answer a command with its text.
        self.echoes = set()
        self.random = random.Random(seed)

    async def open(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", self.port)

    def close(self):
        self.server.close()
        for writer in list(self.writers):
            writer.transport.abort()

    def behaviour(self, path, body):
        behaviours = [behaviour for behaviour in self.behaviours.get(path, []) if behaviour["times"] > 0]
        self.behaviours[path] = behaviours
        behaviour = next((behaviour for behaviour in behaviours if (behaviour.get("text") or "") in body), None)
        if behaviour is None:
            return {"kind": "answer", "status": 200}
        behaviour["times"] -= 1
        if behaviour["kind"] != "faults":
            return behaviour
        if self.random.random() >= behaviour["share"]:
            return {"kind": "answer", "status": 200}
        return self.random.choice([
            {"kind": "answer", "status": 500}, {"kind": "answer", "status": 503},
            {"kind": "answer", "status": 429, "headers": {"retry-after": "1"}}, {"kind": "drop"}, {"kind": "lost"},
            {"kind": "slow", "seconds": 0.3}])

    async def serve(self, reader, writer):
        self.writers.add(writer)
        try:
            while await self.exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.writers.discard(writer)
            writer.transport.abort()

    async def exchange(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        _, path, _ = head[0].split(" ")
        headers = {}
        for line in head[1:]:
            if line:
                name, value = line.split(":", 1)
                headers[name.lower()] = value.strip()
        body = (await reader.readexactly(int(headers.get("content-length", 0)))).decode()
        behaviour = self.behaviour(path, body)
        if behaviour["kind"] == "hang":
            self.report(path, headers, body, None)
            # No answer, until the client gives up.
            await reader.read()
            return False
        if behaviour["kind"] == "drop":
            self.report(path, headers, body, None)
            return False
        if behaviour["kind"] == "slow":
            await asyncio.sleep(behaviour["seconds"])
        status = behaviour.get("status", 200)
        self.report(path, headers, body, status)
        if behaviour["kind"] == "lost":
            return False
        answer = behaviour.get("body") or ""
        if path in self.echoes and status == 200 and "body" not in behaviour:
            answer = json.dumps({"text": "echo " + json.loads(body)["data"]["text"]})
        lines = [f"HTTP/1.1 {status} X", f"content-length: {len(answer.encode())}"]
        lines += [f"{name}: {value}" for name, value in (behaviour.get("headers") or {}).items()]
        writer.write("\r\n".join(lines + ["", answer]).encode())
        await writer.drain()
        return True

    def report(self, path, headers, body, status):
        secrets = self.secrets.get(path)
        verified, refusals = None, []
        if Webhook and secrets:
            refusals = [reason for secret in secrets if (reason := refusal(secret, headers, body))]
            verified = not refusals
        say(event="request", request={
            "path": path, "id": headers.get("webhook-id"), "status": status, "verified": verified,
            "refusals": refusals, "body": body, "time": time.time(),
            "signatures": len(headers.get("webhook-signature", "").split())})

    async def obey(self, command):
        path = command.get("path")
        match command["do"]:
            case "behaviour":
                self.behaviours.setdefault(path, []).append(
                    {**command["behaviour"], "times": command["times"], "text": command.get("text")})
            case "restore":
                self.behaviours.pop(path, None)
            case "secrets":
                self.secrets[path] = command["secrets"]
            case "echo":
                self.echoes.add(path)
            case "open":
                await self.open()
            case "close":
                self.close()


async def main():
    sink = Sink(int(sys.argv[1]), int(sys.argv[2]))
    await sink.open()
    say(event="ready")
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        command = json.loads(line)
        await sink.obey(command)
        say(event="done", number=command["number"])


if sys.argv[1:] == ["verify"]:
    request = json.load(sys.stdin)
    print(json.dumps(refusal(request["secret"], request["headers"], request["body"]) is None))
else:
    asyncio.run(main())
