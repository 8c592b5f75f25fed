"""Push services for tests, on ports of 127.0.0.1, with TLS: they check requests like the real services, and can misbehave.

Run with a directory that has certificate.pem and key.pem, and gets apns.p8 and fcm.json, and four ports. Prints a line of
JSON when it is ready and for each event; reads a command from each line, and ends when its standard input does."""

import asyncio
import json
import ssl
import sys

from connections import Connection
from services import APNs, FCM, OAuth, WebPush


def say(**what):
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


class Sinks:
    def __init__(self, directory, ports):
        apns, oauth, fcm, webpush = ports
        self.directory = directory
        self.services = {}
        for service in (APNs(say, apns, directory), OAuth(say, oauth, directory), WebPush(say, webpush)):
            self.services[service.name] = service
        self.services["fcm"] = FCM(say, fcm, self.services["oauth"])
        self.servers = {}

    async def open(self, name):
        service = self.services[name]
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(f"{self.directory}/certificate.pem", f"{self.directory}/key.pem")
        context.set_alpn_protocols(service.protocols)
        self.servers[name] = await asyncio.get_running_loop().create_server(
            lambda: Connection(service), "127.0.0.1", service.port, ssl=context)

    def close(self, name):
        self.servers[name].close()
        self.drop(name)

    def drop(self, name):
        for connection in list(self.services[name].connections):
            connection.abort()

    async def obey(self, command):
        service, name = self.services.get(command.get("service")), command.get("service")
        match command["do"]:
            case "behaviour":
                service.behaviours.append({**command["behaviour"], "token": command.get("token"), "times": command["times"]})
            case "restore":
                service.behaviours.clear()
            case "streams":
                service.streams, service.streams_at_first = command["count"], command.get("first")
            case "open":
                await self.open(name)
            case "close":
                self.close(name)
            case "drop":
                self.drop(name)
            case "expire":
                self.services["oauth"].tokens.clear()
            case "subscribe":
                return {"subscription": self.services["webpush"].subscribe()}
        return {}


async def main():
    sinks = Sinks(sys.argv[1], [int(port) for port in sys.argv[2:]])
    for name in sinks.services:
        await sinks.open(name)
    say(event="ready")
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        command = json.loads(line)
        say(event="done", number=command["number"], **await sinks.obey(command))


asyncio.run(main())
