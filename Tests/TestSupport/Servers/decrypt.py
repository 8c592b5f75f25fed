"""Decrypts Web Push bodies by PyPI's http_ece, which knows nothing of Parley.

Reads lines of JSON from standard input: {"private": …, "auth": …, "body": …}, all in base64url without padding; "private"
is the 32 bytes of the browser's key. Prints a line of JSON for each: {"text": …} or {"error": …}."""

import base64
import json
import sys

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


for line in sys.stdin:
    given = json.loads(line)
    key = ec.derive_private_key(int.from_bytes(decode(given["private"]), "big"), ec.SECP256R1())
    try:
        plain = http_ece.decrypt(
            decode(given["body"]), private_key=key, auth_secret=decode(given["auth"]), version="aes128gcm"
        )
        print(json.dumps({"text": plain.decode()}))
    except http_ece.ECEException as error:
        print(json.dumps({"error": error.message}))
