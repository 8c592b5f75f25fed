"""PostgreSQL, nodes and the dev server as processes of the tests' own."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def eventually(what, condition, seconds=30):
    """Returns the first true value of the condition; fails after the time."""
    end = time.monotonic() + seconds
    while True:
        if value := condition():
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.05)


class Postgres:
    """A PostgreSQL in a temporary directory, on a socket in it. PostgreSQL refuses to run as root."""

    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="parley-browser-"))
        self.user = {"user": "postgres"} if os.getuid() == 0 else {}
        if self.user:
            shutil.chown(self.directory, "postgres")
        self.data = self.directory / "data"
        self.run("initdb", "-D", self.data, "-U", "parley", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
        self.process = subprocess.Popen(
            [self.program("postgres"), "-D", self.data, "-k", self.directory, "-c", "listen_addresses=",
             "-c", "fsync=off", "-c", "autovacuum=off", "-c", "max_connections=60"],
            stdout=subprocess.DEVNULL, stderr=open(self.directory / "log", "wb"), **self.user)
        eventually("PostgreSQL to start", lambda: not subprocess.run(
            [self.program("pg_isready"), "-q", "-h", self.directory], check=False).returncode)

    @staticmethod
    def program(name):
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda p: int(p.parts[4]))
        return str(found[-1]) if found else name

    def run(self, name, *arguments):
        subprocess.run([self.program(name), *map(str, arguments)], check=True, stdout=subprocess.DEVNULL,
                       cwd=self.directory, **self.user)

    def database(self, name):
        self.run("createdb", "-h", self.directory, "-U", "parley", name)
        return f"host={self.directory} user=parley dbname={name}"

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(10)
        shutil.rmtree(self.directory, ignore_errors=True)


class Node:
    """`parley serve`, which may be killed and started again on its port."""

    def __init__(self, database, **settings):
        self.port = free_port()
        self.environment = os.environ | {
            "PARLEY_DATABASE_URL": database, "PARLEY_HTTP_PORT": str(self.port), "PARLEY_RATE_LIMITS": "off",
            "PARLEY_PASSWORD_COST": "12",
            "PARLEY_WEBPUSH_SUBJECT": "mailto:ops@example.org", "PARLEY_PUSH_ALLOW_PRIVATE": "true", **settings}
        self.process = None
        self.start()

    def start(self):
        executable = os.environ.get("PARLEY_EXECUTABLE", ROOT / ".build/release/parley")
        self.process = subprocess.Popen([executable, "serve"], env=self.environment, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        assert "listening" in line, f"the node did not start: {line}"

    def kill(self):
        """Ends the node as a power cut does."""
        self.process.kill()
        self.process.wait()

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(15)

    def metric(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=10) as answer:
            text = answer.read().decode()
        found = re.search(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)
        return float(found.group(1)) if found else 0.0


class DevServer:
    """The page from its sources, in front of a node."""

    def __init__(self, page, node):
        self.port = free_port()
        self.process = subprocess.Popen(
            [ROOT / "Sources/WebClient/dev-server.py", "--port", str(self.port), "--node", str(node.port),
             "--page", page], stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def end(self):
        self.process.terminate()
        self.process.wait(5)


class Relay:
    """The mail relay of all tests (`TestSupport/Servers/relay.py`), and the mails that it has accepted."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="parley-relay-")
        files = [f"{self.directory}/certificate.pem", f"{self.directory}/key.pem"]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=relay", "-days", "2",
                        "-out", files[0], "-keyout", files[1]], check=True, stderr=subprocess.DEVNULL)
        # Debian's Python has the library of the relay.
        self.process = subprocess.Popen(["/usr/bin/python3", ROOT / "Tests/TestSupport/Servers/relay.py", *files],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = json.loads(self.process.stdout.readline())["ports"]["plain"]
        self.mails = []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            if mail := json.loads(line).get("mail"):
                self.mails.append(mail)

    def code(self, address, count=1):
        """The code in an address's mail of this number."""
        def mails():
            return [mail["content"] for mail in self.mails if mail["to"] == address]

        eventually(f"mail {count} to {address}", lambda: len(mails()) >= count)
        return re.search(r"\r\n    ([0-9]{6})\r\n", mails()[count - 1]).group(1)

    def end(self):
        self.process.stdin.close()
        self.process.wait(10)
        shutil.rmtree(self.directory, ignore_errors=True)
