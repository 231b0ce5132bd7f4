#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""push.py DIR: tests "profil --push" and "profil --listen" against a store of the
test. Prints KTAP.

The profil of the test, DIR/pushed, has no module: its table fills by itself, and
it says how many ticks it has counted.
"""
import concurrent.futures
import os
import random
import re
import resource
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from receiver import (  # noqa: E402
    PATIENCE, Profile, Receiver, equal, get, metrics, wait_for)

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))
DIR = os.path.abspath(sys.argv[1])
PUSHED = os.path.join(DIR, "pushed")
NOBODY = 65534
TCP_REPAIR = 19

# How far a wall clock that nobody sets is ahead of the monotonic clock, in nanoseconds
WALL_NS = str(time.time_ns() - time.monotonic_ns())


class Skip(Exception):
    """The test cannot run on this machine."""


class Profil:
    """A running profil."""

    def __init__(self, *options, program=PUSHED, **environment):
        self.dir = tempfile.mkdtemp(prefix="push-", dir=DIR)
        self.counted_path = os.path.join(self.dir, "counted")
        self.process = subprocess.Popen(
            [program, "--all", *options], stderr=subprocess.PIPE, text=True,
            env={**os.environ, "COUNTED": self.counted_path, **environment})
        self.said = None

    def end(self, number=signal.SIGTERM):
        """End it; return its exit status."""
        self.process.send_signal(number)
        self.said = self.process.communicate(timeout=PATIENCE)[1]
        return self.process.returncode

    def counted(self):
        """Return the number of ticks that it has counted."""
        with open(self.counted_path, "rb") as file:
            return struct.unpack("Q", file.read())[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        shutil.rmtree(self.dir)


def misuse(*options):
    """Return what profil says about options that it rejects."""
    result = subprocess.run([PUSHED, *options], capture_output=True, text=True,
                            check=False)
    assert result.returncode == 125, result
    return result.stderr


def free_port(given=set()):
    """Return a port that nobody uses at the moment, another one each time, and
    none that the kernel gives to connections."""
    while True:
        port = random.randrange(15000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in given:
            given.add(port)
            return port


def begin(port, *options, **environment):
    """Start a profil that listens; return it when it does."""
    profil = Profil(f"--listen={port}", *options, **environment)

    def listens():
        try:
            return metrics(port)
        except OSError:
            return profil.process.poll() is not None
    wait_for(listens)
    return profil


# --- tests: sending

def sends_all_ticks_to_pyroscope():
    """Each second, the ticks since the last time; and at the end, the rest."""
    store = Receiver()
    with Profil("--push=" + store.url, "--every=1", "--label=region=north",
                "--label=host=here", WALL_NS=WALL_NS) as profil:
        wait_for(lambda: len(store.received) >= 3)
        equal(profil.end(), 0)
        equal(store.ticks(), profil.counted())
        equal(profil.said, "")
    equal(store.problems, [])
    first, second = store.received[:2]
    equal(first.path, "/ingest")
    equal(first.labels(), ("machine", {"region": "north", "host": "here"}))
    assert abs(second.start - first.until) <= 1
    now = (time.monotonic_ns() + int(WALL_NS)) / 1e9
    assert abs(first.until - now) < PATIENCE
    equal(first.profile.types, ["samples", "cpu"])
    equal(first.profile.period, 1000000)


def names_functions_and_chains():
    """Names are resolved here; build IDs are there nevertheless."""
    store = Receiver()
    with Profil("--push=" + store.url, "--every=1") as profil:
        wait_for(lambda: store.received)
        profil.end()
    profile = store.received[0].profile
    stacks = {tuple(stack): labels for stack, _, labels in profile.samples}
    equal(stacks, {("inner_function", "outer_function"): {"comm": "pushed"},
                   ("[kernel]",): {"comm": "sh"}})
    assert len(profile.mappings[os.path.realpath(PUSHED)]) == 40


def times_are_those_of_the_ticks():
    """However long it takes to read names, one profile begins where the last one
    has ended."""
    store = Receiver()
    with Profil("--push=" + store.url, "--every=1", SLOW="4",
                WALL_NS=WALL_NS) as profil:
        wait_for(lambda: len(store.received) >= 2)
        profil.end()
    first, second = (one.profile for one in store.received[:2])
    gap = (second.time - first.time - first.duration) / 1e9
    assert abs(gap) < 2, gap


def one_file_takes_no_names_with_it():
    """A file that ends the process that reads it has none, and others have."""
    store = Receiver()
    with Profil("--push=" + store.url, "--every=1", POISON="1") as profil:
        wait_for(lambda: len(store.received) >= 2)
        equal(profil.end(), 0)
        equal(store.ticks(), profil.counted())
    for one in store.received:
        names = {stack[0] for stack, _, _ in one.profile.samples}
        equal(names - {"[kernel]"}, {"inner_function", "sh+0x5000"})


def asks_again_for_names():
    """A file that cannot be read for a while has names later."""
    store, port = Receiver(), free_port()
    with tempfile.TemporaryDirectory(dir=DIR) as room:
        # Names are read by another user
        os.chmod(room, 0o755)
        bad = os.path.join(room, "bad")
        with open(bad, "wb"):
            pass
        with begin(port, "--push=" + store.url, "--every=1",
                   POISON_WHILE=bad) as profil:
            wait_for(lambda: metrics(port)["profil_names_failures_total"] >= 4)
            os.unlink(bad)
            wait_for_name(store, "inner_function")
            equal(profil.end(), 0)


def a_replaced_program_keeps_its_name():
    """What runs an older file of it is not another program to a store."""
    store = Receiver()
    with tempfile.TemporaryDirectory(dir=DIR) as room:
        program, new = (os.path.join(room, name) for name in ("pushed", "new"))
        shutil.copy(PUSHED, program)
        shutil.copy(PUSHED, new)
        with Profil("--push=" + store.url, "--every=1", program=program,
                    SWAP=new) as profil:
            wait_for(lambda: store.received)
            equal(profil.end(), 0)
        assert not os.path.exists(new)
    equal({labels["comm"] for _, _, labels in store.received[0].profile.samples},
          {"pushed", "sh"})


def times_heed_a_suspend():
    """What was counted before it was counted then."""
    def heeds():
        store = Receiver()
        with tempfile.TemporaryDirectory(dir=DIR) as room:
            slept = os.path.join(room, "slept")
            with Profil("--push=" + store.url, "--every=4", SLEPT=slept) as profil:
                wait_for(lambda: store.received)
                with open(slept, "wb"):
                    pass
                wait_for(lambda: len(store.received) > 2)
                profil.end()
        assert all(one.profile.duration < 1800e9 for one in store.received)
        return max(one.until - one.start for one in store.received) >= 3600
    # It may have slept from one profile to the next
    assert any(heeds() for _ in range(5))


def times_heed_a_suspend_while_names_are_read():
    """What was read before it was read then."""
    store = Receiver()
    with tempfile.TemporaryDirectory(dir=DIR) as room:
        # Names are read by another user
        os.chmod(room, 0o777)
        slept = os.path.join(room, "slept")
        with Profil("--push=" + store.url, "--every=1", SLEPT=slept, NAP="1",
                    WALL_NS=WALL_NS) as profil:
            wait_for(lambda: len(store.received) >= 2)
            profil.end()
        assert os.path.exists(slept)
    first, second = store.received[:2]
    assert first.until - first.start < 1800
    assert abs(second.start - first.until) <= 1
    assert second.until - second.start >= 3600


def wait_for_name(store, name):
    """Wait until the store has a profile with a function's name; return its number."""
    def has_name():
        return [number for number, one in enumerate(list(store.received))
                if one.profile.ticks(name)]
    wait_for(has_name)
    return has_name()[0]


