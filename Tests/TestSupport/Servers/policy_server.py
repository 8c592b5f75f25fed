"""A policy of an operator on a port of 127.0.0.1, for tests. The first word of a message's text says how it behaves, unless
the file DIRECTORY/behaviour has a word or an answer. It writes each question as a line to DIRECTORY/questions, and ends when
its standard input does.

policy_server.py PORT DIRECTORY"""

import json
import os
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, DIRECTORY = int(sys.argv[1]), sys.argv[2]

ANSWERS = {
    "deny": {"action": "deny", "code": "too_rude", "detail": "Please be polite."},
    "plaindeny": {"action": "deny"},
    "baddeny": {"action": "deny", "code": "Too Rude!", "detail": "x" * 2000},
    "review": {"action": "review", "code": "suspicious", "detail": "A link of a new account."},
    "badrewrite": {"action": "rewrite", "payload": {"text": ""}},
    "norewrite": {"action": "rewrite"},
    "unknown": {"action": "perhaps"},
}


class Policy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(DIRECTORY + "/questions", "ab") as questions:
            questions.write(body + b"\n")
        text = json.loads(body)["message"]["payload"].get("text", "")
        word = text.split(" ")[0]
        if os.path.exists(DIRECTORY + "/behaviour"):
            word = open(DIRECTORY + "/behaviour").read() or word
        if word in ("500", "429", "302"):
            return self.answer(b"{}", int(word))
        if word == "drop":
            self.close_connection = True
            return self.connection.shutdown(socket.SHUT_RDWR)
        if word == "garbage":
            return self.answer(b'{"action": "allow')
        if word == "slow":
            time.sleep(2)
        if word == "rewrite":
            return self.answer(json.dumps({"action": "rewrite", "payload": {"text": "(rewritten)" + text[7:]}}).encode())
        if word.startswith("{"):
            return self.answer(word.encode())
        self.answer(json.dumps(ANSWERS.get(word, {"action": "allow"})).encode())

    def answer(self, body, status=200):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except ConnectionError:  # The node has given up waiting.
            self.close_connection = True

    def log_message(self, *arguments):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


server = Server(("127.0.0.1", PORT), Policy)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"event": "ready"}), flush=True)
sys.stdin.read()
