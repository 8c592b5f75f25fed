"""The HTTP API, for what a test needs before a browser opens."""
import copy
import http.client
import json
import secrets
import urllib.parse


class Api:
    """One account's calls, on a kept connection."""

    PASSWORD = "a river of tea"
    ADMIN_TOKEN = "the-key-to-the-whole-house"

    def __init__(self, port, name, username=None):
        self.port = port
        self.name = name
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.username = username or f"{''.join(filter(str.isascii, filter(str.isalnum, name))).lower()[:8]}" \
                                    f"{secrets.token_hex(4)}"
        self.token = None
        answer = self.call("POST", "/v1/auth/register",
                           {"username": self.username, "password": self.PASSWORD, "name": name})
        self.token, self.id = answer["session"]["token"], answer["user"]["id"]

    @classmethod
    def operator(cls, port):
        """The operator of a node that has the admin token of the tests."""
        made = cls.__new__(cls)
        made.port, made.token = port, cls.ADMIN_TOKEN
        return made.copy()

    def copy(self):
        """The same account on a connection of its own, for another thread."""
        other = copy.copy(self)
        other.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        return other

    def call(self, method, path, body=None, kind="application/json"):
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if data is not None:
            headers["Content-Type"] = kind
        try:
            self.connection.request(method, path, data, headers)
            answer = self.connection.getresponse()
        except (http.client.HTTPException, OSError):
            # The node was restarted since the last call.
            self.connection.close()
            self.connection.request(method, path, data, headers)
            answer = self.connection.getresponse()
        text = answer.read()
        assert answer.status < 400, f"{method} {path}: {answer.status} {text.decode()}"
        return json.loads(text) if text else None

    def direct(self, other):
        return self.call("POST", "/v1/threads", {"kind": "direct", "members": [other.id]})["id"]

    def group(self, title, *others, **more):
        members = [other.id for other in others]
        return self.call("POST", "/v1/threads", {"kind": "group", "title": title, "members": members, **more})["id"]

    def send(self, thread, text="", **more):
        payload = {"text": text} if text else {}
        payload |= more.pop("payload", {})
        return self.call("POST", f"/v1/threads/{thread}/messages", {"payload": payload, **more})

    def upload(self, name, data, kind):
        return self.call("POST", "/v1/attachments?" + urllib.parse.urlencode({"name": name}), data, kind)["id"]

    def messages(self, thread):
        return self.call("GET", f"/v1/threads/{thread}/messages?limit=200")["messages"]

    def texts(self, thread):
        return [(message["payload"] or {}).get("text") for message in self.messages(thread)]

    def read(self, thread, seq):
        self.call("PUT", f"/v1/threads/{thread}/receipts", {"read": seq})

    def unread(self):
        return self.call("GET", "/v1/inbox?limit=1")["unread_total"]