def replace_a_library(kind):
    """A file has names although it is younger than the profil, what runs the one
    before it keeps the names of that, and new contents have others."""
    store = Receiver()
    with tempfile.TemporaryDirectory(dir=DIR) as room:
        # Of root's profil, nobody reads it
        os.chmod(room, 0o755)
        library, new = (os.path.join(room, name) for name in ("lib", "new"))
        shutil.copy(os.path.join(DIR, kind + "first.so"), library)
        with Profil("--push=" + store.url, "--every=1",
                    LIBRARY=library) as profil:
            wait_for_name(store, "first")
            shutil.copy(os.path.join(DIR, kind + "second.so"), new)
            os.rename(new, library)
            since = wait_for_name(store, "second")
            wait_for(lambda: len(store.received) > since + 2)
            until = len(store.received)
            shutil.copy(os.path.join(DIR, kind + "third.so"), library)
            wait_for_name(store, "third")
            equal(profil.end(), 0)
    # A tick may have come at the moment of the change
    for one in store.received[since + 1:until]:
        equal(one.profile.ticks("first"), one.profile.ticks("second"))


def names_of_a_replaced_file_are_its_own():
    """Without a build ID"""
    replace_a_library("bare")


def names_of_another_build_are_its_own():
    """With a build ID"""
    replace_a_library("known")


def made_code_has_the_name_of_its_time():
    """What a JIT compiler has made may be where other code was."""
    store = Receiver()
    with Profil("--push=" + store.url, "--every=1", MADE="1") as profil:
        path = f"/tmp/perf-{profil.process.pid}.map"
        try:
            for name in ("1008 100 old_code", "1000 100 new_code"):
                with open(path, "w", encoding="utf-8") as file:
                    print(name, file=file)
                since = wait_for_name(store, name.split()[2])
            with open(path, "w", encoding="utf-8") as file:
                print("9000 100 elsewhere", file=file)
            number = len(store.received)
            wait_for(lambda: len(store.received) > number + 2)
            equal(profil.end(), 0)
        finally:
            os.unlink(path)
        for one in store.received:
            assert not [text for text in one.profile.strings
                        if f"perf-{profil.process.pid}" in text]
    for one in store.received[since:]:
        equal(one.profile.ticks("old_code"), 0)
    assert store.received[-2].profile.ticks("[anonymous]")


def functions_within_others_have_names():
    """And what follows them is the outer function."""
    store = Receiver()
    with Profil("--push=" + store.url, "--every=1", NESTED="1") as profil:
        number = wait_for_name(store, "within_function")
        profil.end()
    profile = store.received[number].profile
    equal(profile.ticks("around_function"), profile.ticks("within_function"))


def ends_while_names_take_long():
    """The last profile waits for them some seconds only."""
    def ends():
        store = Receiver()
        with Profil("--push=" + store.url, "--every=1", SLOW="1000") as profil:
            wait_for(lambda: os.path.exists(profil.counted_path))
            time.sleep(3)
            begin = time.monotonic()
            equal(profil.end(), 0)
            return time.monotonic() - begin < 20 and \
                store.ticks() == profil.counted()
    # A busy machine may need longer, but not each time
    assert any(ends() for _ in range(5))


def is_read_by_go_tool_pprof():
    """The reader that everybody has reads what was sent."""
    if not shutil.which("go"):
        raise Skip("no go")
    store = Receiver()
    with Profil("--push=" + store.url, "--every=1") as profil:
        wait_for(lambda: store.received)
        profil.end()
        path = os.path.join(profil.dir, "profile.pb.gz")
        with open(path, "wb") as file:
            file.write(store.received[0].data)
        said = subprocess.run(
            ["go", "tool", "pprof", "-top", "-sample_index=samples", path],
            capture_output=True, text=True, check=True,
            env={**os.environ, "PPROF_TMPDIR": profil.dir}).stdout
    lines = [line.split() for line in said.splitlines()]
    ticks = store.received[0].profile.ticks("inner_function")
    assert [str(ticks), "inner_function"] in [[line[0], line[-1]]
                                              for line in lines if line], said


