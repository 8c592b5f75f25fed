#!/usr/bin/env python3
"""Measures a node when all its clients return after it was away, by the waits of the client guide.

    RUN="$PWD/Tests/Measure/returning.py 10000 20" Tests/Measure/bench.sh

Starts a node beside those of bench.sh, on the same PostgreSQL. Each client polls with a session of its own. The node is
killed, stays away for some seconds and starts again. A client tries as docs/client-guide.md says, and its first poll does
not wait. Then PostgreSQL is killed and all connections break: the node refuses what it could answer. Prints what the node
got in each second, how long the first answers took, and the node's CPU time. WATCHED=no: nobody looks at the clients.
"""

import base64
import collections
import hashlib
import heapq
import json
import multiprocessing
import os
import random
import selectors
import signal
import socket
import subprocess
import sys
import time
import uuid
import zlib

REPOSITORY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(REPOSITORY, "Tests", "ClientVectors"))
from reference_client import wait_after

PORT = 18099
PROCESSES = 2


def make_sessions(count, database):
    """Inserts people with a session each, and returns the tokens."""
    rows, tokens = [], []
    for number in range(count):
        secret = os.urandom(32)
        check = zlib.crc32(secret).to_bytes(4, "big")
        tokens.append("parley_" + base64.urlsafe_b64encode(secret + check).decode())
        digest = hashlib.sha256(secret).hexdigest()
        rows.append(f"{uuid.uuid4()},{uuid.uuid4()},{uuid.uuid4().hex[:24]},\\x{digest}")
    script = (
        "create temporary table g (id uuid, session uuid, name text, digest bytea);\n"
        "copy g from stdin with (format csv);\n" + "\n".join(rows) + "\n\\.\n"
        "insert into users (id, username, username_key, name, created_at)"
        " select id, name, name, name, date_trunc('milliseconds', clock_timestamp()) from g;\n"
        "insert into sessions (id, user_id, token_digest, device_name, created_at, last_used_at)"
        " select session, id, digest, 'measure', date_trunc('milliseconds', clock_timestamp()),"
        " date_trunc('milliseconds', clock_timestamp()) from g;\n"
    )
    subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", database], input=script, text=True, check=True)
    return tokens


def start_node(database):
    program = os.environ.get("PARLEY_EXECUTABLE", os.path.join(REPOSITORY, ".build/release/parley"))
    settings = {"PARLEY_HTTP_PORT": str(PORT), "PARLEY_LOG_LEVEL": "critical", "PARLEY_DATABASE_URL": database}
    # All clients have one address here.
    settings |= {"PARLEY_RATE_LIMITS": "off"}
    return subprocess.Popen([program, "serve"], env=os.environ | settings, stdout=subprocess.DEVNULL)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Swarm:
    """Many clients in one process."""

    def __init__(self, tokens, reports, cut):
        self.cut, self.is_cut = cut, False
        self.selector = selectors.EpollSelector()
        self.reports = reports
        self.timers = []
        self.clients = [Client(self, token) for token in tokens]

    def at(self, moment, work):
        heapq.heappush(self.timers, (moment, id(work), work))

    def run(self):
        # The first connections come within 10 s.
        for client in self.clients:
            self.at(time.monotonic() + random.uniform(0, 10), client.ask)
        while True:
            now = time.monotonic()
            while self.timers and self.timers[0][0] <= now:
                heapq.heappop(self.timers)[2]()
            pause = min(0.2, max(0, self.timers[0][0] - now)) if self.timers else 0.2
            if self.cut.is_set() and not self.is_cut:
                self.is_cut = True
                for client in [key.data for key in self.selector.get_map().values()]:
                    client.fail(0, None)
            for key, _ in self.selector.select(pause):
                key.data.ready()
            self.reports.flush()


