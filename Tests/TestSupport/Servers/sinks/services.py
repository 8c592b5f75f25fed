"""What APNs, FCM, Google's token server and a Web Push service require of a request, and what they answer."""

import base64
import hashlib
import json
import re
import time
import urllib.parse
import uuid

from connections import as_json
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_ID, TEAM_ID, TOPICS = "ABCDE12345", "TEAM123456", ("org.example.parley", "org.example.other")


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def point(key):
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


class Refusal(Exception):
    def __init__(self, status, reason):
        self.status, self.reason = status, reason


def claims(token, key):
    """Returns header and claims of a signed JWT. Raises ValueError if the key has not signed it."""
    head, body, signature = token.split(".")
    header, signed, raw = json.loads(unb64(head)), f"{head}.{body}".encode(), unb64(signature)
    try:
        if isinstance(key, ec.EllipticCurvePublicKey):
            if header["alg"] != "ES256" or len(raw) != 64:
                raise ValueError("not ES256")
            halves = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")
            key.verify(encode_dss_signature(*halves), signed, ec.ECDSA(SHA256()))
        else:
            if header["alg"] != "RS256":
                raise ValueError("not RS256")
            key.verify(raw, signed, padding.PKCS1v15(), SHA256())
    except InvalidSignature as error:
        raise ValueError("not signed") from error
    return header, json.loads(unb64(body))


class Service:
    """Applies behaviours in order: the first that matches a request's token."""

    protocols = ["http/1.1"]

    def __init__(self, say, port):
        self.port = port
        self.streams = 100
        # The limit until a connection has had its first answer; a client that exceeds it is disconnected, as by APNs.
        self.streams_at_first = None
        self.connections = set()
        self.behaviours = []
        self.say = lambda **what: say(service=self.name, **what)

    def token(self, request):
        return request.path.rsplit("/", 1)[-1]

    def next_behaviour(self, request):
        token = self.token(request)
        fitting = (behaviour for behaviour in self.behaviours if behaviour["times"] != 0 and behaviour["token"] in (None, token))
        return next(fitting, {})

    def behaviour(self, request):
        token = self.token(request)
        self.say(event="request", token=token, id=request.headers.get("apns-id"), connection=request.connection)
        behaviour = self.next_behaviour(request)
        if behaviour:
            behaviour["times"] -= 1
        return behaviour

    def planned_answer(self, request, behaviour):
        headers = dict(behaviour.get("headers", {}))
        body = behaviour["body"].encode() if "body" in behaviour else self.refusal(behaviour["status"], behaviour.get("reason", ""))
        body += b"x" * behaviour.get("padding", 0)
        self.say(event="refused", token=self.token(request), status=behaviour["status"], reason=behaviour.get("reason", ""))
        return behaviour["status"], headers, body

    def serve(self, request):
        try:
            status, headers, body, accepted = self.accept(request)
        except Refusal as refusal:
            self.say(
                event="refused", token=self.token(request), status=refusal.status, reason=refusal.reason)
            return refusal.status, {}, self.refusal(refusal.status, refusal.reason)
        token = self.token(request)
        alert = {"service": self.name, "token": token, "connection": request.connection, **accepted} if accepted else None
        self.say(event="accepted", token=token, alert=alert)
        return status, headers, body