def sends_to_the_pprof_receiver():
    """The profile alone, whose samples have all labels."""
    store = Receiver()
    with Profil(f"--push={store.url}/v1/pprof", "--every=1",
                "--label=host=here", "--label=service_name=all") as profil:
        wait_for(lambda: store.received)
        equal(profil.end(), 0)
        equal(store.ticks(), profil.counted())
    equal(store.problems, [])
    equal(store.received[0].headers["Content-Type"],
          "application/octet-stream")
    equal(store.received[0].profile.samples[0][2],
          {"host": "here", "service_name": "all", "comm": "pushed"})


def protocol_says_the_path():
    """--push-as appends what the URL lacks."""
    store = Receiver()
    with Profil("--push=" + store.url + "/", "--every=1",
                "--push-as=pprof") as profil:
        wait_for(lambda: store.received)
        profil.end()
    equal({one.path for one in store.received}, {"/v1/pprof"})


def splits_by_program():
    """Each program has a profile, and together they have all ticks."""
    store = Receiver()
    with Profil("--push=" + store.url, "--every=1", "--split=comm") as profil:
        wait_for(lambda: len(store.received) >= 4)
        equal(profil.end(), 0)
        equal(store.ticks(), profil.counted())
    equal({one.labels()[0] for one in store.received}, {"pushed", "sh"})
    for one in store.received:
        equal({labels["comm"] for _, _, labels in one.profile.samples},
              {one.labels()[0]})


def splits_by_cgroup():
    """Here, nobody knows any cgroup."""
    store = Receiver()
    with Profil("--push=" + store.url, "--every=1", "--split=cgroup") as profil:
        wait_for(lambda: store.received)
        equal(profil.end(), 0)
        equal(store.ticks(), profil.counted())
    equal({one.labels()[0] for one in store.received}, {"[unknown cgroup]"})


def renews_a_table_that_is_nearly_full():
    """There is another watch, and no tick is sent twice."""
    store, port = Receiver(), free_port()
    with begin(port, "--push=" + store.url, "--every=1", MANY="1") as profil:
        wait_for(lambda: metrics(port)["profil_watches_total"] >= 2)
        equal(profil.end(), 0)
        equal(store.ticks(), profil.counted())


def counts_while_names_are_read_for_a_full_table():
    """There is no gap of many seconds between two watches."""
    store, port = Receiver(), free_port()
    with tempfile.TemporaryDirectory(dir=DIR) as room:
        # Names are read by another user
        os.chmod(room, 0o777)
        gap = os.path.join(room, "gap")
        with begin(port, "--push=" + store.url, "--every=1", MANY="1",
                   GAP=gap) as profil:
            wait_for(lambda: metrics(port)["profil_watches_total"] > 1)
            assert not os.path.exists(gap)
            equal(profil.end(), 0)


# --- tests: authentication

def authenticates_by_token():
    """The token is in the header, and not in the command line."""
    store = Receiver()
    with tempfile.NamedTemporaryFile("w", dir=DIR) as token:
        print("of-the-test", file=token, flush=True)
        with Profil("--push=" + store.url, "--every=1",
                    "--token-file=" + token.name) as profil:
            wait_for(lambda: store.received)
            with open(f"/proc/{profil.process.pid}/cmdline",
                      encoding="utf-8") as file:
                assert "of-the-test" not in file.read()
            profil.end()
    equal(store.received[0].headers["Authorization"], "Bearer of-the-test")


def authenticates_by_password():
    """Basic authentication, with the first request"""
    store = Receiver()
    with tempfile.NamedTemporaryFile("w", dir=DIR) as password:
        print("me:secret", file=password, flush=True)
        with Profil("--push=" + store.url, "--every=1",
                    "--password-file=" + password.name) as profil:
            wait_for(lambda: store.received)
            profil.end()
    equal(len(store.tried), len(store.received))
    equal(store.received[0].headers["Authorization"], "Basic bWU6c2VjcmV0")


def rejects_secrets_that_others_may_read():
    """And an empty one, and one that is not there"""
    with tempfile.NamedTemporaryFile("w", dir=DIR) as token:
        option = "--token-file=" + token.name
        assert "is empty" in misuse("--push=http://h", "-a", option)
        print("secret", file=token, flush=True)
        os.chmod(token.name, 0o640)
        assert "chmod 600" in misuse("--push=http://h", "-a", option)
        os.chmod(token.name, 0o600)
        if not os.geteuid():
            os.chown(token.name, NOBODY, NOBODY)
            assert "chown 0" in misuse("--push=http://h", "-a", option)
            os.chown(token.name, 0, 0)
        assert "USER:PASSWORD" in misuse(
            "--push=http://h", "-a", "--password-file=" + token.name)
    assert "No such file" in misuse("--push=http://h", "-a", option)


# --- tests: faults

def sends_again_after_503():
    """Nothing is lost, and one message is enough."""
    store = Receiver(503, 503)
    with Profil("--push=" + store.url, "--every=1") as profil:
        wait_for(lambda: len(store.received) >= 2)
        equal(profil.end(), 0)
        equal(store.ticks(), profil.counted())
        equal(profil.said.count("HTTP status 503: because of the test"), 1)
        equal(profil.said.count("accepts profiles again"), 1)


def pass_over(poison_is, message):
    """Have a store fail to take the first profile, each time; check that it gets
    others, and what profil says."""
    store = Receiver("poison")
    store.poison_is = poison_is
    with Profil(f"--push={store.url}/v1/pprof", "--every=1") as profil:
        wait_for(lambda: len(store.received) >= 3)
        equal(profil.end(), 0)
        equal(profil.said.count(message), 1)
        assert "1 profiles could not be sent" in profil.said, profil.said


