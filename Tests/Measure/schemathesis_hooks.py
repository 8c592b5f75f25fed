# Replaces ids in most generated calls by ids that exist: otherwise nearly all calls would end with 404.
# Used by schemathesis.sh.
import json
import os
import random
import threading
import urllib.request

import schemathesis

URL = os.environ["PARLEY_URL"]
ANN = os.environ["PARLEY_TOKEN"]
chance = random.Random(7)
lock = threading.Lock()
names = iter(range(1_000_000_000))


def call(path, body, token=None):
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = "Bearer " + token
    request = urllib.request.Request(URL + path, data=json.dumps(body).encode(), method="POST", headers=headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.loads(answer.read())


def person():
    name = f"p{os.getpid()}.{next(names)}"
    return call("/v1/auth/register", {"username": name, "password": "a river of tea", "name": "P"})["user"]["id"]


PEOPLE = [person() for _ in range(4)]


def thread(kind="group"):
    body = {"kind": kind}
    if kind != "direct":
        body["title"] = f"T{os.getpid()}.{next(names)}"
    if kind != "room":
        body["members"] = PEOPLE[:1]
    return call("/v1/threads", body, ANN)["id"]


def message(of):
    return call(f"/v1/threads/{of}/messages", {"payload": {"text": "lunch tomorrow?"}}, ANN)["id"]


THREADS = [thread() for _ in range(4)] + [thread("room"), thread("direct")]
MESSAGES = {of: [message(of) for _ in range(3)] for of in THREADS}


def aim(operation, path):
    """Replaces generated ids by existing ones."""
    of = thread() if operation == "deleteMember" else chance.choice(THREADS)
    if "thread_id" in path:
        path["thread_id"] = of
    if "message_id" in path:
        path["message_id"] = message(of) if operation == "deleteMessage" else chance.choice(MESSAGES[of])
    if "user_id" in path:
        path["user_id"] = chance.choice(PEOPLE + (["me"] if operation in ("putMember", "deleteMember") else []))
    if "emoji" in path and chance.random() < 0.7:
        path["emoji"] = chance.choice(["👍", "❤", "🎉", "👨‍👩‍👧", "🇩🇪"])


def hasten(case):
    """Shortens polls, which would take 25 s, and avoids streams, which never end."""
    if "event-stream" in str((case.headers or {}).get("Accept", "")):
        case.headers["Accept"] = "application/json"
    if case.query is None:
        case.query = {}
    wait = case.query.get("wait")
    if wait is None or (str(wait).isdigit() and 0 < int(wait) <= 55):
        case.query["wait"] = 0


@schemathesis.hook
def before_call(context, case, **kwargs):
    operation = case.operation.definition.raw.get("operationId")
    with lock:
        # deleteMember must never leave a thread that other calls use.
        if case.path_parameters and (operation == "deleteMember" or chance.random() < 0.8):
            aim(operation, case.path_parameters)
        if operation == "sync":
            hasten(case)
        if not isinstance(case.body, dict):
            return
        if operation == "createThread" and isinstance(case.body.get("members"), list) and chance.random() < 0.5:
            case.body["members"] = chance.sample(PEOPLE, chance.randrange(1, 4))
        if operation == "sendMessage" and chance.random() < 0.7:
            case.body.pop("reply_to", None)
            if case.body.get("mentions"):
                case.body["mentions"] = PEOPLE[:1]
        for entry in (case.body.get("receipts") or []) if operation == "putReceipts" else []:
            if isinstance(entry, dict) and "thread_id" in entry:
                entry["thread_id"] = chance.choice(THREADS)
