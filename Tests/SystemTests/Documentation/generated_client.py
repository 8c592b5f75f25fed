#!/usr/bin/env python3
"""Generates a client from docs/openapi.yaml with PyPI's openapi-python-client, and follows the walk-through.

    generated_client.py generate DOCUMENT FOLDER    prints what the generator prints besides its first line
    generated_client.py walk NODE FOLDER            two accounts, thread, message, sync, receipts, inbox, attachment
"""

import io
import os
import subprocess
import sys
import uuid


def generate(document, folder):
    # The generator formats its output with ruff, which is installed beside it.
    programs = [os.path.join(path, "bin") for path in os.environ["PYTHONPATH"].split(":")]
    environment = os.environ | {"PATH": ":".join(programs + [os.environ["PATH"]])}
    line = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", "--path", document]
    line += ["--output-path", os.path.join(folder, "parley_client")]
    line += ["--config", os.path.join(os.path.dirname(os.path.abspath(__file__)), "generator.yaml")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run(line, env=environment, check=False, **pipes)
    print(*done.stdout.splitlines()[1:], sep="\n", end="")
    return done.returncode


def walk(node, folder):
    sys.path.insert(0, folder)
    from parley_client import AuthenticatedClient, Client, models
    from parley_client.api.attachments import create_attachment, get_attachment
    from parley_client.api.auth import login, register
    from parley_client.api.messages import edit_message, list_messages, put_reaction, send_message
    from parley_client.api.receipts import list_receipts, put_receipt
    from parley_client.api.sync import get_inbox, sync
    from parley_client.api.threads import create_thread, list_members
    from parley_client.api.users import get_own_account, search_users
    from parley_client.types import File

    def signed_in(name):
        username, password = f"{name.lower()}-{uuid.uuid4().hex[:8]}", "a river of tea"
        account = models.PasswordRegistration(username=username, password=password, name=name)
        assert register.sync(client=Client(base_url=node), body=account).user.name == name
        credentials = models.PasswordLogin(username=username, password=password, device_name="phone")
        answer = login.sync(client=Client(base_url=node), body=credentials)
        return AuthenticatedClient(base_url=node, token=answer.session.token), answer.user

    ann, _ = signed_in("Ann")
    ben, ben_user = signed_in("Ben")
    assert get_own_account.sync(client=ben).id == ben_user.id

    found = search_users.sync(client=ann, query=ben_user.username).users
    assert [user.id for user in found] == [ben_user.id], found
    draft = models.ThreadDraft(kind=models.ThreadKind.DIRECT, members=[ben_user.id])
    thread = create_thread.sync(client=ann, body=draft)
    assert isinstance(thread, models.Thread) and thread.peer.name == "Ben", thread
    assert len(list_members.sync(thread.id, client=ann).members) == 2

    cursor = get_inbox.sync(client=ben).cursor
    file = create_attachment.sync(client=ann, body=File(payload=io.BytesIO(b"a hill of toast")), name="toast.txt")
    assert file.state == models.AttachmentState.READY, file
    payload = models.TextPayload.from_dict({"text": "Hello Ben", "attachments": [{"id": str(file.id)}]})
    sent = send_message.sync(thread.id, client=ann, body=models.MessageDraft(id=uuid.uuid4(), payload=payload))
    assert sent.seq == 1 and sent.payload.text == "Hello Ben", sent
    assert get_attachment.sync(file.id, client=ben).payload.read() == b"a hill of toast"

    page = sync.sync(client=ben, cursor=cursor, wait=10)
    assert [event.type_ for event in page.events] == [models.EventType.MESSAGE_CREATED], page
    assert page.events[0].data["id"] == str(sent.id)
    assert get_inbox.sync(client=ben).unread_total == 1
    put_receipt.sync_detailed(thread.id, client=ben, body=models.Marks(read=1))
    put_reaction.sync_detailed(thread.id, sent.id, "👍", client=ben)
    edit = models.MessageEdit(payload=models.TextPayload(text="Hello"))
    edited = edit_message.sync(thread.id, sent.id, client=ann, body=edit)
    assert edited.edited_at and edited.payload.text == "Hello", edited
    history = list_messages.sync(thread.id, client=ben)
    assert history.end and history.messages[0].reactions["👍"].me is True, history
    readers = list_receipts.sync(thread.id, sent.id, client=ann).receipts
    assert [receipt.user.id for receipt in readers if receipt.read_at] == [ben_user.id], readers
    inbox = get_inbox.sync(client=ben)
    assert inbox.unread_total == 0 and inbox.threads[0].last_message.payload.text == "Hello", inbox

    refusal = sync.sync_detailed(client=ben, cursor="no cursor", wait=0)
    assert refusal.status_code == 422 and refusal.parsed.code == models.ProblemCode.INVALID, refusal
    print("walked")


if __name__ == "__main__":
    sys.exit({"generate": generate, "walk": walk}[sys.argv[1]](*sys.argv[2:]))