def one_profile_does_not_hold_up_others():
    """The store says that it has failed."""
    pass_over(500, "HTTP status 500")


def one_profile_that_gets_no_answer_does_not_hold_up_others():
    """The store cuts the connection."""
    pass_over("cut", "trying again")


def heeds_retry_after():
    """The store says when."""
    store = Receiver(429)
    store.retry_after = "4"
    with Profil("--push=" + store.url, "--every=1") as profil:
        wait_for(lambda: store.received)
        assert store.tried[1] - store.tried[0] > 3, store.tried
        equal(profil.end(), 0)
        equal(store.ticks(), profil.counted())


def drops_what_is_rejected():
    """It would be rejected again: said once, counted, and not repeated."""
    store, port = Receiver(422, 422), free_port()
    with begin(port, "--push=" + store.url, "--every=1") as profil:
        wait_for(lambda: len(store.received) >= 2)
        numbers = metrics(port)
        equal(profil.end(), 0)
        equal(numbers["profil_dropped_profiles_total"], 2)
        equal(numbers['profil_push_requests_total{outcome="rejected"}'], 2)
        equal(store.ticks() + numbers["profil_dropped_ticks_total"],
              profil.counted())
        equal(profil.said.count("rejects profiles, which are dropped: HTTP status 422: because of the test"), 1)


def does_not_follow_redirects():
    """A redirect may lead a token elsewhere."""
    store = Receiver(301)
    with Profil("--push=" + store.url, "--every=1") as profil:
        wait_for(lambda: store.received)
        profil.end()
        assert "HTTP status 301" in profil.said, profil.said


def sends_again_after_a_cut():
    """A connection that ends without an answer"""
    store = Receiver("cut", "cut")
    with Profil("--push=" + store.url, "--every=1") as profil:
        wait_for(lambda: len(store.received) >= 2)
        equal(profil.end(), 0)
        equal(store.ticks(), profil.counted())
        equal(profil.said.count("trying again"), 1)


def waits_for_a_slow_store():
    """Profiles wait, and are sent in order."""
    store = Receiver("slow", "slow")
    with Profil("--push=" + store.url, "--every=1",
                WALL_NS=WALL_NS) as profil:
        wait_for(lambda: len(store.received) >= 3)
        equal(profil.end(), 0)
        equal(store.ticks(), profil.counted())
    times = [one.profile.time for one in store.received]
    equal(times, sorted(times))


def gives_up_a_store_that_never_answers():
    """After half a minute; meanwhile the table is read, and metrics served."""
    store, port = Receiver("silent"), free_port()
    with begin(port, "--push=" + store.url, "--every=1") as profil:
        wait_for(lambda: metrics(port)["profil_spool_profiles"] >= 5)
        wait_for(lambda: store.received)
        wait_for(lambda: metrics(port)["profil_spool_profiles"] < 3)
        equal(metrics(port)
              ['profil_push_requests_total{outcome="no_answer"}'], 1)
        equal(profil.end(), 0)
        equal(store.ticks(), profil.counted())


def ends_while_the_store_is_silent():
    """And says what it could not send."""
    store = Receiver(*20 * ["silent"])
    with Profil("--push=" + store.url, "--every=1") as profil:
        wait_for(lambda: store.tried)
        equal(profil.end(), 0)
        assert "could not be sent" in profil.said, profil.said


def trusts_only_known_certificates():
    """The store has one that nobody has signed."""
    if not shutil.which("openssl"):
        raise Skip("no openssl")
    with tempfile.TemporaryDirectory(dir=DIR) as room:
        key, certificate = os.path.join(room, "key"), os.path.join(room, "crt")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048",
                        "-nodes", "-subj", "/CN=localhost", "-keyout", key,
                        "-out", certificate], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        store = Receiver()
        store.server.socket = context.wrap_socket(store.server.socket,
                                                  server_side=True)
        port = free_port()
        with begin(port, f"--push=https://localhost:{store.port}",
                   "--every=1") as profil:
            wait_for(lambda: metrics(port)
                     ['profil_push_requests_total{outcome="no_answer"}'] > 0)
            equal(profil.end(), 0)
            assert "certificate" in profil.said or "SSL" in profil.said, \
                profil.said
        equal(len(store.tried), 0)


def waits_for_a_store_that_is_away():
    """No connection, and then one"""
    address, port = free_port(), free_port()
    with begin(port, f"--push=http://127.0.0.1:{address}",
               "--every=1") as profil:
        wait_for(lambda: metrics(port)
                 ['profil_push_requests_total{outcome="no_answer"}'] > 0)
        store = Receiver(port=address)
        wait_for(lambda: store.received)
        equal(profil.end(), 0)
        equal(store.ticks(), profil.counted())
        equal(profil.said.count("trying again"), 1)


# --- tests: the spool

def spool(directory):
    """Return the files of a spool."""
    return sorted(os.listdir(directory)) if os.path.isdir(directory) else []


def keeps_profiles_over_a_restart():
    """What could not be sent is sent by the next profil, the oldest first."""
    port = free_port()
    options = (f"--push=http://127.0.0.1:{port}", "--every=1")
    with tempfile.TemporaryDirectory(dir=DIR) as room:
        directory = os.path.join(room, "spool")
        with Profil(*options, "--spool=" + directory,
                    WALL_NS=WALL_NS) as profil:
            wait_for(lambda: len(spool(directory)) >= 2)
            equal(profil.end(), 0)
            assert "profiles wait in" in profil.said, profil.said
            counted = profil.counted()
        equal(os.stat(directory).st_mode & 0o777, 0o700)
        store = Receiver(port=port)
        with Profil(*options, "--spool=" + directory,
                    WALL_NS=WALL_NS) as profil:
            wait_for(lambda: not spool(directory) and store.received)
            equal(profil.end(), 0)
            equal(store.ticks(), counted + profil.counted())
        times = [one.profile.time for one in store.received]
        equal(times, sorted(times))


