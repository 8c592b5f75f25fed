"""A shop whose customers and support agents talk about each order, in Parley. Python 3.9, standard library only."""
import base64, hmac, json, os, sys, time, urllib.error, urllib.parse, urllib.request

PARLEY = os.environ.get("PARLEY", "http://127.0.0.1:8080")
KEY = os.environ["SHOP_KEY"]
SECRET = open("jwt-secret", "rb").read()


def parley(method, path, body=None, token=KEY, once=None):
    """Calls Parley, again while it is busy or unreachable. `once` keeps a repeated POST from creating two things."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    if once:
        headers["Idempotency-Key"] = once
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(PARLEY + path, data, headers, method=method)
    for tries_left in range(5, -1, -1):
        wait = 1
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.loads(answer.read() or "null")
        except urllib.error.HTTPError as error:
            if error.code == 404 and method == "DELETE":
                return None
            if error.code not in (429, 503) or not tries_left:
                raise RuntimeError(f"{method} {path}: {error.read().decode()}") from None
            wait = int(error.headers.get("Retry-After", 1))
        except OSError:
            if not tries_left:
                raise
        time.sleep(wait)


def user(id):
    return "/v1/admin/users/" + urllib.parse.quote(f"ext:{id}", safe="")


def thread(order):
    return "/v1/admin/threads/" + urllib.parse.quote(f"ext:order-{order}", safe="")


def app_token(id):
    """Signs the token with which the app of a customer, or the page of an agent, signs in within five minutes."""
    parts = {"alg": "HS256"}, {"sub": id, "aud": "parley", "exp": int(time.time()) + 300}
    text = b".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts)
    return (text + b"." + base64.urlsafe_b64encode(hmac.digest(SECRET, text, "sha256")).rstrip(b"=")).decode()


def signed_up(id, name):
    parley("PUT", user(id), {"name": name})


def ordered(order, customer, agent, total):
    return parley("PUT", thread(order), {
        "kind": "group", "title": f"Order {order}", "labels": ["orders"], "custom": {"order": order, "total": total},
        "members": [{"user": f"ext:{customer}"}, {"user": f"ext:{agent}"}]})


def sent(order):
    body = {"sender": None, "payload": {"text": "Your order has been sent"}}
    parley("POST", f"{thread(order)}/messages", body, once=f"order-{order}-sent")


def answered(order, agent, text, ticket):
    body = {"sender": f"ext:{agent}", "payload": {"text": text}}
    parley("POST", f"{thread(order)}/messages", body, once=f"ticket-{ticket}")


def messages(order):
    found = []
    while True:
        after = found[-1]["seq"] if found else 0
        page = parley("GET", f"{thread(order)}/messages?after={after}&limit=200")
        found += page["messages"]
        if page["end"]:
            return found


def badge(id):
    return parley("GET", f"{user(id)}/unread")["unread_total"]


def closed(order):
    parley("DELETE", thread(order))


def day(order):
    """A day in the shop. What has a token of its own is done by the customer's app (Cleo) or the agent's page (Sam)."""
    signed_up("customer-42", "Cleo")
    signed_up("agent-7", "Sam")
    path = "/v1/threads/" + ordered(order, "customer-42", "agent-7", "49.90 EUR")["id"]
    cleo, sam = (parley("POST", "/v1/auth/login", {"token": app_token(id)}, token="")["session"]["token"]
                 for id in ("customer-42", "agent-7"))
    sent(order)
    sent(order)  # A queue that runs the job twice sends one message.
    print("Badge of Cleo:", badge("customer-42"))
    parley("POST", f"{path}/messages", {"payload": {"text": "When will it be here?"}}, cleo, f"cleo-{order}")
    print("Badge of Cleo:", badge("customer-42"))
    for found in parley("GET", "/v1/inbox?label=orders&unread=true", token=sam)["threads"]:
        print(f"Sam has {found['unread_count']} unread in {found['title']}, over {found['custom']['total']}")
    answered(order, "agent-7", "On Friday", ticket=f"{order}-1")
    parley("PATCH", f"{path}/settings", {"labels": ["answered"], "archived": True}, sam)
    for found in parley("GET", "/v1/inbox?label=orders&label=answered", token=sam)["threads"]:
        print(f"Sam has answered {found['title']}")
    for message in messages(order):
        print(f"  {message['sender']['name'] if message['sender'] else 'Shop'}: {message['payload']['text']}")
    print("Badge of Cleo:", badge("customer-42"))
    closed(order)
    print("Badge of Cleo:", badge("customer-42"))


if __name__ == "__main__":
    day(sys.argv[1])
