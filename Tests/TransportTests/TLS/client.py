"""Clients of the TLS tests: Python's ssl module, which is independent of Parley's code.

usage: client.py PORT CERTIFICATE SCENARIO [ARGUMENT...]

Each scenario is a function below. It prints what the client saw; the tests compare. Sockets time out after 20 s.
"""

import ctypes
import socket
import ssl
import struct
import sys
import warnings

PORT = int(sys.argv[1])
CERTIFICATE = sys.argv[2]
# Old versions are used on purpose.
warnings.simplefilter("ignore", DeprecationWarning)
# The same bytes as `pattern` in Uploads.swift.
BLOCK = bytes(i * 40503 & 0xFF for i in range(65521))


def pattern(count):
    return (BLOCK * (count // len(BLOCK) + 1))[:count]


def make_context(version=None):
    context = ssl.create_default_context(cafile=CERTIFICATE)
    # Python takes an end without close_notify for one with it, by default.
    context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF
    context.set_alpn_protocols(["h2", "http/1.1"])
    if version:
        context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
    return context


def connect_tcp(receive_buffer=None):
    sock = socket.socket()
    sock.settimeout(20)
    if receive_buffer:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.connect(("127.0.0.1", PORT))
    return sock


def connect(version=None, context=None, receive_buffer=None, session=None):
    context = context or make_context(version)
    # An end without close_notify is an error here.
    return context.wrap_socket(
        connect_tcp(receive_buffer), server_hostname="127.0.0.1", suppress_ragged_eofs=False, session=session
    )


def head(path="/", method="GET", **headers):
    lines = [f"{method} {path} HTTP/1.1", "Host: x"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def answer(read, size=65536):
    """Reads one answer with Content-Length. Returns its status and its body."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = read(size)
        if not piece:
            return "closed", data
        data += piece
    start, _, body = data.partition(b"\r\n\r\n")
    lines = start.decode().lower().split("\r\n")
    length = next(int(line.split(":")[1]) for line in lines if line.startswith("content-length:"))
    pieces, count = [body], len(body)
    while count < length:
        piece = read(size)
        if not piece:
            return "cut", b"".join(pieces)
        pieces.append(piece)
        count += len(piece)
    return lines[0].split(" ")[1], b"".join(pieces)


class Bytes:
    """A connection whose TLS records the test sends itself, in pieces of its choice."""

    def __init__(self, version, piece=None):
        self.sock, self.piece = connect_tcp(), piece
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = make_context(version).wrap_bio(self.incoming, self.outgoing, server_hostname="127.0.0.1")
        self.run(self.tls.do_handshake)
        self.send()

    def send(self):
        data = self.outgoing.read()
        step = self.piece or max(1, len(data))
        for start in range(0, len(data), step):
            self.sock.sendall(data[start : start + step])

    def run(self, body):
        while True:
            try:
                return body()
            except ssl.SSLWantReadError:
                self.send()
                data = self.sock.recv(65536)
                if data:
                    self.incoming.write(data)
                else:
                    self.incoming.write_eof()

    def write(self, data):
        self.tls.write(data)
        self.send()

    def read(self, size):
        try:
            return self.run(lambda: self.tls.read(size))
        except ssl.SSLZeroReturnError:
            return b""

    def close_notify(self):
        """Sends the close_notify and waits for nothing."""
        try:
            self.tls.unwrap()
        except ssl.SSLWantReadError:
            pass
        self.send()

    def is_closed(self):
        """Whether the server closes, whatever it sends before."""
        try:
            while self.sock.recv(65536):
                pass
        except ConnectionResetError:
            pass
        return True


# Scenarios


def get(version):
    with connect(version) as tls:
        tls.sendall(head("/a"))
        status, body = answer(tls.recv)
        print(tls.version(), tls.selected_alpn_protocol(), tls.cipher()[0], status, body.decode())


def refused(version):
    """A handshake that the server must refuse."""
    context = make_context()
    context.set_ciphers("ALL:@SECLEVEL=0")
    if version == "TLSv1_2_CBC":
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers("ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA384")
    else:
        context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
    try:
        with connect(context=context):
            print("accepted")
    except ssl.SSLError as error:
        print(error.reason)


def pieces(version, size, count):
    """A request with a body, each byte or so in a packet of its own, twice on one connection."""
    client = Bytes(version, int(size))
    for _ in range(2):
        client.write(head(method="POST", Content_Length=int(count)))
        client.write(pattern(int(count)))
        status, body = answer(client.read)
        print(status, body == b"POST / " + pattern(int(count)))


def slow(version, count):
    """Reads a large answer in small pieces from a small receive buffer."""
    with connect(version, receive_buffer=4096) as tls:
        tls.sendall(head())
        status, body = answer(tls.recv, size=1024)
        print(status, body == pattern(int(count)))


def upload(version, count):
    with connect(version) as tls:
        tls.sendall(head(method="POST", Content_Length=int(count)) + pattern(int(count)))
        print(*[part if isinstance(part, str) else part.decode() for part in answer(tls.recv)])


def pipelined(version, count):
    """Many requests in one record, and their answers in order."""
    with connect(version) as tls:
        tls.sendall(b"".join(head(f"/{i}") for i in range(int(count))))
        data = b""
        while data.count(b"GET /") < int(count):
            data += tls.recv(65536)
        print([int(line.split(b" ")[0]) for line in data.split(b"GET /")[1:]] == list(range(int(count))))


def truncated(version, end):
    """Ends in the middle of a body: by a FIN alone, by a close_notify, or by a reset."""
    client = Bytes(version)
    client.write(head(method="POST", Content_Length=1000) + b"x" * 500)
    sys.stdin.readline()
    if end == "close_notify":
        client.close_notify()
    if end == "reset":
        client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.sock.close()
        return
    client.sock.shutdown(socket.SHUT_WR)
    print(client.is_closed())


def half_closed(version):
    """Sends its close_notify behind a request, then reads the answer."""
    client = Bytes(version)
    client.write(head("/last"))
    client.close_notify()
    client.sock.shutdown(socket.SHUT_WR)
    print(*[part if isinstance(part, str) else part.decode() for part in answer(client.read)])
    print(client.read(100))


def closing(version):
    """Is told by the server that the connection ends: close_notify, not only a FIN."""
    with connect(version) as tls:
        tls.sendall(head(Connection="close"))
        print(answer(tls.recv)[0], tls.recv(100))


def garbage(version):
    """Sends a record that no key has encrypted."""
    client = Bytes(version)
    client.write(head())
    answer(client.read)
    client.sock.sendall(b"\x17\x03\x03\x00\x40" + bytes(64))
    print(client.is_closed())


def after_close_notify(version):
    """Sends another record after its close_notify."""
    client = Bytes(version)
    client.write(head("/before"))
    print(answer(client.read)[0])
    client.close_notify()
    client.sock.sendall(b"\x17\x03\x03\x00\x40" + bytes(64))
    print(client.is_closed())


def leave(version, count):
    """Many connections that end in five ways, some in the middle of the handshake."""
    for number in range(int(count)):
        way = number % 5
        if way == 0:
            connect_tcp().close()
            continue
        if way == 1:
            sock = connect_tcp()
            sock.sendall(b"\x16\x03\x01\x00\xc8\x01\x00")
            sock.close()
            continue
        client = Bytes(version)
        client.write(head())
        if way == 2:
            client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            answer(client.read)
        if way == 3:
            client.close_notify()
        client.sock.close()
    print("left")


def resume(version):
    """Connects again with the ticket of the first connection, waits for a line, and does so again."""
    context = make_context(version)

    def visit(session):
        with connect(context=context, session=session) as tls:
            tls.sendall(head())
            # TLS 1.3 sends tickets after the handshake.
            answer(tls.recv)
            print(tls.session_reused, flush=True)
            return tls.session

    session = visit(visit(None))
    sys.stdin.readline()
    visit(session)


class NewKeys:
    """A connection that asks for new keys, which Python's module can't."""

    def __init__(self, receive_buffer=None):
        self.library = ctypes.CDLL("libssl.so.3")
        for name in ("SSL_CTX_new", "TLS_client_method", "SSL_new"):
            getattr(self.library, name).restype = ctypes.c_void_p
        context = ctypes.c_void_p(self.library.SSL_CTX_new(ctypes.c_void_p(self.library.TLS_client_method())))
        self.tls = ctypes.c_void_p(self.library.SSL_new(context))
        self.sock = connect_tcp(receive_buffer)
        # OpenSSL expects a blocking socket here, and a timeout would make it another.
        self.sock.settimeout(None)
        self.library.SSL_set_fd(self.tls, self.sock.fileno())
        assert self.library.SSL_connect(self.tls) == 1

    def write(self, data):
        assert self.library.SSL_write(self.tls, data, len(data)) == len(data)

    def read(self, size):
        data = ctypes.create_string_buffer(size)
        count = self.library.SSL_read(self.tls, data, size)
        return data.raw[: max(0, count)]

    def ask(self):
        """Asks for new keys of both sides. Returns False if the connection is closed."""
        requested = 1
        return self.library.SSL_key_update(self.tls, requested) == 1 and self.library.SSL_do_handshake(self.tls) == 1


def new_keys():
    """Changes keys 500 times, with a request each time."""
    client = NewKeys()
    answers = []
    for number in range(500):
        assert client.ask()
        client.write(head(f"/{number}"))
        answers.append(answer(client.read)[1])
    print(answers == [f"GET /{number} ".encode() for number in range(500)])


def unread_keys():
    """Asks for an answer and then for new keys, again and again, and reads nothing."""
    client = NewKeys(receive_buffer=4096)
    client.write(head())
    sys.stdin.readline()
    for count in range(100_000):
        if not client.ask():
            print("closed" if count > 0 else "failed")
            return
    print("still open")


globals()[sys.argv[3]](*sys.argv[4:])
