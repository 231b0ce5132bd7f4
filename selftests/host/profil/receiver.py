# SPDX-License-Identifier: GPL-2.0-only
"""receiver.py: a store for profiles, as the documents of real ones describe it.

POST /ingest is that of Grafana Pyroscope's "Server HTTP API" (legacy HTTP API,
docs at 060dd8b208fc); POST /v1/pprof that of the pprof receiver of OpenTelemetry
Collector Contrib (448c6f8f4e89). Both say no to whatever these do not describe.
"""
import gzip
import http.server
import os
import re
import socket
import threading
import time
import urllib.parse
import urllib.request

# Longest wait for what is to happen at once, on a machine with other work
PATIENCE = 600

# Nor does the profil of a test ask a proxy for what is on this machine
os.environ["no_proxy"] = "*"


def equal(one, other):
    """Fail unless two values are equal."""
    assert one == other, f"{one!r} is not {other!r}"


def wait_for(what):
    """Wait until what() is true."""
    end = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


def get(url):
    """Return the answer to a GET request."""
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        return answer.read()


def metrics(port):
    """Return the numbers of profil's /metrics, by name and labels."""
    text = get(f"http://127.0.0.1:{port}/metrics").decode()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
            for line in text.splitlines() if not line.startswith("#")}


def varint(data, at):
    """Return the number at an offset, and the offset behind it."""
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return number, at


def fields(data):
    """Yield number and value of each field of a protocol buffer."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value = data[at:at + size]
            if len(value) != size:
                raise ValueError("a field is cut")
            at += size
        else:
            raise ValueError("no such type of a field")
        yield key >> 3, value


class Profile:
    """A profile of profile.proto, with names in place of numbers."""

    def __init__(self, data):
        messages = list(fields(gzip.decompress(data)))
        self.strings = [value.decode() for number, value in messages
                        if number == 6]
        self.types = [self.text(dict(fields(value))[1])
                      for number, value in messages if number == 1]
        self.mappings = {}
        for number, value in messages:
            if number == 3:
                mapping = dict(fields(value))
                self.mappings[self.text(mapping.get(5, 0))] = \
                    self.text(mapping.get(6, 0))
        functions = {}
        for number, value in messages:
            if number == 5:
                function = dict(fields(value))
                functions[function[1]] = self.text(function[2])
        locations = {}
        for number, value in messages:
            if number == 4:
                location = list(fields(value))
                lines = [dict(fields(line)) for field, line in location
                         if field == 4]
                locations[dict(location)[1]] = [functions[line[1]]
                                                for line in lines]
        self.samples = [self.sample(value, locations)
                        for number, value in messages if number == 2]
        self.comments = [self.text(value) for number, value in messages
                         if number == 13]
        self.period = dict(messages).get(12)
        self.time = dict(messages).get(9)
        self.duration = dict(messages).get(10)

    def text(self, index):
        """Return a string of the table."""
        return self.strings[index]

    def sample(self, data, locations):
        """Return stack, values and labels of a sample."""
        stack, values, labels = [], [], {}
        for number, value in fields(data):
            if number == 1:
                stack += locations[value]
            elif number == 2:
                values.append(value)
            elif number == 3:
                label = dict(fields(value))
                labels[self.text(label[1])] = self.text(label.get(2, 0))
        return stack, values, labels

    def ticks(self, function=None):
        """Return all ticks, or those with a function innermost."""
        return sum(values[0] for stack, values, _ in self.samples
                   if function in (None, stack[0]))


class Bad(Exception):
    """The request is not as the documents say."""


def form_file(body, content_type):
    """Return the contents of the only field of a form, "profile"."""
    found = re.fullmatch("multipart/form-data; boundary=(\\S+)", content_type)
    if not found:
        raise Bad("not a form")
    mark = b"--" + found[1].encode()
    parts = body.split(b"\r\n" + mark)
    if not body.startswith(mark) or len(parts) != 2 or parts[1] != b"--\r\n":
        raise Bad("not a form of one field")
    head, data = parts[0][len(mark):].split(b"\r\n\r\n", 1)
    if b'name="profile"' not in head:
        raise Bad("the field is not called profile")
    return data


class Received:
    """A profile, and what came with it."""

    def __init__(self, path, headers, body):
        self.headers = headers
        url = urllib.parse.urlsplit(path)
        self.query = dict(urllib.parse.parse_qsl(url.query,
                                                 strict_parsing=bool(url.query)))
        self.path = url.path
        if url.path == "/ingest":
            if self.query.get("format") != "pprof":
                raise Bad("format is not pprof")
            self.name = self.query["name"]
            self.start = int(self.query["from"])
            self.until = int(self.query["until"])
            self.data = form_file(body, headers.get("Content-Type", ""))
        elif url.path == "/v1/pprof":
            self.data = body
        else:
            raise Bad("no such path")
        self.profile = Profile(self.data)

    def labels(self):
        """Return name and labels of Pyroscope's name."""
        found = re.fullmatch(r"([^{}]+)(?:\{([^{}]*)\})?", self.name)
        pairs = [pair.split("=") for pair in (found[2] or "").split(",")]
        return found[1], dict(pairs)


class Receiver:
    """A store. Each of faults is how it treats the next request, in turn: a
    status, "cut", "silent", "slow" or "poison", which it treats as poison_is each
    time; after the last one it accepts all."""

    def __init__(self, *faults, address="127.0.0.1", port=0):
        self.faults = list(faults)
        self.received, self.problems = [], []
        self.tried = []  # when each request came
        self.lock = threading.Lock()
        self.retry_after = None
        self.poison, self.poison_is = None, 500
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """Handles a request."""
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                receiver.handle(self)

            do_GET = do_PUT = do_POST

        http.server.ThreadingHTTPServer.allow_reuse_address = True
        self.server = http.server.ThreadingHTTPServer((address, port), Handler)
        self.server.daemon_threads = True
        # A client that is gone
        self.server.handle_error = lambda *_: None
        self.port = self.server.server_address[1]
        self.url = f"http://{address}:{self.port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,),
                         daemon=True).start()

    def handle(self, request):
        """Answer a request, and keep what came."""
        size = int(request.headers["Content-Length"])
        body = request.rfile.read(size)
        with self.lock:
            self.tried.append(time.monotonic())
            fault = self.faults.pop(0) if self.faults else None
        if fault == "poison":
            self.poison = body
        if body == self.poison:
            fault = self.poison_is
        if fault == "cut":
            request.connection.shutdown(socket.SHUT_RDWR)
            request.close_connection = True
            return
        if fault == "silent":
            time.sleep(60)
            return
        if fault == "slow":
            time.sleep(2)
            fault = None
        self.answer(request, fault, body)

    def answer(self, request, status, body):
        """Keep a profile unless it is bad, or is to be rejected."""
        text = b"because of the test\n" if status else b""
        try:
            if not status:
                if request.command != "POST":
                    raise Bad("no POST")
                with self.lock:
                    self.received.append(
                        Received(request.path, request.headers, body))
        except (Bad, KeyError, ValueError, IndexError, OSError) as problem:
            self.problems.append(repr(problem))
            status = 400
        request.send_response(status or
                              (204 if request.path == "/v1/pprof" else 200))
        if status and self.retry_after:
            request.send_header("Retry-After", self.retry_after)
        request.send_header("Content-Length", str(len(text)))
        request.end_headers()
        request.wfile.write(text)

    def ticks(self):
        """Return the ticks of all profiles."""
        return sum(one.profile.ticks() for one in self.received)

    def close(self):
        """End: the port refuses connections."""
        self.server.shutdown()
        self.server.server_close()
