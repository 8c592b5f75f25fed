#!/usr/bin/env python3
"""Replays client vectors (README.md) through the reference client, and checks its waits.

    replay.py Tests/ClientVectors/*.json

Prints the first difference of each vector that has one, and exits with 1 then.
"""

import json
import os
import sys

from comparison import differences, shown_members
from reference_client import State, wait_after

WAITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "waits", "waits.json")


class Replay:
    """Replays one vector."""

    def __init__(self, vector):
        self.vector = vector
        self.state = State(vector["user"])
        self.stale = None
        self.expected_threads = {}
        # The requests that are on their way: the version of the state when they were sent.
        self.asked = {}

    def run(self):
        """Returns the differences of the first step that has any."""
        steps = self.vector["steps"]
        for number, (step, following) in enumerate(zip(steps, steps[1:] + [{}]), 1):
            ((kind, content),) = step.items()
            lines = getattr(self, kind)(content) or []
            if kind == "events" and not {"messages", "thread"} & following.keys():
                lacking = [id_ for id_ in self.state.threads if self.state.lacks_last_message(id_)]
                lines += [f" the last message of {id_} is unknown" for id_ in lacking]
            if lines:
                return [f"step {number} ({kind}){line}" for line in lines]
        return []

    def account(self, content):
        self.state.load_account(content)

    def ask(self, content):
        self.asked[content["asked"]] = self.state.version(content["thread_id"])

    def is_late(self, content):
        """Whether events have overtaken an answer. The client would ask again; here it has everything."""
        asked = content.get("asked")
        return asked is not None and self.asked[asked] != self.state.version(content["thread_id"])

    def expired(self, content):
        self.stale = [thread["id"] for thread in content["threads"]]

    def inbox(self, content):
        if self.stale is None:  # A new device.
            account, self.state = self.state.account, State(self.vector["user"])
            self.state.account = account
        self.state.load_inbox(content["threads"], self.stale or ())
        self.stale = None

    def inbox_page(self, content):
        self.state.load_inbox_page(content["threads"])

    def thread(self, content):
        if not self.is_late(content):
            self.state.load_inbox_page([content.get("answer", content)])

    def events(self, events):
        for event in events:
            self.state.apply(event)

    def messages(self, content):
        if self.is_late(content):
            return
        place = content.get("before"), content.get("after")
        self.state.load_messages(content["thread_id"], content["answer"], *place)

    def members(self, content):
        if self.is_late(content):
            return
        self.state.members[content["thread_id"]] = {member["user"]["id"]: member for member in content["members"]}

    def expect(self, expected):
        state, inbox = self.state, self.state.inbox()
        self.expected_threads |= {thread["id"]: thread for thread in expected["threads"]}
        lines = differences([thread["id"] for thread in inbox], expected["order"], ".order")
        lines += differences(state.unread_total(), expected["unread_total"], ".unread_total")
        for thread in inbox:
            id_ = thread["id"]
            lines += differences(thread, self.expected_threads.get(id_), f".threads.{id_}")
            messages = state.messages[id_]
            lines += differences(sorted(messages), expected["seqs"].get(id_, []), f".seqs.{id_}")
            if "messages" in expected:
                right = {message["seq"]: message for message in expected["messages"].get(id_, [])}
                lines += differences(messages, right, f".messages.{id_}")
        for id_, members in expected.get("members", {}).items():
            shown = shown_members(state.members[id_].values())
            lines += differences(shown, shown_members(members), f".members.{id_}")
        account = {"user": state.account["user"], "blocked": sorted(state.account["blocked"])}
        return lines + differences(account, expected["account"], ".account")


def wrong_waits():
    """The waits after failures that are not as in waits.json."""
    with open(WAITS, encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    lines = []
    for case in cases:
        failures = 0
        for failure in case["failures"]:
            failures += 1
            place = failure["status"], failure.get("retry_after"), failure["random"], case["watched"]
            wait = round(1000 * wait_after(failures, *place))
            if wait != failure["wait_ms"]:
                lines.append(f"{case['about']}: {wait} ms instead of {failure['wait_ms']} ms")
            if failure.get("then") == "success":
                failures = 0
    return lines


def main(paths):
    waits = wrong_waits()
    for line in waits:
        print(f"{WAITS}: {line}")
    failed = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            lines = Replay(json.load(file)).run()
        failed += bool(lines)
        for line in lines:
            print(f"{path}: {line}")
    print(f"{len(paths) - failed} of {len(paths)} vectors replayed without a difference")
    return 1 if failed or waits else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
