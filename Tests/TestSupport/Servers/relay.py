"""A mail relay for tests, on free ports of 127.0.0.1: aiosmtpd, which treats a mail as its recipient's name says.

Run with a certificate and its key. Prints a line of JSON when it is ready and for each thing that happens, and ends when
its standard input does."""

import asyncio
import collections
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

seen = collections.Counter()


def say(**what):
    print(json.dumps(what), flush=True)


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        seen[address] += 1
        first = seen[address] == 1
        kind = address.split("-")[0]
        say(event="recipient", to=address)
        if kind == "hang" and first:
            await asyncio.sleep(600)
        if kind == "busy" and first:
            return "450 4.2.0 Not now"
        if kind == "full":
            return "450 4.2.2 Never now"
        if kind == "gone":
            return "550 5.1.1 Nobody here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        address = envelope.rcpt_tos[0]
        first = seen[address] == 1
        kind = address.split("-")[0]
        if kind == "shut" and first:
            return "421 4.3.2 Going down"
        if kind == "drop" and first:
            server.transport.abort()
            return "250 Never said"
        if kind == "slow":
            # Shorter than a stopping node waits.
            await asyncio.sleep(0.3)
        if kind == "spam":
            return "554 5.7.1 Not this"
        login = session.auth_data.login.decode() if session.auth_data else None
        content = envelope.content.decode("ascii")
        tls = server.transport.get_extra_info("ssl_object") is not None
        mail = {"sender": envelope.mail_from, "to": address, "tls": tls, "login": login, "content": content}
        say(event="mail", mail=mail)
        return "250 Taken"


def authenticate(server, session, envelope, mechanism, data):
    is_right = data.login == b"parley" and data.password == b"s3cret@:/"
    return AuthResult(success=is_right, handled=False, auth_data=data)


async def main():
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    kinds = {
        "startTLS": ({"tls_context": context, "require_starttls": True, "auth_required": True}, None),
        "tls": ({"auth_require_tls": False}, context),
        "plain": ({"auth_require_tls": False}, None),
    }
    loop = asyncio.get_running_loop()
    ports = {}
    for kind, (options, tls) in kinds.items():
        def protocol(options=options):
            return SMTP(Handler(), authenticator=authenticate, hostname="relay.example", **options)
        server = await loop.create_server(protocol, "127.0.0.1", 0, ssl=tls)
        ports[kind] = server.sockets[0].getsockname()[1]
    say(event="ready", ports=ports)
    await loop.run_in_executor(None, sys.stdin.read)


asyncio.run(main())