def keeps_names_over_a_restart():
    """A program may have any."""
    port = free_port()
    options = (f"--push=http://127.0.0.1:{port}", "--every=1", "--split=comm")
    with tempfile.TemporaryDirectory(dir=DIR) as room:
        program, directory = (os.path.join(room, name)
                              for name in (" a\nb", "spool"))
        shutil.copy(PUSHED, program)
        with Profil(*options, "--spool=" + directory, program=program) as profil:
            wait_for(lambda: len(spool(directory)) >= 2)
            equal(profil.end(), 0)
        store = Receiver(port=port)
        with Profil(*options, "--spool=" + directory) as profil:
            wait_for(lambda: not spool(directory) and store.received)
            equal(profil.end(), 0)
    equal({one.labels()[0] for one in store.received} - {"pushed", "sh"},
          {" a_b"})


def keeps_profiles_when_killed():
    """What had been made is there, and nothing that is half a profile."""
    port = free_port()
    options = (f"--push=http://127.0.0.1:{port}", "--every=1")
    with tempfile.TemporaryDirectory(dir=DIR) as directory:
        with Profil(*options, "--spool=" + directory) as profil:
            wait_for(lambda: len(spool(directory)) >= 2)
            profil.end(signal.SIGKILL)
        store = Receiver(port=port)
        with Profil(*options, "--spool=" + directory) as profil:
            wait_for(lambda: len(store.received) >= 3)
            equal(profil.end(), 0)
            equal(profil.said, "")
        equal(store.problems, [])


def syncs_the_spool_once_for_all_services():
    """Each file needs that, and then the directory."""
    with tempfile.TemporaryDirectory(dir=DIR) as room:
        directory, syncs = (os.path.join(room, name)
                            for name in ("spool", "syncs"))
        with Profil(f"--push=http://127.0.0.1:{free_port()}", "--every=1",
                    "--split=comm", "--spool=" + directory,
                    SYNCS=syncs) as profil:
            wait_for(lambda: len(spool(directory)) >= 8)
            equal(profil.end(), 0)
        files = len(spool(directory))
        assert files <= os.path.getsize(syncs) < 2 * files, files


def drops_the_oldest_when_the_spool_is_full():
    """The rest is sent, and the number with it."""
    address, port = free_port(), free_port()
    with tempfile.TemporaryDirectory(dir=DIR) as directory:
        with begin(port, f"--push=http://127.0.0.1:{address}", "--every=1",
                   "--spool=" + directory, SPOOL_BYTES="4000") as profil:
            wait_for(lambda: metrics(port)
                     ["profil_dropped_profiles_total"] >= 2)
            numbers = metrics(port)
            assert numbers["profil_spool_bytes"] <= 4000
            store = Receiver(port=address)
            wait_for(lambda: not spool(directory) and
                     any(one.profile.comments for one in store.received))
            numbers = metrics(port)
            equal(profil.end(), 0)
            equal(store.ticks() + numbers["profil_dropped_ticks_total"],
                  profil.counted())
            comments = [one.profile.comments[0] for one in store.received
                        if one.profile.comments]
            assert comments[-1].endswith("ticks were dropped"), comments


def removes_what_is_no_profile():
    """A file that was damaged does not stop the others."""
    store = Receiver()
    with tempfile.TemporaryDirectory(dir=DIR) as directory:
        with open(os.path.join(directory, "0000000000000001.profile"),
                  "wb") as file:
            file.write(b"profil-push 1 1 2 3\n")
        with open(os.path.join(directory, "README"), "wb"):
            pass
        with Profil("--push=" + store.url, "--every=1",
                    "--spool=" + directory) as profil:
            wait_for(lambda: store.received)
            equal(profil.end(), 0)
            assert "removed: it is no profile" in profil.said, profil.said
        equal(spool(directory), ["README"])


def keeps_what_it_cannot_read():
    """It may be readable for the next profil."""
    store = Receiver()
    with tempfile.TemporaryDirectory(dir=DIR) as directory:
        name = "0000000000000001.profile"
        os.symlink("/nonexistent", os.path.join(directory, name))
        with Profil("--push=" + store.url, "--every=1",
                    "--spool=" + directory) as profil:
            wait_for(lambda: store.received)
            equal(profil.end(), 0)
            equal(store.ticks(), profil.counted())
            assert "it is not sent" in profil.said, profil.said
        equal(spool(directory), [name])


def leaves_what_it_cannot_read_when_it_is_its_turn():
    """And counts it as dropped."""
    address, port = free_port(), free_port()
    with tempfile.TemporaryDirectory(dir=DIR) as directory:
        with begin(port, f"--push=http://127.0.0.1:{address}", "--every=1",
                   "--spool=" + directory) as profil:
            wait_for(lambda: len(spool(directory)) >= 3)
            name = os.path.join(directory, spool(directory)[1])
            os.unlink(name)
            os.symlink("/nonexistent", name)
            store = Receiver(port=address)
            wait_for(lambda: metrics(port)["profil_dropped_profiles_total"])
            equal(profil.end(), 0)
            assert "cannot read a profile" in profil.said, profil.said
        equal(spool(directory), [os.path.basename(name)])


