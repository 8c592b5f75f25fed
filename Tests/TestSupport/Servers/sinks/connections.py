"""HTTP/2 and HTTP/1.1 over TLS, as the client negotiates, misbehaving as the current behaviour says.

services.py interprets the requests."""

import asyncio
import contextlib
import itertools
import json

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import DataReceived, PingAckReceived, RequestReceived, StreamEnded, StreamReset, WindowUpdated
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes
from hyperframe.frame import GoAwayFrame

numbers = itertools.count(1)
# The time limit for a client that does not close a finished connection, or does not answer a ping.
LINGER_SECONDS = 2


class Request:
    def __init__(self, number, version, method, path, headers):
        self.connection = number
        self.version = version
        self.method = method
        self.path = path
        self.headers = headers
        self.body = b""


class Connection(asyncio.Protocol):
    """The connection of one client. The service's `connections` hold it while it is open."""

    def __init__(self, service):
        self.service = service
        self.number = next(numbers)
        self.speaker = None
        # Requests that were read but not accepted yet are dropped: nobody would receive the answer.
        self.is_over = False

    def connection_made(self, transport):
        self.transport = transport
        protocol = transport.get_extra_info("ssl_object").selected_alpn_protocol()
        self.service.connections.add(self)
        self.service.say(event="connection", connection=self.number, protocol=protocol)
        self.speaker = (HTTP2 if protocol == "h2" else HTTP1)(self)

    def data_received(self, data):
        self.speaker.receive(data)

    def connection_lost(self, error):
        self.service.connections.discard(self)
        self.service.say(event="disconnection", connection=self.number)
        self.is_over = True
        self.transport = None

    def write(self, data):
        if self.transport is not None:
            self.transport.write(data)

    async def answer(self, request, stream):
        """Acts as the behaviour says; `stream` answers, refuses and sends GOAWAY in the way of its protocol."""
        if self.is_over:
            return
        behaviour = self.service.behaviour(request)
        kind = behaviour.get("kind")
        if kind == "hang":
            return
        if kind in ("drop", "refuse", "reset", "goaway"):
            return getattr(stream, kind)()
        if kind == "slow":
            await asyncio.sleep(behaviour["seconds"])
        if self.is_over or not stream.is_open():
            return
        stream.processed()
        if "status" in behaviour:
            status, headers, body = self.service.planned_answer(request, behaviour)
        else:
            status, headers, body = self.service.serve(request)
        if kind == "lost":
            return self.abort()
        if kind == "torn":
            return stream.tear(status, headers)
        stream.respond(status, headers, body)
        if kind == "goaway_after":
            stream.goaway()

    def abort(self):
        self.is_over = True
        if self.transport is not None:
            self.transport.abort()


class Patient(H2Connection):
    """Refuses streams above the limit one by one, instead of closing the whole connection."""

    @property
    def open_inbound_streams(self):
        super().open_inbound_streams
        return 0


