"""Compares what a client shows with what it should show."""

import json

from reference_client import PRESENCE


def comparable(value):
    """A value without presence and without absent keys."""
    if isinstance(value, list):
        return [comparable(item) for item in value]
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items() if item is not None and key not in PRESENCE}
    return value


def differences(shown, right, path=""):
    shown, right = comparable(shown), comparable(right)
    if isinstance(shown, dict) and isinstance(right, dict):
        keys = sorted(shown.keys() | right.keys(), key=str)
        return [line for key in keys for line in differences(shown.get(key), right.get(key), f"{path}.{key}")]
    return [] if shown == right else [f"{path}: {json.dumps(shown)} and should be {json.dumps(right)}"]


def shown_members(members):
    return {member["user"]["id"]: member for member in members if member["status"] in ("invited", "joined")}
