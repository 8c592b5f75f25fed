#!/usr/bin/env python3
"""From the start of a send on one node to the message in the hands of a long poll on the other.

    Tests/Measure/latency.py http://127.0.0.1:8080 http://127.0.0.1:8081 [--rate 50] [--seconds 10]

With one address both ends use it. The sender sends at the rate, one message after the other on a kept-alive
connection; the poller asks again with each cursor it gets. Two processes, one monotonic clock. What is measured
ends when the poller has parsed the answer, so Python's own share (about 0.3 ms) is in it.
"""

import argparse
import json
import multiprocessing
import time

from parley_client import Client, direct_thread, percentile, register


def send(url, token, thread, rate, seconds, results):
    client = Client(url, token)
    client.call("GET", "/v1/users/me")
    sent = []
    start = time.monotonic()
    for number in range(int(rate * seconds)):
        due = start + number / rate
        time.sleep(max(0, due - time.monotonic()))
        began = time.monotonic()
        answer = client.call("POST", f"/v1/threads/{thread}/messages", {"payload": {"text": f"message {number}"}})
        sent.append((answer["id"], answer["seq"], began, time.monotonic()))
    results.send(sent)


def poll(url, token, cursor, until, results):
    """Polls until all `until` messages are there, or nothing new comes for 10 s."""
    client = Client(url, token)
    seen = []
    answers = 0
    last = time.monotonic()
    while len(seen) < until and time.monotonic() - last < 10:
        answer = client.call("GET", f"/v1/sync?cursor={cursor}&wait=5")
        now = time.monotonic()
        cursor = answer["cursor"]
        answers += 1
        for event in answer["events"]:
            if event["type"] == "message.created":
                seen.append((event["data"]["id"], event["data"]["seq"], now))
                last = now
    results.send((seen, answers))


def main():
    parser = argparse.ArgumentParser(description="Latency from a send to a waiting poll.")
    parser.add_argument("urls", nargs="+", metavar="URL", help="the sender's node, and the poller's if it is another")
    parser.add_argument("--rate", type=float, default=50, help="messages a second")
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    here, there = options.urls[0], options.urls[-1]

    _, ann = register(here, "ann")
    ben_id, ben = register(there, "ben")
    thread = direct_thread(here, ann, ben_id)
    cursor = Client(there, ben).call("GET", "/v1/sync")["cursor"]
    count = int(options.rate * options.seconds)

    from_poller, to_parent = multiprocessing.Pipe(duplex=False)
    poller = multiprocessing.Process(target=poll, args=(there, ben, cursor, count, to_parent), daemon=True)
    poller.start()
    from_sender, to_parent = multiprocessing.Pipe(duplex=False)
    sender = multiprocessing.Process(
        target=send, args=(here, ann, thread, options.rate, options.seconds, to_parent), daemon=True)
    sender.start()
    sent = from_sender.recv()
    seen, answers = from_poller.recv()

    began = {message: start for message, _, start, _ in sent}
    latencies = [(now - began[message]) * 1000 for message, _, now in seen if message in began]
    acknowledged = [(end - start) * 1000 for _, _, start, end in sent]
    ids = [message for message, _, _ in seen]
    seqs = [seq for _, seq, _ in seen]
    result = {
        "sent": len(sent), "seen": len(seen), "polls": answers,
        "lost": len(set(began) - set(ids)), "doubled": len(ids) - len(set(ids)),
        "out_of_order": sum(1 for first, second in zip(seqs, seqs[1:]) if second <= first),
        "send_to_poll_ms": {name: round(percentile(latencies, share), 2)
                            for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1))},
        "send_to_answer_ms": {name: round(percentile(acknowledged, share), 2)
                              for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1))},
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