def keeps_in_memory_what_it_cannot_write():
    """A directory is where the file would be."""
    address, port = free_port(), free_port()
    with tempfile.TemporaryDirectory(dir=DIR) as room:
        os.mkdir(os.path.join(room, "new"))
        with begin(port, f"--push=http://127.0.0.1:{address}", "--every=1",
                   "--spool=" + room) as profil:
            wait_for(lambda: metrics(port)["profil_spool_profiles"] >= 3)
            store = Receiver(port=address)
            wait_for(lambda: len(store.received) >= 3)
            equal(profil.end(), 0)
            equal(store.ticks(), profil.counted())
            equal(profil.said.count("are kept in memory"), 1)


def sends_a_profile_that_is_larger_than_the_spool():
    """What is full is the spool, not the store."""
    store = Receiver()
    # Two that wait would be too many
    with Profil("--push=" + store.url, "--every=10", SPOOL_BYTES="600") as profil:
        wait_for(lambda: len(store.received) >= 2)
        equal(profil.end(), 0)
        equal(store.ticks(), profil.counted())


def profiles_in_memory_need_no_descriptors():
    """Hundreds of them wait while the store is away."""
    port = free_port()
    with begin(port, f"--push=http://127.0.0.1:{free_port()}", "--every=1",
               "--split=comm") as profil:
        used = len(os.listdir(f"/proc/{profil.process.pid}/fd"))
        resource.prlimit(profil.process.pid, resource.RLIMIT_NOFILE,
                         (used + 20, used + 20))
        wait_for(lambda: metrics(port)["profil_spool_profiles"] > 24)
        equal(metrics(port)["profil_dropped_profiles_total"], 0)
        profil.end()


def shares_no_spool():
    """Two would send everything twice."""
    store = Receiver()
    with tempfile.TemporaryDirectory(dir=DIR) as directory:
        with Profil("--push=" + store.url, "--every=1",
                    "--spool=" + directory) as profil:
            wait_for(lambda: store.received)
            assert "another profil uses it" in misuse(
                "--push=" + store.url, "-a", "--spool=" + directory)
            profil.end()


def keeps_no_spool_where_others_write():
    """They could put profiles there, or take them away."""
    with tempfile.TemporaryDirectory(dir=DIR) as directory:
        options = "--push=http://h", "-a", "--spool=" + directory
        os.chmod(directory, 0o777)
        assert "of your own" in misuse(*options)
        os.chmod(directory, 0o700)
        if not os.geteuid():
            os.chown(directory, NOBODY, NOBODY)
            assert "of your own" in misuse(*options)


def reads_no_pipe_in_the_spool():
    """That would wait for a writer, for ever."""
    store = Receiver()
    with tempfile.TemporaryDirectory(dir=DIR) as directory:
        os.mkfifo(os.path.join(directory, "0000000000000001.profile"))
        with Profil("--push=" + store.url, "--every=1",
                    "--spool=" + directory) as profil:
            wait_for(lambda: store.received)
            profil.end()


# --- tests: listening

def serves_profiles_of_so_many_seconds():
    """As net/http/pprof does, so that Parca can scrape it."""
    port = free_port()
    with begin(port) as profil:
        before = metrics(port)

        def scrape(seconds):
            return Profile(get(f"http://127.0.0.1:{port}"
                               f"/debug/pprof/profile?seconds={seconds}"))
        profile = scrape(2)
        # A busy machine needs more time for names than a short one has
        wait_for(lambda: scrape(20).ticks("inner_function"))
        equal(profil.end(), 0)
        counted = profil.counted()
    assert 1.4e9 <= profile.duration < 60e9, profile.duration
    # One tick each millisecond; it may not begin between two of them
    assert abs(profile.ticks() - profile.duration / 1e6) < 2000
    assert profile.ticks() <= counted
    equal(before["profil_push_ticks_total"], 0)


def scrapes_take_nothing_from_pushes():
    """Each reader has all ticks of its own time."""
    store, port = Receiver(), free_port()
    with begin(port, "--push=" + store.url, "--every=2") as profil:
        url = f"http://127.0.0.1:{port}/debug/pprof/profile?seconds="
        with concurrent.futures.ThreadPoolExecutor() as pool:
            answers = [pool.submit(get, url + str(seconds))
                       for seconds in (1, 2, 3)]
            profiles = [Profile(one.result()) for one in answers]
        equal(profil.end(), 0)
        equal(store.ticks(), profil.counted())
    for seconds, profile in zip((1, 2, 3), profiles):
        assert profile.duration >= (seconds - 0.6) * 1e9
        assert profile.ticks() >= (seconds - 0.7) * 1000, profile.ticks()


def scrapes_begin_when_they_come():
    """Not before, at the reading whose names are being read."""
    store, port = Receiver(), free_port()
    with begin(port, "--push=" + store.url, "--every=1", SLOW="10",
               WALL_NS=WALL_NS) as profil:
        # The first reading, after a second, has been for some time
        time.sleep(4)
        came = time.monotonic_ns() + int(WALL_NS)
        profile = Profile(get(
            f"http://127.0.0.1:{port}/debug/pprof/profile?seconds=1"))
        profil.end()
    assert profile.time > came - 1e9, (profile.time, came)


def answers_scrapers_while_names_take_long():
    """With addresses in their place, as a scraper waits some seconds only."""
    def is_in_time():
        port = free_port()
        with begin(port, SLOW="1000") as profil:
            begun = time.monotonic()
            get(f"http://127.0.0.1:{port}/debug/pprof/profile?seconds=1")
            taken = time.monotonic() - begun
            profil.end()
        return taken < 20
    # A busy machine may need longer, but not each time
    assert any(is_in_time() for _ in range(5))


def a_scrape_ends_before_its_time():
    """With what memory has room for; the store gets all ticks nevertheless."""
    store, port = Receiver(), free_port()
    with begin(port, "--push=" + store.url, "--every=1",
               WINDOW_BYTES="8000") as profil:
        profile = Profile(get(
            f"http://127.0.0.1:{port}/debug/pprof/profile?seconds=3000"))
        equal(profil.end(), 0)
        equal(store.ticks(), profil.counted())
    # One tick each millisecond; it may not begin between two of them
    assert abs(profile.ticks() - profile.duration / 1e6) < 2000