class Client:
    def __init__(self, swarm, token):
        self.swarm, self.token = swarm, token
        self.socket, self.cursor = None, ""
        self.failures, self.is_connected, self.answer = 0, False, b""

    def ask(self):
        """The first poll after a failure does not wait."""
        self.began = time.monotonic()
        wait = 25 if self.is_connected else 0
        cursor = f"cursor={self.cursor}&" if self.cursor else ""
        self.request = (
            f"GET /v1/sync?{cursor}wait={wait} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.token}\r\n\r\n"
        ).encode()
        if self.socket:
            self.socket.send(self.request)
            return
        self.swarm.reports.count("tries")
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.socket.connect_ex(("127.0.0.1", PORT))
        self.swarm.selector.register(self.socket, selectors.EVENT_WRITE, self)

    def ready(self):
        try:
            if self.request:
                error = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if error:
                    raise OSError(error, "")
                self.socket.send(self.request)
                self.request = None
                self.swarm.selector.modify(self.socket, selectors.EVENT_READ, self)
                return
            part = self.socket.recv(65536)
            if not part:
                raise OSError
        except BlockingIOError:
            return
        except OSError:
            return self.fail(0, None)
        self.answer += part
        head, found, body = self.answer.partition(b"\r\n\r\n")
        if not found:
            return
        lines = head.decode().lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:])
        if len(body) < int(headers["content-length"]):
            return
        self.answer = b""
        status = int(lines[0].split()[1])
        if status != 200:
            return self.fail(status, int(headers.get("retry-after", 0)))
        if not self.is_connected:
            self.swarm.reports.returned(time.monotonic() - self.began)
        self.is_connected, self.failures = True, 0
        self.cursor = json.loads(body)["cursor"]
        self.ask()
        self.request = None

    def fail(self, status, retry_after):
        self.swarm.reports.count(f"refused {status}" if status else "no answer")
        self.swarm.selector.unregister(self.socket)
        self.socket.close()
        self.socket, self.is_connected, self.answer = None, False, b""
        self.failures += 1
        wait = wait_after(self.failures, status, retry_after, random.random(), WATCHED)
        self.swarm.at(time.monotonic() + wait, self.ask)


class Reports:
    """Counts by second, sent to the main process."""

    def __init__(self, queue):
        self.queue = queue
        self.reset()

    def reset(self):
        self.counts, self.latencies, self.sent = collections.Counter(), [], time.monotonic()

    def count(self, what):
        self.counts[int(time.monotonic()), what] += 1

    def returned(self, latency):
        self.count("returned")
        self.latencies.append((time.monotonic(), latency))

    def flush(self):
        if time.monotonic() > self.sent + 0.5:
            self.queue.put((self.counts, self.latencies))
            self.reset()


def drain(queue, counts, latencies):
    while not queue.empty():
        more, times = queue.get()
        counts.update(more)
        latencies += times


def returned(counts, since):
    return sum(number for (second, what), number in counts.items() if what == "returned" and second >= since)


def report(title, counts, latencies, since, cpu):
    print(f"\n{title}")
    seconds = sorted({second for second, _ in counts if second >= since})
    kinds = sorted({what for second, what in counts if second >= since})
    for second in seconds:
        print(f"  {second - since:3} s " + "  ".join(f"{kind} {counts[second, kind]}" for kind in kinds))
    times = sorted(latency for moment, latency in latencies if moment >= since)
    if times:
        place = [times[int(share * (len(times) - 1))] * 1000 for share in (0.5, 0.99, 1)]
        print("  first answers after: median %.0f ms, p99 %.0f ms, longest %.0f ms" % tuple(place))
    print(f"  CPU time of the node: {cpu:.1f} s")


def main(count, away):
    database = os.environ["PARLEY_DATABASE_URL"]
    tokens = make_sessions(count, database)
    node = start_node(database)
    queue, cut = multiprocessing.Queue(), multiprocessing.Event()
    workers = [
        multiprocessing.Process(target=lambda part: Swarm(part, Reports(queue), cut).run(), args=(tokens[n::PROCESSES],))
        for n in range(PROCESSES)
    ]
    for worker in workers:
        worker.start()
    counts, latencies = collections.Counter(), []
    try:
        while returned(counts, 0) < count:
            time.sleep(0.2)
            drain(queue, counts, latencies)
        time.sleep(5)
        drain(queue, counts, latencies)
        node.kill()
        node.wait()
        killed = time.monotonic()
        time.sleep(away)
        drain(queue, counts, latencies)
        report(f"{count} clients whose node is away", counts, latencies, int(killed), 0)
        back = time.monotonic()
        node = start_node(database)
        while returned(counts, int(back)) < count and time.monotonic() < back + 60:
            time.sleep(0.1)
            drain(queue, counts, latencies)
        print(f"\nall back after {time.monotonic() - back:.1f} s, with the start of the node")
        report("The node is back", counts, latencies, int(back), cpu_seconds(node.pid))
        os.kill(int(os.environ["POSTGRES_PID"]), signal.SIGQUIT)
        before, broken = cpu_seconds(node.pid), time.monotonic()
        cut.set()
        time.sleep(10)
        drain(queue, counts, latencies)
        report("PostgreSQL is away, connections broke", counts, [], int(broken), cpu_seconds(node.pid) - before)
    finally:
        for worker in workers:
            worker.kill()
        node.kill()


WATCHED = os.environ.get("WATCHED", "yes") == "yes"

if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
