#!/usr/bin/env python3
"""Runs the reference client against nodes that fail, and compares each device with a fresh inbox in the end.

    live.py --nodes http://127.0.0.1:8080,http://127.0.0.1:8081 --until FILE

Three people write to each other from two devices each until FILE exists. One more device is offline all the time and
returns in the end. Devices lose answers and restart at random; a test kills nodes meanwhile. Prints one JSON object, and
exits with 1 if a device shows something wrong or a message is lost, doubled or out of order.
"""

import argparse
import collections
import copy
import http.client
import json
import os
import random
import sys
import threading
import time
import urllib.parse
import uuid

from comparison import differences
from reference_client import State, first_visible, wait_after

# Whatever happens, the run ends: a call is repeated for so many seconds.
RETRY_SECONDS = 120
# The shares of answers that a device loses with its connection, and of polls after which its app restarts.
LOST_SHARE = 0.03
RESTART_SHARE = 0.05


class Refusal(Exception):
    """An answer that no repetition changes."""

    def __init__(self, status, body):
        super().__init__(f"{status} {body.get('code')}: {body.get('detail')}")
        self.status, self.body = status, body


class Caller:
    """Calls one node until it fails, then the next. Each thread has its own. Loses answers if `chance` is given."""

    statuses = collections.Counter()

    def __init__(self, nodes, chance=None):
        self.nodes = list(nodes)
        self.chance = chance
        self.token = None
        self.connection = None

    def call(self, method, path, body=None, seconds=10):
        """Repeats a call until it is answered. Every call here may be repeated: messages have ids of the client."""
        deadline = time.monotonic() + RETRY_SECONDS
        failures = 0
        while True:
            status, answer, retry_after = self.attempt(method, path, body, seconds)
            Caller.statuses[status] += 1
            if 200 <= status < 300:
                return answer
            if status not in (0, 408, 429, 500, 503) or time.monotonic() > deadline:
                raise Refusal(status, answer)
            failures += 1
            self.nodes.append(self.nodes.pop(0))
            time.sleep(wait_after(failures, status, retry_after, random.random()))

    def attempt(self, method, path, body, seconds):
        """One try: the status (0: no answer), the body, and Retry-After."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            if self.connection is None:
                host = urllib.parse.urlsplit(self.nodes[0]).netloc
                self.connection = http.client.HTTPConnection(host, timeout=seconds)
            self.connection.request(method, "/v1" + path, body and json.dumps(body), headers)
            if self.chance and self.chance.random() < LOST_SHARE:
                raise ConnectionAbortedError  # The node may have done what was asked.
            response = self.connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException):
            self.disconnect()
            return 0, {}, None
        if response.status >= 500:
            self.disconnect()
        retry_after = response.getheader("Retry-After")
        return response.status, json.loads(text or "{}"), retry_after and int(retry_after)

    def disconnect(self):
        if self.connection:
            self.connection.close()
        self.connection = None


class Device:
    """A device: follows the log, and sends from its outbox. `stored` is its local database."""

    def __init__(self, nodes, person):
        self.random = random.Random(f"{person['name']} {len(person['devices'])}")
        self.follower, self.sender = Caller(nodes, self.random), Caller(reversed(nodes), self.random)
        login = {"username": person["username"], "password": person["password"]}
        self.follower.token = self.follower.call("POST", "/auth/login", login)["session"]["token"]
        self.sender.token = self.follower.token
        self.person = person
        self.outbox = collections.deque()
        self.acknowledged = collections.defaultdict(list)
        self.reloads = self.restarts = self.events = 0
        self.state, self.cursor = State(person["id"]), None
        person["devices"].append(self)
        self.load_inbox()

    # Following the log.

    def load_inbox(self, expired=None):
        """The first start, and what follows a 410 for the cursor `expired`. The new cursor is that of the first page."""
        inbox = self.follower.call("GET", "/inbox?limit=200")
        cursor, threads = inbox["cursor"], inbox["threads"]
        while "next" in inbox:
            inbox = self.follower.call("GET", "/inbox?limit=200&page=" + urllib.parse.quote(inbox["next"]))
            threads += inbox["threads"]
        blocks = self.follower.call("GET", "/users/me/blocks?limit=200")["blocks"]
        blocked = [block["user"]["id"] for block in blocks]
        self.state.load_account({"user": self.follower.call("GET", "/users/me"), "blocked": blocked})
        # Asked after the inbox: the first 410 does not name threads that changed between it and the inbox.
        self.state.load_inbox(threads, self.stale_threads(expired) if expired else ())
        self.commit(cursor)

    def stale_threads(self, expired):
        """The threads that the answer 410 for an expired cursor names."""
        try:
            self.follower.call("GET", f"/sync?cursor={expired}&wait=0&limit=1")
        except Refusal as refusal:
            if refusal.status != 410:
                raise
            return [thread["id"] for thread in refusal.body["threads"]]
        return list(self.state.threads)

    def commit(self, cursor):
        """Events and cursor are stored together."""
        self.cursor = cursor
        self.stored = copy.deepcopy(self.state), cursor

    def restart(self):
        """The app dies at any moment: what was not committed is lost, and asked for again."""
        self.restarts += 1
        self.state, self.cursor = copy.deepcopy(self.stored[0]), self.stored[1]

    def poll(self, wait):
        """One poll. Returns whether it brought events."""
        try:
            answer = self.follower.call("GET", f"/sync?cursor={self.cursor}&wait={wait}", seconds=wait + 10)
        except Refusal as refusal:
            if refusal.status != 410:
                raise
            self.reloads += 1
            self.load_inbox(expired=self.cursor)
            return True
        for event in answer["events"]:
            self.state.apply(event)
        if answer["events"] and self.random.random() < RESTART_SHARE:
            self.restart()
            return True
        self.events += len(answer["events"])
        self.commit(answer["cursor"])
        return any(event["type"] not in ("typing", "presence.updated") for event in answer["events"])

    def fill_holes(self):
        """Fetches what no event brings: unknown threads, last messages, and the history below, a page a call."""
        for thread_id in list(self.state.unknown):
            self.load_thread(thread_id)
        for thread_id in list(self.state.threads):
            thread = self.state.threads[thread_id]
            known_from = self.state.known_from.get(thread_id)
            if thread["me"]["status"] != "joined" or thread["head"] < first_visible(thread):
                continue
            if known_from is None or self.state.lacks_last_message(thread_id):
                self.load_messages(thread_id, None)
            elif known_from > first_visible(thread):
                self.load_messages(thread_id, known_from)
        self.commit(self.cursor)

    def load_thread(self, thread_id):
        self.state.unknown.discard(thread_id)
        try:
            self.state.load_inbox_page([self.follower.call("GET", f"/threads/{thread_id}")])
        except Refusal as refusal:
            if refusal.status != 404:
                raise

    def load_messages(self, thread_id, before):
        place = f"&before={before}" if before else ""
        try:
            page = self.follower.call("GET", f"/threads/{thread_id}/messages?limit=20{place}")
        except Refusal as refusal:
            if refusal.status != 404:  # The user has left: an event says so.
                raise
        else:
            self.state.load_messages(thread_id, page, before)

    def follow(self, stop):
        while not stop.is_set():
            self.poll(wait=2)
            self.fill_holes()

    # Sending.

    def act(self, stop):
        """Writes to the outbox and works it off; marks, edits, reacts and deletes now and then."""
        number = 0
        while not stop.is_set() or self.outbox:
            thread_ids = list(self.stored[0].threads)
            if thread_ids and not stop.is_set():
                number += 1
                body = {"id": str(uuid.uuid4()), "payload": {"text": f"{self.person['username']} {number}"}}
                self.outbox.append((self.random.choice(thread_ids), body))
            while self.outbox:
                thread_id, body = self.outbox[0]
                message = self.sender.call("POST", f"/threads/{thread_id}/messages", body)
                self.acknowledged[thread_id].append((message["seq"], body["id"]))
                self.outbox.popleft()
                self.change(thread_id, message)
            time.sleep(0.05)

    def change(self, thread_id, message):
        path, seq = f"/threads/{thread_id}", message["seq"]
        other = f"{path}/messages/{message['id']}"
        calls = [
            ("PUT", path + "/receipts", {"read": self.random.randint(1, seq)}),
            ("PUT", path + "/unread", {"from": self.random.randint(1, seq)}),
            ("PATCH", other, {"payload": {"text": "edited"}}),
            ("PUT", other + "/reactions/%F0%9F%91%8D", None),
            ("DELETE", other + "/reactions/%F0%9F%91%8D", None),
            ("DELETE", other + "?for=everyone", None),
            ("DELETE", other + "?for=me", None),
            ("PATCH", path + "/settings", {"pinned": self.random.random() < 0.5}),
        ]
        for call in self.random.sample(calls, 2):
            try:
                self.sender.call(*call)
            except Refusal as refusal:
                if refusal.status not in (404, 409):  # An earlier call has deleted the message.
                    raise

    # The end.

    def check(self):
        """Compares with a fresh inbox and the history, loaded between two polls of which the second brings nothing."""
        for _ in range(50):
            while self.poll(wait=0):
                pass
            missing = True
            while missing:
                before = dict(self.state.known_from)
                self.fill_holes()
                missing = before != self.state.known_from
            shown = copy.deepcopy(self.state)
            inbox = self.follower.call("GET", "/inbox?limit=200")
            histories = {id_: self.history(id_) for id_ in shown.threads}
            if not self.poll(wait=0):
                break
            time.sleep(0.1)
        else:
            return ["no moment without events"]
        lines = differences(shown.inbox(), inbox["threads"], ".threads")
        lines += differences(shown.unread_total(), inbox["unread_total"], ".unread_total")
        for thread_id, messages in histories.items():
            right = {message["seq"]: message for message in messages}
            lines += differences(shown.messages[thread_id], right, f".messages.{thread_id}")
        return [f"{self.person['username']}{line}" for line in lines]

    def history(self, thread_id):
        messages, end = [], False
        while not end:
            after = messages[-1]["seq"] if messages else 0
            page = self.follower.call("GET", f"/threads/{thread_id}/messages?after={after}&limit=200")
            messages, end = messages + page["messages"], page["end"]
        return messages


def people(nodes):
    """Ann, Ben and Cleo with two devices each, a group and two direct threads."""
    caller = Caller(nodes)
    found = []
    for name in ("Ann", "Ben", "Cleo"):
        account = {"username": f"{name.lower()}-{uuid.uuid4().hex[:8]}", "password": "a river of tea", "name": name}
        answer = caller.call("POST", "/auth/register", account)
        found.append(account | {"id": answer["user"]["id"], "token": answer["session"]["token"], "devices": []})
    ann, ben, cleo = found
    caller.token = ann["token"]
    members = [ben["id"], cleo["id"]]
    caller.call("POST", "/threads", {"kind": "group", "title": "Trip", "members": members})
    for person in (ben, cleo):
        caller.call("POST", "/threads", {"kind": "direct", "members": [person["id"]]})
    return found


def lost_messages(devices):
    """What is wrong with the places of acknowledged messages. One person may have deleted a message, others have it."""
    places = collections.defaultdict(set)
    for device in devices:
        for messages in device.state.messages.values():
            for seq, message in messages.items():
                places[message["id"]].add(seq)
    lines = []
    for device in devices:
        for thread_id, sent in device.acknowledged.items():
            seqs = [seq for seq, _ in sent]
            if seqs != sorted(set(seqs)):
                lines.append(f"messages of {thread_id} are not in the order in which they were sent: {seqs}")
            lines += [f"{id_} is at {places[id_]} and not at {seq}" for seq, id_ in sent if places[id_] != {seq}]
    return lines


def run(nodes, until):
    found = people(nodes)
    devices = [Device(nodes, person) for person in found for _ in range(2)]
    away = Device(nodes, found[1])
    stop, failures = threading.Event(), []

    def thread(body):
        def guarded():
            try:
                body(stop)
            except Exception as error:  # A thread that dies must fail the run.
                failures.append(f"{type(error).__name__}: {error}")

        started = threading.Thread(target=guarded)
        started.start()
        return started

    threads = [thread(body) for device in devices for body in (device.follow, device.act)]
    print("started", flush=True)
    while not os.path.exists(until) and not failures:
        time.sleep(0.05)
    stop.set()
    for running in threads:
        running.join()
    lines = failures or [line for device in devices + [away] for line in device.check()] + lost_messages(devices)
    report = {
        "differences": lines[:20],
        "sent": sum(len(sent) for device in devices for sent in device.acknowledged.values()),
        "events": sum(device.events for device in devices + [away]),
        "restarts": sum(device.restarts for device in devices),
        "reloads": sum(device.reloads for device in devices + [away]),
        "statuses": dict(Caller.statuses),
    }
    print(json.dumps(report))
    return 1 if lines else 0


def main():
    parser = argparse.ArgumentParser(description="Runs the reference client against nodes that fail.")
    parser.add_argument("--nodes", required=True, help="base URLs, separated by commas")
    parser.add_argument("--until", required=True, help="the run ends when this file exists")
    arguments = parser.parse_args()
    return run(arguments.nodes.split(","), arguments.until)


if __name__ == "__main__":
    sys.exit(main())
