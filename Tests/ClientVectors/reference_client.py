"""The smallest complete client: its state as a function of one inbox and the events after it.

docs/client-guide.md explains every rule. replay.py compares this state with the client vectors, live.py with nodes.
"""

import collections

# Waits after failures, in seconds: the longest ones while somebody looks and otherwise, and the longest after the first.
LONGEST_WAIT, LONGEST_WAIT_UNWATCHED, LONGEST_FIRST_WAIT = 4, 16, 2

SETTINGS = ("muted_until", "archived", "pinned", "notify", "hidden_before_seq", "custom", "labels")
PRESENCE = ("presence", "last_seen_at")


class State:
    """What a device stores: threads, messages by thread and seq, lists of members, the account."""

    def __init__(self, user_id):
        self.user_id = user_id
        self.threads = {}
        self.messages = {}
        # From this seq on, all messages of a thread are stored that the user sees. Absent: the newest are missing.
        self.known_from = {}
        # Up to this seq, the counts include messages whose events may still arrive.
        self.counted = {}
        self.members = {}
        self.account = None
        # Threads that events named and no page of the inbox had: the client loads them.
        self.unknown = set()
        # How many events a thread had, and how often everything was loaded: an answer is older than these.
        self.event_counts = collections.Counter()
        self.load_count = 0

    # What the client shows.

    def inbox(self):
        """The threads with their last messages, newest activity first."""
        threads = [thread | {"last_message": self.last_message(id_)} for id_, thread in self.threads.items()]
        return sorted(threads, key=lambda thread: (thread["last_activity_at"], thread["id"]), reverse=True)

    def unread_total(self):
        return sum(thread["unread_count"] for thread in self.threads.values())

    def last_message(self, thread_id):
        first = self.known_from.get(thread_id)
        seqs = [seq for seq in self.messages[thread_id] if first is not None and seq >= first]
        return self.messages[thread_id][max(seqs)] if seqs else None

    def lacks_last_message(self, thread_id):
        """Whether the client has to fetch the newest page of a thread."""
        thread = self.threads[thread_id]
        first = first_visible(thread)
        is_readable = thread["me"]["status"] == "joined" and thread["head"] >= first
        return is_readable and not self.last_message(thread_id) and self.known_from.get(thread_id, first + 1) > first

    # What arrives, except events.

    def version(self, thread_id):
        """Remember it with each request. If it has changed, the answer is older than the state: drop it and ask again."""
        return self.load_count, self.event_counts[thread_id]

    def load_account(self, account):
        """The own profile and the people blocked. The event of a new profile may be one that the log no longer has."""
        before, self.account = self.account, account
        if before and before["user"] != account["user"]:
            self.rename_everywhere(account["user"])

    def load_inbox(self, threads, stale=()):
        """All threads of an inbox, at the first start or after a 410, which names the `stale` threads."""
        self.load_count += 1
        kept = {thread["id"] for thread in threads} - set(stale)
        for thread_id in set(self.threads) - kept:
            self.remove_thread(thread_id)
        self.load_inbox_page(threads)

    def load_inbox_page(self, threads):
        for thread in threads:
            thread_id, last = thread["id"], thread.get("last_message")
            self.unknown.discard(thread_id)
            self.threads[thread_id] = {key: value for key, value in thread.items() if key != "last_message"}
            self.messages.setdefault(thread_id, {})
            self.counted[thread_id] = thread["head"]
            self.hide(thread_id)
            if thread["me"]["status"] == "joined":
                self.load_messages(thread_id, {"messages": [last] if last else [], "end": not last})

    def load_messages(self, thread_id, page, before=None, after=None):
        """A page of the history: the newest one, or the messages before a seq or after one."""
        thread = self.threads.get(thread_id)
        if not thread:
            return
        for message in page["messages"]:
            self.store(thread_id, message)
        seqs = [message["seq"] for message in page["messages"]]
        never = float("inf")
        if after is not None:
            first = after + 1
        else:
            first = first_visible(thread) if page["end"] else min(seqs, default=never)
        is_newest = before is None and (after is None or page["end"])
        last = before - 1 if before is not None else max(seqs, default=0)
        known_from = self.known_from.get(thread_id, never)
        # The page joins the messages from `known_from` on if no seq lies between.
        if min(first, known_from) < never and (is_newest or last >= known_from - 1):
            self.known_from[thread_id] = min(first, known_from)

    def store(self, thread_id, message):
        """Stores a message. The device's copy of a payload may be the last one, once all devices have it."""
        stored = self.messages[thread_id].get(message["seq"])
        is_forgotten = message["payload"] is None and message["deleted_at"] is None
        if is_forgotten and stored and stored["id"] == message["id"]:
            message = message | {"payload": stored["payload"]}
        self.messages[thread_id][message["seq"]] = message

    def remove_thread(self, thread_id):
        for table in (self.threads, self.messages, self.known_from, self.counted, self.members):
            table.pop(thread_id, None)

    def hide(self, thread_id):
        first = first_visible(self.threads[thread_id])
        self.messages[thread_id] = {seq: text for seq, text in self.messages[thread_id].items() if seq >= first}
        if thread_id in self.known_from:
            self.known_from[thread_id] = max(self.known_from[thread_id], first)

    # Events.

    def apply(self, event):
        thread_id, data = event.get("thread_id"), event["data"]
        self.event_counts[thread_id] += 1
        if thread_id is None:
            return self.apply_to_account(event["type"], data)
        if event["type"] == "thread.created":
            return self.create_thread(thread_id, data)
        change = getattr(self, "on_" + event["type"].replace(".", "_"), None)
        if change and thread_id in self.threads:
            change(thread_id, self.threads[thread_id], data)
        elif change and event["type"] != "thread.deleted":
            self.unknown.add(thread_id)

    def apply_to_account(self, type_, data):
        if type_ == "user.updated":
            self.account["user"] = data
            self.rename_everywhere(data)
        elif type_ == "settings.updated":
            blocked = set(self.account["blocked"]) - {data["block"]["user_id"]}
            if data["block"]["blocked"]:
                blocked.add(data["block"]["user_id"])
            self.account["blocked"] = list(blocked)

    def rename_everywhere(self, user):
        for thread_id, thread in self.threads.items():
            self.event_counts[thread_id] += 1
            self.on_user_updated(thread_id, thread, user)

    def create_thread(self, thread_id, data):
        self.remove_thread(thread_id)
        thread = {key: value for key, value in data.items() if key != "members"}
        if "me" not in thread:  # A new thread, with all its members and no messages.
            own = next(member for member in data["members"] if member["user"]["id"] == self.user_id)
            others = [member["user"] for member in data["members"] if member["user"]["id"] != self.user_id]
            thread["peer"] = others[0] if data["kind"] == "direct" else None
            thread |= {"unread_count": 0, "mention_count": 0, "head": 0, "last_activity_at": data["created_at"]}
            thread["me"] = {"role": own["role"], "status": own["status"], "read_seq": 0, "delivered_seq": 0}
            thread["me"] |= {"muted_until": None, "archived": False, "pinned": False}
            thread["me"] |= {"notify": "all", "hidden_before_seq": 0}
            thread["me"] |= {"custom": None, "labels": []}
            self.on_thread_updated(thread_id, thread, data)
        self.threads[thread_id] = thread
        self.messages[thread_id] = {}
        self.counted[thread_id] = thread["head"]
        if data["members"]:
            self.members[thread_id] = {member["user"]["id"]: member for member in data["members"]}

    def on_thread_updated(self, _, thread, data):
        peer = thread.get("peer") or {}  # A direct thread has the name and image of its peer.
        keys = ("retention", "member_count", "topic", "external_id", "custom", "labels")
        thread |= {key: data[key] for key in keys}
        thread |= {"title": data["title"] or peer.get("name"), "image": data["image"] or peer.get("profile_image")}

    def on_thread_deleted(self, thread_id, _, __):
        self.remove_thread(thread_id)

    def on_member_updated(self, thread_id, thread, data):
        thread["member_count"] = data["member_count"]
        if thread_id in self.members:
            self.members[thread_id][data["user"]["id"]] = {k: v for k, v in data.items() if k != "member_count"}
        if data["user"]["id"] != self.user_id:
            return
        thread["me"] |= {"role": data["role"], "status": data["status"]}
        if data["status"] in ("left", "removed"):
            self.remove_thread(thread_id)

    def on_message_created(self, thread_id, thread, data):
        seq, sender = data["seq"], data["sender"]
        self.store_event(thread_id, data)
        known_from = self.known_from.get(thread_id, seq)
        if seq >= known_from - 1:
            self.known_from[thread_id] = min(seq, known_from)
        if sender:  # Sending a message marks everything before it as read, and leaves the times of the marks.
            self.move_marks(thread_id, {"user_id": sender["id"], "read_seq": seq, "delivered_seq": seq})
        if seq <= self.counted[thread_id]:
            return
        if seq > thread["head"]:
            thread |= {"head": seq, "last_activity_at": data["timestamp"]}
        if sender and sender["id"] == self.user_id:
            thread["me"] |= {"read_seq": seq, "delivered_seq": seq}
            self.take_counts(thread_id, {"unread_count": 0, "mention_count": 0})
        elif sender or is_of_host_app(data):
            thread["unread_count"] += 1
            thread["mention_count"] += self.user_id in data["mentions"]

    def on_message_updated(self, thread_id, _, data):
        if data["seq"] in self.messages[thread_id]:
            self.store_event(thread_id, data)

    def on_message_deleted(self, thread_id, thread, data):
        seq = data["seq"]
        if data.get("for") == "me":
            self.messages[thread_id].pop(seq, None)
            return self.take_counts(thread_id, data)
        if seq in self.messages[thread_id]:
            self.messages[thread_id][seq] = data
        is_others = data["sender"] and data["sender"]["id"] != self.user_id
        if is_others and seq > thread["me"]["read_seq"] and seq >= thread["me"]["hidden_before_seq"]:
            thread["unread_count"] = max(0, thread["unread_count"] - 1)

    def on_reaction_updated(self, thread_id, _, data):
        message = self.messages[thread_id].get(data["seq"])
        if not message:
            return
        reactions = dict(message["reactions"])
        known = reactions.pop(data["emoji"], {})
        is_own = data["put"] if data["user_id"] == self.user_id else known.get("me", False)
        if data["count"]:
            reactions[data["emoji"]] = {"count": data["count"], "me": is_own}
        self.messages[thread_id][data["seq"]] = message | {"reactions": reactions}

    def on_receipt_updated(self, thread_id, thread, data):
        receipts = data.get("receipts", [data])
        for receipt in receipts:
            self.move_marks(thread_id, receipt)
        own = next((receipt for receipt in receipts if receipt["user_id"] == self.user_id), None)
        if own and "receipts" in data:  # As others see the marks: the read mark comes in an event of its own.
            thread["me"]["delivered_seq"] = own["delivered_seq"]
        elif own:
            thread["me"] |= {"read_seq": own["read_seq"], "delivered_seq": own["delivered_seq"]}
            self.take_counts(thread_id, own)

    def on_settings_updated(self, thread_id, thread, data):
        thread["me"] |= {key: data[key] for key in SETTINGS}
        self.take_counts(thread_id, data)
        self.hide(thread_id)

    def on_user_updated(self, thread_id, thread, user):
        for seq, message in self.messages[thread_id].items():
            self.messages[thread_id][seq] = message | {"sender": renamed(message["sender"], user)}
        for member in self.members.get(thread_id, {}).values():
            member["user"] = renamed(member["user"], user)
        thread["me"]["invited_by"] = renamed(thread["me"].get("invited_by"), user)
        if (thread.get("peer") or {}).get("id") == user["id"]:
            thread |= {"peer": renamed(thread["peer"], user), "title": user["name"], "image": user["profile_image"]}

    def store_event(self, thread_id, message):
        """Stores a message of an event, which does not say which reactions are the user's own."""
        stored = self.messages[thread_id].get(message["seq"], {"id": None})
        own = stored["reactions"] if stored["id"] == message["id"] else {}
        reactions = {
            emoji: {"count": reaction["count"], "me": own.get(emoji, {}).get("me", False)}
            for emoji, reaction in message["reactions"].items()
        }
        self.store(thread_id, message | {"reactions": reactions})

    def take_counts(self, thread_id, data):
        """Absolute counts: every later message.created is counted."""
        self.threads[thread_id] |= {key: data[key] for key in ("unread_count", "mention_count")}
        self.counted[thread_id] = 0

    def move_marks(self, thread_id, marks):
        member = self.members.get(thread_id, {}).get(marks["user_id"])
        for kind in ("read", "delivered") if member else ():
            # A message moves its sender's mark and brings no time. A receipt made at that moment follows with the time.
            known, new = ((one[kind + "_seq"], one.get(kind + "_at") or "") for one in (member, marks))
            if new > known:
                member |= {key: marks[key] for key in (kind + "_seq", kind + "_at") if key in marks}


def is_of_host_app(message):
    """Whether a message without a sender is the host app's, which counts. The service's own say who did what."""
    payload = message["payload"]
    return payload is not None and not {"action", "by"} <= payload.keys()


def first_visible(thread):
    return max(1, thread["me"]["hidden_before_seq"])


def renamed(person, user):
    if not person or person["id"] != user["id"]:
        return person
    return person | {key: user[key] for key in person if key in user and key not in PRESENCE}


def wait_after(failures, status, retry_after, random, is_watched=True):
    """Seconds to wait after `failures` failures in a row, the last with this status. `random` is 0 to 1."""
    longest = LONGEST_WAIT if is_watched else LONGEST_WAIT_UNWATCHED
    if retry_after and status == 429:
        least, most = retry_after, retry_after + LONGEST_FIRST_WAIT
    elif retry_after:
        least, most = min(retry_after, longest / 2), longest
    elif failures == 1:
        least, most = 0, LONGEST_FIRST_WAIT
    else:
        least, most = longest / 2, longest
    return least + (most - least) * random