def scrape_until_end(seconds):
    """Return the ticks of a scrape when profil ends after some seconds; 0 if the
    scrape has not begun by then."""
    port = free_port()
    with begin(port) as profil:
        url = f"http://127.0.0.1:{port}/debug/pprof/profile?seconds=3000"
        with concurrent.futures.ThreadPoolExecutor() as pool:
            answer = pool.submit(get, url)
            time.sleep(seconds)
            equal(profil.end(), 0)
    return 0 if answer.exception() else Profile(answer.result()).ticks()


def answers_scrapers_when_it_ends():
    """With what there is"""
    assert any(scrape_until_end(seconds) for seconds in (3, 30, 300))


def metrics_have_ticks_without_a_store():
    """The table is read for them alone."""
    port = free_port()
    with begin(port, "--every=1") as profil:
        wait_for(lambda: metrics(port)
                 ['profil_ticks_total{outcome="counted"}'] > 0)
        equal(metrics(port)["profil_names_bytes"], 0)
        equal(profil.end(), 0)


def rejects_bad_requests():
    """And does not listen to other hosts unless told to"""
    port = free_port()

    def status(path, data=None):
        try:
            get(urllib.request.Request(f"http://127.0.0.1:{port}{path}", data))
        except urllib.error.HTTPError as error:
            return error.code
        return 200

    with begin(port) as profil:
        equal(status("/"), 404)
        equal(status("/debug/pprof/profile?seconds=0"), 400)
        equal(status("/debug/pprof/profile?seconds=1x"), 400)
        equal(status("/metrics", b"x" * 100000), 405)
        equal(status("/metrics"), 200)
        listening = subprocess.run(["ss", "-Hltn", f"sport = :{port}"],
                                   capture_output=True, text=True, check=False)
        assert not listening.stdout or \
            f"127.0.0.1:{port}" in listening.stdout, listening.stdout
        profil.end()
    assert "cannot listen" in misuse("-a", "--listen=192.0.2.1:1")


def limits_scrapes():
    """The fifth one at a time is told to come later."""
    port = free_port()
    with begin(port) as profil:
        url = f"http://127.0.0.1:{port}/debug/pprof/profile?seconds=3000"
        with concurrent.futures.ThreadPoolExecutor(5) as pool:
            answers = [pool.submit(get, url) for _ in range(5)]
            wait_for(lambda: any(one.done() for one in answers))
            profil.end()
            failed = [one.exception() for one in answers if one.exception()]
    equal([error.code for error in failed], [503])


def leave_places(leave):
    """Have scrapers take all places, and leave; wait until one has a place again."""
    port = free_port()
    url = f"http://127.0.0.1:{port}/debug/pprof/profile?seconds="

    def status():
        try:
            get(url + "1")
        except urllib.error.HTTPError as error:
            return error.code
        return 200

    with begin(port) as profil:
        scrapers = [socket.create_connection(("127.0.0.1", port))
                    for _ in range(4)]
        for scraper in scrapers:
            scraper.sendall(b"GET /debug/pprof/profile?seconds=3000 HTTP/1.1\r\n"
                            b"Host: here\r\n\r\n")
        wait_for(lambda: status() == 503)
        for scraper in scrapers:
            leave(scraper)
        wait_for(lambda: status() == 200 or time.sleep(1))
        equal(profil.end(), 0)


def gone_scrapers_leave_their_places():
    """The server notices that they do not wait any more."""
    leave_places(lambda scraper: scraper.close())


def scrapers_that_are_cut_off_leave_their_places():
    """Nothing comes from them, not even that they have gone."""
    def vanish(scraper):
        try:
            # What is closed then says nothing to the other end
            scraper.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
        except OSError as error:
            raise Skip("needs CAP_NET_ADMIN and TCP_REPAIR") from error
        scraper.close()
    leave_places(vanish)


def scrapes_while_it_ends():
    """Return the statuses of scrapes from a signal to the end of profil, which still
    tries to send."""
    store, port = Receiver(*20 * ["silent"]), free_port()
    url = f"http://127.0.0.1:{port}/debug/pprof/profile?seconds=1"
    statuses = []
    with begin(port, "--push=" + store.url, "--every=1") as profil:
        wait_for(lambda: store.tried)
        profil.process.send_signal(signal.SIGTERM)
        while profil.process.poll() is None:
            try:
                get(url)
                statuses.append(200)
            except urllib.error.HTTPError as error:
                statuses.append(error.code)
            except OSError:
                pass
        equal(profil.end(), 0)
    return statuses


def refuses_scrapes_when_it_ends():
    """There will be no more ticks."""
    assert any(503 in scrapes_while_it_ends() for _ in range(5))


def metrics_are_prometheus_text():
    """Its checker accepts them; all ticks are there."""
    port = free_port()
    with begin(port, "--push=http://127.0.0.1:1", "--every=1") as profil:
        wait_for(lambda: metrics(port)
                 ['profil_ticks_total{outcome="counted"}'] > 0)
        text = get(f"http://127.0.0.1:{port}/metrics")
        profil.end()
    for line in text.decode().splitlines():
        assert line.startswith("# ") or float(line.split()[-1]) >= 0
    if not shutil.which("promtool"):
        raise Skip("no promtool (prometheus)")
    said = subprocess.run(["promtool", "check", "metrics"], input=text,
                          capture_output=True, check=False)
    equal((said.returncode, said.stdout, said.stderr), (0, b"", b""))


# --- tests: the service