class APNs(Service):
    name = "apns"
    protocols = ["h2"]

    def __init__(self, say, port, directory):
        super().__init__(say, port)
        key = ec.generate_private_key(ec.SECP256R1())
        self.key = key.public_key()
        with open(f"{directory}/apns.p8", "wb") as file:
            file.write(pem(key))

    def refusal(self, status, reason):
        body = {"reason": reason}
        if status == 410:
            body["timestamp"] = int(time.time() * 1000)
        return as_json(body)

    def authenticate(self, request):
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise Refusal(403, "MissingProviderToken")
        try:
            header, said = claims(token, self.key)
        except (ValueError, KeyError):
            raise Refusal(403, "InvalidProviderToken") from None
        if header.get("kid") != KEY_ID or said.get("iss") != TEAM_ID:
            raise Refusal(403, "InvalidProviderToken")
        if not time.time() - 3600 < said["iat"] <= time.time() + 60:
            raise Refusal(403, "ExpiredProviderToken")
        return hashlib.sha256(token.encode()).hexdigest()[:16]

    def accept(self, request):
        headers = request.headers
        if request.method != "POST":
            raise Refusal(405, "MethodNotAllowed")
        if not re.fullmatch(r"/3/device/[^/]+", request.path):
            raise Refusal(404, "BadPath")
        signer = self.authenticate(request)
        if not re.fullmatch(r"([0-9a-fA-F]{2})+", self.token(request)):
            raise Refusal(400, "BadDeviceToken")
        push_id = headers.get("apns-id", str(uuid.uuid4()))
        if not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", push_id):
            raise Refusal(400, "BadMessageId")
        if "apns-topic" not in headers:
            raise Refusal(400, "MissingTopic")
        if headers["apns-topic"] not in TOPICS:
            raise Refusal(400, "DeviceTokenNotForTopic")
        kind, priority = headers.get("apns-push-type"), headers.get("apns-priority", "10")
        if kind not in ("alert", "background"):
            raise Refusal(400, "InvalidPushType")
        if priority not in (("10", "5", "1") if kind == "alert" else ("5",)):
            raise Refusal(400, "BadPriority")
        if not headers.get("apns-expiration", "0").isdigit():
            raise Refusal(400, "BadExpirationDate")
        if len(headers.get("apns-collapse-id", "").encode()) > 64:
            raise Refusal(400, "BadCollapseId")
        self.check(request.body, kind)
        return 200, {"apns-id": push_id}, b"", {
            "id": push_id, "collapse": headers.get("apns-collapse-id"), "kind": kind, "priority": priority,
            "expiration": int(headers.get("apns-expiration", "0")), "topic": headers["apns-topic"], "signer": signer,
            "payload": request.body.decode(),
        }

    def check(self, body, kind):
        if not body:
            raise Refusal(400, "PayloadEmpty")
        if len(body) > 4096:
            raise Refusal(413, "PayloadTooLarge")
        # Apple does not document the answer to other JSON.
        try:
            aps = json.loads(body)["aps"]
            if kind == "alert":
                is_right = "alert" in aps or "badge" in aps
            else:
                is_right = aps["content-available"] == 1 and not {"alert", "badge", "sound"} & set(aps)
        except (ValueError, KeyError, TypeError):
            is_right = False
        if not is_right:
            raise Refusal(400, "NotAPayload")


class OAuth(Service):
    name = "oauth"
    scope = "https://www.googleapis.com/auth/firebase.messaging"

    def __init__(self, say, port, directory):
        super().__init__(say, port)
        key = rsa.generate_private_key(65537, 2048)
        self.key = key.public_key()
        self.url = f"https://127.0.0.1:{port}/token"
        self.account = "parley@sinks.iam.gserviceaccount.com"
        self.tokens = {}
        self.life = 3599
        with open(f"{directory}/fcm.json", "w") as file:
            json.dump({
                "type": "service_account", "project_id": "sinks", "private_key_id": "k1",
                "private_key": pem(key).decode(), "client_email": self.account, "token_uri": self.url,
            }, file)

    def refusal(self, status, reason):
        return as_json({"error": reason, "error_description": "as told"})

    def accept(self, request):
        form = dict(urllib.parse.parse_qsl(request.body.decode()))
        if request.method != "POST" or form.get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer":
            raise Refusal(400, "unsupported_grant_type")
        try:
            _, said = claims(form["assertion"], self.key)
            now = time.time()
            is_right = (
                said["iss"] == self.account and said["aud"] == self.url and self.scope in said["scope"].split()
                and now - 3600 < said["iat"] <= now + 60 and now < said["exp"] <= said["iat"] + 3600)
        except (ValueError, KeyError):
            is_right = False
        if not is_right:
            raise Refusal(400, "invalid_grant")
        token = b64(uuid.uuid4().bytes)
        self.tokens[token] = time.time() + self.life
        answer = as_json({"access_token": token, "expires_in": self.life, "token_type": "Bearer"})
        return 200, {"content-type": "application/json; charset=UTF-8"}, answer, {}


