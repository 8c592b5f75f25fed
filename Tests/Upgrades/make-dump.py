#!/usr/bin/env python3
"""Writes a database as a version of Parley leaves it, for the tests of later versions.

    Tests/Upgrades/make-dump.py PARLEY FOLDER

PARLEY is the executable. It serves with a PostgreSQL of its own in a temporary directory. People use all that has tables
of its own; then FOLDER gets VERSION.dump (pg_dump -Fc) and VERSION.json (what a test looks for in the database). A release
commits both to Tests/Upgrades. They stay there for ever: each later version migrates them.
"""

import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

ADMIN = "token-of-the-upgrade-test"


class Service:
    """A node with a database of its own."""

    def __init__(self, executable, folder):
        environment = {"PATH": os.environ["PATH"], "PARLEY_DATA_DIR": folder + "/data", "PARLEY_HTTP_PORT": "0",
                       "PARLEY_ADMIN_TOKEN": ADMIN, "PARLEY_RATE_LIMITS": "off", "PARLEY_PASSWORD_COST": "12",
                       "PARLEY_LOG_LEVEL": "error"}
        self.process = subprocess.Popen([executable, "serve"], env=environment, cwd=folder, text=True,
                                        stdout=subprocess.PIPE)
        line = self.process.stdout.readline()
        found = re.search(r"https?://\S+", line)
        if not found:
            sys.exit(f"make-dump: the node did not start: {line}")
        self.address = found[0]
        self.socket = folder + "/data/socket"

    def call(self, method, path, body=None, token=ADMIN):
        """Returns the answer's JSON, or its bytes if the body is bytes. An answer that is no success ends the script."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, method=method)
        request.add_header("Authorization", "Bearer " + token)
        request.add_header("Content-Type", "application/octet-stream" if isinstance(body, bytes) else "application/json")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            sys.exit(f"make-dump: {method} {path}: {error.code} {error.read().decode()}")
        return json.loads(text) if text else None

    def register(self, name):
        password = f"the password of {name}"
        answer = self.call("POST", "/v1/auth/register",
                           {"username": name.lower(), "password": password, "name": name}, token="")
        return {"id": answer["user"]["id"], "username": name.lower(), "password": password,
                "token": answer["session"]["token"]}

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


def use(service):
    """People use the service. Returns what is in the database afterwards."""
    ann, ben, cleo = (service.register(name) for name in ["Ann", "Ben", "Cleo"])

    def thread(kind, by, **more):
        return service.call("POST", "/v1/threads", {"kind": kind, **more}, by["token"])["id"]

    def say(thread, by, text, **more):
        body = {"payload": {"text": text}, **more}
        return service.call("POST", f"/v1/threads/{thread}/messages", body, by["token"])["id"]

    direct = thread("direct", ann, members=[ben["id"]])
    group = thread("group", ann, title="Group", members=[ben["id"], cleo["id"]], custom={"order": 7}, labels=["shop"])
    room = thread("room", cleo, title="Kitchen")
    service.call("PATCH", f"/v1/threads/{room}", {"topic": "What is for lunch"}, cleo["token"])
    service.call("PUT", f"/v1/threads/{room}/members/me", {"status": "joined"}, ben["token"])
    say(direct, ann, "first")
    for number in range(30):
        say(group, [ann, ben, cleo][number % 3], f"message {number}")
    edited = say(group, ann, "before the edit")
    service.call("PATCH", f"/v1/threads/{group}/messages/{edited}", {"payload": {"text": "after the edit"}},
                 ann["token"])
    withdrawn = say(group, ann, "withdrawn")
    service.call("DELETE", f"/v1/threads/{group}/messages/{withdrawn}", None, ann["token"])
    service.call("PUT", f"/v1/threads/{group}/messages/{edited}/reactions/%F0%9F%91%8D", None, ben["token"])
    file = os.urandom(300_000)
    attachment = service.call("POST", "/v1/attachments?name=file.bin", file, ann["token"])["id"]
    service.call("POST", f"/v1/threads/{direct}/messages",
                 {"payload": {"text": "a file", "attachments": [{"id": attachment}]}}, ann["token"])
    service.call("PUT", f"/v1/threads/{direct}/receipts", {"read": 1}, ben["token"])
    service.call("PATCH", f"/v1/threads/{room}/settings", {"archived": True}, ben["token"])
    service.call("POST", "/v1/reports", {"user_id": cleo["id"], "reason": "for the test"}, ann["token"])
    service.call("POST", "/v1/admin/invitations", {})
    service.call("POST", "/v1/admin/keys", {"name": "shop", "scopes": ["audit"]})
    service.call("PUT", "/v1/admin/consumers/shop", {})
    cursor = service.call("GET", "/v1/inbox", None, ben["token"])["cursor"]
    unseen = say(room, cleo, "after the cursor")
    return {
        "people": [ann, ben, cleo],
        "histories": {id: service.call("GET", f"/v1/threads/{id}/messages?limit=100", None, cleo["token"]
                                       if id == room else ann["token"])["messages"] for id in [direct, group, room]},
        "unread": {p["username"]: service.call("GET", "/v1/inbox", None, p["token"])["unread_total"]
                   for p in [ann, ben, cleo]},
        # Ben's poll from here returns this message next.
        "cursor": cursor, "unseen": unseen,
        "attachment": {"id": attachment, "bytes": len(file), "head": file[:32].hex()},
    }


def program(name):
    """The path of a program of PostgreSQL; the newest version."""
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), key=lambda path: int(path.split("/")[4]))
    return found[-1] if found else shutil.which(name) or sys.exit(f"make-dump: {name} is not installed.")


def main(executable, folder):
    version = subprocess.run([executable, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()[-1]
    with tempfile.TemporaryDirectory() as temporary:
        # Root's PostgreSQL runs as another user.
        os.chmod(temporary, 0o755)
        service = Service(executable, temporary)
        try:
            facts = use(service)
            connection = ["-h", service.socket, "-U", "parley", "-d", "parley"]
            rows = subprocess.run(
                [program("psql"), *connection, "-XAtc",
                 "select json_agg(json_build_object('version', version, 'name', name, 'checksum', checksum) "
                 "order by version) from schema_migrations"], check=True, stdout=subprocess.PIPE).stdout
            facts = {"version": version, "migrations": json.loads(rows), **facts}
            subprocess.run([program("pg_dump"), *connection, "-Fc", "-Z", "9", "-f", f"{folder}/{version}.dump"],
                           check=True)
        finally:
            service.stop()
    with open(f"{folder}/{version}.json", "w") as file:
        json.dump(facts, file, indent=1)
    print(f"{folder}/{version}.dump")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
