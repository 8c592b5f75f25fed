#!/usr/bin/env python3
"""How many messages a second a running Parley takes from concurrent senders, and how large its batches are.

    Tests/Measure/throughput.py http://127.0.0.1:8080 [more nodes …] [--senders 32] [--seconds 10] [--threads 16]

Each sender has a connection of its own and sends its next message when the last one is answered. The senders are
spread over processes, each of them one epoll loop on plain sockets with ready-made requests: 20 µs of Python a
message, where http.client would take ten times that and be what is measured.

throughput.sh runs this and, on the same private cluster, one transaction a message by pgbench.
"""

import argparse
import json
import multiprocessing
import select
import socket
import time
from urllib.parse import urlsplit

from parley_client import Client, direct_thread, metrics, percentile, register

ITEMS = 'parley_batched_items_total{stream="messages"}'
BATCHES = 'parley_batches_total{stream="messages"}'
CALL_MICROS = 'parley_batch_call_microseconds_total{stream="messages"}'
LARGEST = 'parley_batch_largest{stream="messages"}'


class Sender:
    def __init__(self, url, token, thread, text):
        parts = urlsplit(url)
        body = json.dumps({"payload": {"text": text}}).encode()
        self.request = (
            f"POST /v1/threads/{thread}/messages HTTP/1.1\r\nHost: {parts.netloc}\r\n"
            f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode() + body
        self.socket = socket.create_connection((parts.hostname, parts.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        self.began = 0.0

    def send(self):
        self.began = time.monotonic()
        self.socket.sendall(self.request)

    def receive(self):
        """The status of a whole answer; None if there is more to come."""
        chunk = self.socket.recv(65536)
        if not chunk:
            raise SystemExit("the node closed a connection")
        self.buffer += chunk
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        head = self.buffer[:end].lower()
        at = head.index(b"content-length:") + 15
        length = int(head[at:].split(b"\r\n", 1)[0])
        if len(self.buffer) < end + 4 + length:
            return None
        status = int(self.buffer[9:12])
        if status != 201:
            raise SystemExit(self.buffer.decode(errors="replace"))
        self.buffer = b""
        return status


def work(senders, seconds, start, results):
    senders = [Sender(*arguments) for arguments in senders]
    poller = select.epoll()
    by_file = {}
    for sender in senders:
        poller.register(sender.socket, select.EPOLLIN)
        by_file[sender.socket.fileno()] = sender
    start.wait()
    over = time.monotonic() + seconds
    latencies = []
    waiting = len(senders)
    for sender in senders:
        sender.send()
    while waiting:
        for file, _ in poller.poll(30):
            sender = by_file[file]
            if sender.receive():
                now = time.monotonic()
                if now < over:
                    latencies.append(now - sender.began)
                    sender.send()
                else:
                    waiting -= 1
    results.send(latencies)


def main():
    parser = argparse.ArgumentParser(description="Messages a second from concurrent senders.")
    parser.add_argument("urls", nargs="+", metavar="URL")
    parser.add_argument("--senders", type=int, default=32)
    parser.add_argument("--threads", type=int, default=16, help="direct threads that they share")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--bytes", type=int, default=100, help="of each text")
    options = parser.parse_args()

    first = options.urls[0]
    pairs = []
    for _ in range(options.threads):
        ann_id, ann = register(first, "ann")
        _, ben = register(first, "ben")
        pairs.append((ann, ben, direct_thread(first, ben, ann_id)))
    text = "x" * options.bytes
    senders = []
    for number in range(options.senders):
        ann, ben, thread = pairs[number % len(pairs)]
        token = ann if number // len(pairs) % 2 == 0 else ben
        url = options.urls[number % len(options.urls)]
        Client(url, token).call("GET", "/v1/users/me")
        senders.append((url, token, thread, text))

    before = [metrics(url) for url in options.urls]
    start = multiprocessing.Event()
    pipes = []
    for number in range(options.processes):
        receive, send = multiprocessing.Pipe(duplex=False)
        share = senders[number::options.processes]
        multiprocessing.Process(target=work, args=(share, options.seconds, start, send), daemon=True).start()
        pipes.append(receive)
    time.sleep(0.5)
    start.set()
    latencies = [latency * 1000 for pipe in pipes for latency in pipe.recv()]
    after = [metrics(url) for url in options.urls]

    def total(name):
        return sum(late.get(name, 0) - early.get(name, 0) for early, late in zip(before, after))

    batches = total(BATCHES)
    result = {
        "messages_per_s": round(len(latencies) / options.seconds),
        "senders": options.senders, "seconds": options.seconds, "nodes": len(options.urls),
        "batch_mean": round(total(ITEMS) / batches, 1) if batches else None,
        "batch_call_ms_mean": round(total(CALL_MICROS) / batches / 1000, 2) if batches else None,
        "batch_largest": max((late.get(LARGEST, 0) for late in after), default=None),
        "answer_ms": {name: round(percentile(latencies, share), 2)
                      for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))},
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