class FCM(Service):
    name = "fcm"
    protocols = ["h2", "http/1.1"]

    def __init__(self, say, port, oauth):
        super().__init__(say, port)
        self.oauth = oauth

    def token(self, request):
        try:
            return json.loads(request.body)["message"]["token"]
        except (ValueError, KeyError, TypeError):
            return ""

    def refusal(self, status, reason):
        detail = {"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": reason}
        name = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
                429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}.get(status, reason)
        return as_json({"error": {"code": status, "message": "As told.", "status": name, "details": [detail]}})

    def accept(self, request):
        if request.method != "POST" or request.path != "/v1/projects/sinks/messages:send":
            raise Refusal(404, "NOT_FOUND")
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if self.oauth.tokens.get(token, 0) < time.time():
            raise Refusal(401, "UNAUTHENTICATED")
        try:
            message = json.loads(request.body)["message"]
            is_right = all(isinstance(value, str) for value in message.get("data", {}).values())
            android = message.get("android", {})
            is_right = is_right and re.fullmatch(r"[0-9]+(\.[0-9]+)?s", android.get("ttl", "0s"))
            is_right = is_right and android.get("priority", "NORMAL").upper() in ("NORMAL", "HIGH")
            is_right = is_right and isinstance(message["token"], str)
        except (ValueError, KeyError, TypeError, AttributeError):
            is_right = False
        if not is_right or len(request.body) > 4096 + 1024:
            raise Refusal(400, "INVALID_ARGUMENT")
        is_shown = "notification" in message or "notification" in android
        name = f"projects/sinks/messages/{uuid.uuid4()}"
        return 200, {"content-type": "application/json"}, as_json({"name": name}), {
            "collapse": android.get("collapse_key"), "kind": "alert" if is_shown else "background",
            "signer": hashlib.sha256(token.encode()).hexdigest()[:16], "payload": request.body.decode(),
        }


class WebPush(Service):
    name = "webpush"

    def __init__(self, say, port):
        super().__init__(say, port)
        self.subscriptions = {}

    def subscribe(self):
        key, secret, name = ec.generate_private_key(ec.SECP256R1()), uuid.uuid4().bytes, b64(uuid.uuid4().bytes)
        self.subscriptions[name] = (key, secret)
        endpoint = f"https://127.0.0.1:{self.port}/push/{name}"
        return {"endpoint": endpoint, "p256dh": b64(point(key.public_key())), "auth": b64(secret)}

    def refusal(self, status, reason):
        return as_json({"code": status, "message": reason})

    def authenticate(self, request):
        found = re.fullmatch(r"vapid t=([\w.-]+), ?k=([\w-]+)", request.headers.get("authorization", ""))
        if not found:
            raise Refusal(401, "no VAPID")
        try:
            key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), unb64(found[2]))
            _, said = claims(found[1], key)
            is_right = said["aud"] == f"https://127.0.0.1:{self.port}" and ":" in said["sub"]
            is_right = is_right and time.time() < said["exp"] <= time.time() + 86400
        except (ValueError, KeyError):
            is_right = False
        if not is_right:
            raise Refusal(403, "bad VAPID")
        return found[2]

    def accept(self, request):
        headers, name = request.headers, self.token(request)
        if request.method != "POST" or name not in self.subscriptions:
            raise Refusal(404, "no such subscription")
        signer = self.authenticate(request)
        if not headers.get("ttl", "").isdigit():
            raise Refusal(400, "no TTL")
        if not re.fullmatch(r"[\w-]{0,32}", headers.get("topic", "")):
            raise Refusal(400, "bad Topic")
        if headers.get("urgency", "normal") not in ("very-low", "low", "normal", "high"):
            raise Refusal(400, "bad Urgency")
        if len(request.body) > 4096:
            raise Refusal(413, "too large")
        try:
            payload = self.decrypt(request, *self.subscriptions[name]).decode()
        except Exception:
            raise Refusal(400, "can't be decrypted") from None
        return 201, {"location": f"https://127.0.0.1:{self.port}/m/{uuid.uuid4()}"}, b"", {
            "collapse": headers.get("topic"), "kind": headers.get("urgency", "normal"), "ttl": int(headers["ttl"]),
            "signer": signer, "payload": payload,
        }

    def decrypt(self, request, key, secret):
        """RFC 8291 with RFC 8188, one record."""
        if request.headers.get("content-encoding") != "aes128gcm":
            raise ValueError("another encoding")
        body = request.body
        salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        sender, record = body[21:21 + length], body[21 + length:]
        if len(record) > size:
            raise ValueError("more than a record")
        shared = key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
        info = b"WebPush: info\0" + point(key.public_key()) + sender
        derive = lambda length, salt, info, secret: HKDF(SHA256(), length, salt, info).derive(secret)
        input_key = derive(32, secret, info, shared)
        content_key = derive(16, salt, b"Content-Encoding: aes128gcm\0", input_key)
        nonce = derive(12, salt, b"Content-Encoding: nonce\0", input_key)
        plain = AESGCM(content_key).decrypt(nonce, record, None).rstrip(b"\0")
        if plain[-1:] != b"\2":
            raise ValueError("not the last record")
        return plain[:-1]