class HTTP2:
    def __init__(self, owner):
        self.owner = owner
        self.h2 = Patient(H2Configuration(client_side=False, header_encoding="utf-8"))
        self.limit = owner.service.streams_at_first or owner.service.streams
        self.h2.local_settings[SettingCodes.MAX_CONCURRENT_STREAMS] = self.limit
        self.h2.initiate_connection()
        self.requests = {}
        self.early = set()
        self.pending = {}
        self.last_processed = 0
        self.last = None
        self.flush()

    def flush(self):
        self.owner.write(self.h2.data_to_send())

    def receive(self, data):
        try:
            events = self.h2.receive_data(data)
        except ProtocolError:
            self.flush()
            return self.owner.abort()
        for event in events:
            self.take(event)
        self.flush()

    def take(self, event):
        if isinstance(event, RequestReceived) and len(self.requests) >= self.limit:
            if self.owner.service.streams_at_first:
                return self.owner.abort()
            self.h2.reset_stream(event.stream_id, error_code=ErrorCodes.REFUSED_STREAM)
        elif isinstance(event, RequestReceived):
            headers = dict(event.headers)
            method, path = headers.pop(":method"), headers.pop(":path")
            request = Request(self.owner.number, "2", method, path, headers)
            self.requests[event.stream_id] = request
            if self.owner.service.next_behaviour(request).get("kind") == "early":
                self.answer_early(request, event.stream_id)
        elif isinstance(event, DataReceived):
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            if event.stream_id in self.requests:
                self.requests[event.stream_id].body += event.data
        elif isinstance(event, StreamEnded):
            is_served = self.last is None or event.stream_id <= self.last
            if is_served and event.stream_id in self.requests and event.stream_id not in self.early:
                stream = HTTP2Stream(self, event.stream_id)
                asyncio.ensure_future(self.owner.answer(self.requests[event.stream_id], stream))
        elif isinstance(event, StreamReset):
            self.requests.pop(event.stream_id, None)
            self.pending.pop(event.stream_id, None)
        elif isinstance(event, PingAckReceived):
            self.owner.abort()
        elif isinstance(event, WindowUpdated):
            for stream_id in list(self.pending):
                self.pump(stream_id)

    def answer_early(self, request, stream_id):
        """Answers before the body, and does not read it."""
        self.early.add(stream_id)
        behaviour = self.owner.service.behaviour(request)
        status, headers, body = self.owner.service.planned_answer(request, behaviour)
        length = ("content-length", str(len(body)))
        self.h2.send_headers(stream_id, [(":status", str(status)), length, *headers.items()])
        self.h2.send_data(stream_id, body, end_stream=True)
        asyncio.get_running_loop().call_later(0.02, self.close_early, stream_id)

    def close_early(self, stream_id):
        # By then small requests have arrived, and the stream or the connection has ended.
        with contextlib.suppress(ProtocolError):
            self.h2.reset_stream(stream_id, error_code=ErrorCodes.NO_ERROR)
        self.flush()
        self.ended(stream_id)

    def pump(self, stream_id):
        """Sends as much of a body as the client's window allows."""
        body = self.pending[stream_id]
        while body:
            room = min(self.h2.local_flow_control_window(stream_id), self.h2.max_outbound_frame_size)
            if room <= 0:
                break
            self.h2.send_data(stream_id, body[:room])
            body = body[room:]
        self.pending[stream_id] = body
        if not body:
            del self.pending[stream_id]
            self.h2.end_stream(stream_id)
            self.ended(stream_id)

    def ended(self, stream_id):
        self.requests.pop(stream_id, None)
        self.close_if_done()

    def close_if_done(self):
        if self.last is not None and not any(number <= self.last for number in self.requests):
            # The client closes the connection. Closing it here would reset it under requests in transit, and lose answers
            # that the client has not read yet.
            asyncio.get_running_loop().call_later(LINGER_SECONDS, self.owner.abort)

    def open_up(self):
        """After the first answer, allows as many streams as the service usually does."""
        if self.limit != self.owner.service.streams:
            self.limit = self.owner.service.streams
            self.h2.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: self.limit})

    def drop(self):
        """Closes the connection once the client has read its answers; the behaviour `lost` closes it earlier."""
        self.owner.is_over = True
        self.h2.ping(bytes(8))
        self.flush()
        asyncio.get_running_loop().call_later(LINGER_SECONDS, self.owner.abort)

    def goaway(self):
        """Accepts nothing new. Unprocessed requests are dropped, unless they are older than a processed one."""
        self.last = self.last_processed
        self.flush()
        self.owner.write(GoAwayFrame(0, last_stream_id=self.last, error_code=ErrorCodes.NO_ERROR).serialize())
        self.close_if_done()


class HTTP2Stream:
    def __init__(self, connection, number):
        self.connection = connection
        self.number = number

    def is_open(self):
        last = self.connection.last
        return self.number in self.connection.requests and (last is None or self.number <= last)

    def processed(self):
        self.connection.last_processed = max(self.connection.last_processed, self.number)

    def respond(self, status, headers, body):
        h2 = self.connection.h2
        h2.send_headers(self.number, [(":status", str(status)), *headers.items()])
        self.connection.pending[self.number] = body
        self.connection.pump(self.number)
        self.connection.open_up()
        self.connection.flush()

    def tear(self, status, headers):
        self.connection.h2.send_headers(self.number, [(":status", str(status)), *headers.items()])
        self.connection.drop()

    def end(self, code):
        self.connection.h2.reset_stream(self.number, error_code=code)
        self.connection.flush()
        self.connection.ended(self.number)

    def refuse(self):
        self.end(ErrorCodes.REFUSED_STREAM)

    def reset(self):
        self.end(ErrorCodes.INTERNAL_ERROR)

    def drop(self):
        self.connection.drop()

    def goaway(self):
        if self.number < self.connection.last_processed and self.is_open():
            self.refuse()
        self.connection.goaway()


class HTTP1:
    """Handles one request after the other."""

    def __init__(self, owner):
        self.owner = owner
        self.buffer = b""
        self.queue = asyncio.Queue()
        asyncio.ensure_future(self.work())

    def receive(self, data):
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            head, rest = self.buffer.split(b"\r\n\r\n", 1)
            first, *lines = head.decode().split("\r\n")
            method, path, _ = first.split(" ")
            headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
            length = int(headers.get("content-length", 0))
            if len(rest) < length:
                return
            request = Request(self.owner.number, "1.1", method, path, headers)
            request.body, self.buffer = rest[:length], rest[length:]
            self.queue.put_nowait(request)

    async def work(self):
        while self.owner.transport is not None:
            await self.owner.answer(await self.queue.get(), self)

    def is_open(self):
        return True

    def processed(self):
        pass

    def respond(self, status, headers, body):
        self.write(status, headers, len(body), body)

    def write(self, status, headers, length, body):
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.owner.write(f"HTTP/1.1 {status} -\r\n{lines}content-length: {length}\r\n\r\n".encode() + body)

    def tear(self, status, headers):
        self.write(status, headers, 1, b"")
        self.goaway()

    def refuse(self):
        self.owner.abort()

    reset = drop = refuse

    def goaway(self):
        if self.owner.transport is not None:
            self.owner.transport.close()


def as_json(value):
    return json.dumps(value, separators=(",", ":")).encode()
