"""What the measuring scripts share: people on a running Parley, and its metrics. Standard library only."""

import http.client
import json
import secrets
from urllib.parse import urlsplit


class Client:
    """One kept-alive connection, as one person (or nobody)."""

    def __init__(self, url, token=None):
        parts = urlsplit(url)
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=70)
        self.token = token

    def call(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        self.connection.request(method, path, data, headers)
        response = self.connection.getresponse()
        text = response.read()
        if response.status >= 300:
            raise SystemExit(f"{method} {path}: {response.status} {text.decode(errors='replace')}")
        return json.loads(text) if text else None


def register(url, name):
    """A new account: its id and its token."""
    username = f"{name}{secrets.token_hex(6)}"
    answer = Client(url).call(
        "POST", "/v1/auth/register", {"username": username, "password": secrets.token_hex(12), "name": name})
    return answer["user"]["id"], answer["session"]["token"]


def direct_thread(url, token, other):
    return Client(url, token).call("POST", "/v1/threads", {"kind": "direct", "members": [other]})["id"]


def metrics(url):
    """The sum of each metric's samples, by name with labels."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    connection.request("GET", "/metrics")
    found = {}
    for line in connection.getresponse().read().decode().splitlines():
        if line and not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            found[name] = float(value)
    return found


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