def service_has_few_rights():
    """systemd's own measure of that is below 3."""
    if not shutil.which("systemd-analyze"):
        raise Skip("no systemd-analyze")
    said = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=30",
         os.path.join(TOP, "config/push/profil-push.service")],
        capture_output=True, text=True, check=False)
    equal((said.returncode, said.stderr), (0, ""))


def service_has_the_rights_it_needs():
    """Some of its options would take one that another gives."""
    if not shutil.which("systemd-analyze"):
        raise Skip("no systemd-analyze")
    said = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager",
         os.path.join(TOP, "config/push/profil-push.service")],
        capture_output=True, text=True, check=False).stdout
    taken = [line.split()[1] for line in said.splitlines()
             if line.strip()[:1] == "\u2713"]
    assert "PrivateTmp=" in taken, said
    for right in "~CAP_SYSLOG", "~CAP_SYS_PTRACE":
        assert "CapabilityBoundingSet=" + right not in taken, said


def system_calls():
    """Return the names of the system calls that the service may make."""
    said = subprocess.run(["systemd-analyze", "syscall-filter"],
                          capture_output=True, text=True, check=True).stdout
    sets = {}
    for line in said.splitlines():
        if line.startswith("@"):
            names = sets.setdefault(line.strip(), set())
        elif line.startswith("    ") and line[4] not in "# ":
            names.add(line.strip())

    def expand(name):
        return set().union(*(expand(one) if one[0] == "@" else {one}
                             for one in sets[name]))
    return expand("@system-service") - expand("@privileged") | {"capset"}


def service_may_make_its_system_calls():
    """Those that push, serve, spool and read names; root's are not among them."""
    if not shutil.which("systemd-analyze") or not shutil.which("strace"):
        raise Skip("no systemd-analyze, or no strace")
    with tempfile.TemporaryDirectory(dir=DIR) as room:
        trace = os.path.join(room, "trace")

        def is_traced(seconds):
            store, port = Receiver(), free_port()
            with subprocess.Popen(
                    ["strace", "-f", "-qq", "-o", trace, PUSHED, "--all",
                     "--push=" + store.url, "--every=1", f"--listen={port}",
                     f"--duration={seconds}",
                     "--spool=" + os.path.join(room, "spool")],
                    env={**os.environ,
                         "ASAN_OPTIONS": "detect_leaks=0"}) as traced:
                wait_for(lambda: store.received or traced.poll() is not None)
                try:
                    get(f"http://127.0.0.1:{port}/debug/pprof/profile?seconds=1")
                except OSError:
                    return False
                equal(traced.wait(PATIENCE), 0)
                return True
        # On a busy machine it may end before it is asked
        assert any(is_traced(seconds) for seconds in (8, 30, 120))
        with open(trace, encoding="utf-8") as file:
            made = set(re.findall(r"^\d+ +(\w+)\(", file.read(), re.M))
    equal(made - system_calls() - {"setgroups", "setresgid", "setresuid"},
          set())
    assert {"socket", "flock", "setpriority"} <= made, made


# --- tests: options

def rejects_misuse():
    """With what to do instead"""
    for options, message in (
            (("--push=ftp://h", "-a"), "http:// or https://"),
            (("--push=http://", "-a"), "http:// or https://"),
            (("--push=http://u:p@h/", "-a"), "see --password-file"),
            (("--push=http://h", "ls"), "need --all, --cgroup or --user"),
            (("--push=http://h", "-p", "1"), "need --all"),
            (("--push=http://h", "-a", "-o", "f"), "write no file"),
            (("--push=http://h", "--user", "--wall"), "give no --wall"),
            (("--every=1", "-a"), "need --push or --listen"),
            (("--spool=x", "--listen=1", "-a"), "need --push"),
            (("--push=http://h", "-a", "--every=0"), "from 1 to 3600"),
            (("--push=http://h", "-a", "--push-as=x"), "pyroscope or pprof"),
            (("--push=http://h", "-a", "--split=x"), "comm or cgroup"),
            (("--push=http://h", "-a", "--label=a"), "NAME=VALUE"),
            (("--push=http://h", "-a", "--label=1=b"), "begins with no digit"),
            (("--push=http://h", "-a", "--label=a=b,c"), "none of"),
            (("--listen=x", "-a"), "PORT or ADDRESS:PORT"),
            (("--listen=h:1", "-a"), "PORT or ADDRESS:PORT"),
            (("top", "--push=http://h"), "the live view")):
        said = misuse(*options)
        assert message in said, (options, said)


def run(test):
    """Run a test; return its result, and what there is to say about it."""
    try:
        test()
    except Skip as reason:
        return "ok", f" # SKIP {reason}", ""
    except Exception:  # pylint: disable=broad-exception-caught
        return "not ok", "", traceback.format_exc()
    return "ok", "", ""


def main():
    """Run all tests, several at a time: they wait most of the time."""
    tests = [value for name, value in globals().items()
             if callable(value) and getattr(value, "__module__", "") ==
             "__main__" and value.__doc__ and name not in NO_TESTS and
             not isinstance(value, type)]
    print(f"TAP version 13\n1..{len(tests)}", flush=True)
    failed = False
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        results = pool.map(run, tests)
        for number, (test, result) in enumerate(zip(tests, results), 1):
            word, skipped, text = result
            for line in text.splitlines():
                print("#", line)
            print(f"{word} {number} push.{test.__name__}{skipped}", flush=True)
            failed |= word != "ok"
    sys.exit(failed)


NO_TESTS = ("misuse", "free_port", "begin", "spool", "system_calls",
            "scrape_until_end", "scrapes_while_it_ends", "leave_places",
            "wait_for_name", "replace_a_library", "pass_over", "run", "main")

if not os.path.exists(PUSHED):
    print("1..0 # SKIP no libcurl4-openssl-dev or libmicrohttpd-dev")
    sys.exit(0)
main()
