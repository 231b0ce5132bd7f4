#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""profil_push.py: tests "profil --push" and "profil --listen" with the module.
Prints KTAP.

Which ticks a store gets from which table is tested by push.py, on the host; here
the ticks are real. The kselftest framework runs a copy of this file in the build
directory.
"""
import math
import os
import signal
import socket
import subprocess
import sys
import time
import traceback
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.realpath(__file__))
SELFTESTS = os.path.join(HERE, "../../selftests")
if not os.path.exists(os.path.join(SELFTESTS, "host")):
    SELFTESTS = os.path.join(HERE, "..")
sys.path.insert(0, os.path.join(SELFTESTS, "host/profil"))
from receiver import Profile, Receiver  # noqa: E402

BUILD = os.environ["LD_LIBRARY_PATH"] + "/.."
PROFIL = os.path.join(BUILD, "tools/profil")
WORKLOAD = os.path.join(BUILD, "selftests/programs/workload")
CGROUP = "/sys/fs/cgroup/profil_push"
PERIOD_NS = 1000000
NOBODY = 65534

# Longest wait for what is to happen at once, on a machine with other work
PATIENCE = 120


def equal(one, other):
    """Fail unless two values are equal."""
    assert one == other, f"{one!r} is not {other!r}"


def wait_for(what):
    """Wait until what() is true, and return it."""
    end = time.monotonic() + PATIENCE
    while True:
        result = what()
        if result:
            return result
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)


def get(port, path):
    """Return the answer to a GET request, or None if nobody answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}",
                                    timeout=PATIENCE) as answer:
            return answer.read()
    except ConnectionError:
        return None
    except urllib.error.URLError as error:
        if isinstance(error.reason, ConnectionError):
            return None
        raise


def metrics(port):
    """Return the numbers of /metrics, by name and labels."""
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
            for line in get(port, "/metrics").decode().splitlines()
            if not line.startswith("#")}


class Profil:
    """A running profil, which has begun to count."""

    def __init__(self, *options, user=None):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen(
            [PROFIL, f"--listen={self.port}", "--every=1", *options],
            stderr=subprocess.PIPE, text=True, user=user)
        wait_for(lambda: self.process.poll() is not None or
                 get(self.port, "/metrics"))

    def end(self):
        """End it, and fail if it had anything to say."""
        self.process.send_signal(signal.SIGTERM)
        said = self.process.communicate(timeout=PATIENCE)[1]
        equal((self.process.returncode, said), (0, ""))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


def work(before=None, user=None):
    """Spend CPU time; return how much in which function, in nanoseconds."""
    said = subprocess.run([WORKLOAD, "burn"], preexec_fn=before, user=user,
                          check=True, capture_output=True, text=True).stdout
    return {line.split()[0]: int(line.split()[3])
            for line in said.splitlines()}


def samples(profiles):
    """Return the samples of the workload in profiles."""
    return [(stack, values[0]) for profile in profiles
            for stack, values, labels in profile.samples
            if labels.get("comm") == "workload"]


def check_shares(profiles, spent):
    """Fail unless the ticks are those of the time that was spent: one falls at
    a random instant of each period. They have callers once profil has made the
    table for the program."""
    for name, time_ns in spent.items():
        stacks = [(stack, values) for stack, values in samples(profiles)
                  if stack[0] == name]
        assert any("main" in stack for stack, _ in stacks), stacks
        ticks = sum(values for _, values in stacks)
        due = time_ns / PERIOD_NS
        assert abs(ticks - due) < 6 * math.sqrt(due), (name, ticks, due)


def sends_what_a_machine_does():
    """Names and chains of a program that has ended, at the store."""
    store = Receiver()
    with Profil("--push=" + store.url, "--all") as profil:
        spent = work()
        profil.end()
    equal(store.problems, [])
    check_shares([one.profile for one in store.received], spent)


def has_all_ticks_after_a_fault():
    """The store has what was read, though it was away at first."""
    store = Receiver(503, 503)
    with Profil("--push=" + store.url, "--all") as profil:
        spent = work()
        wait_for(lambda: len(store.received) >= 2)

        def numbers_agree():
            now = metrics(profil.port)
            return now["profil_push_ticks_total"] == store.ticks() == \
                now["profil_push_ticks_encoded_total"]
        wait_for(numbers_agree)
        equal(metrics(profil.port)["profil_dropped_ticks_total"], 0)
        profil.process.send_signal(signal.SIGTERM)
        said = profil.process.communicate(timeout=PATIENCE)[1]
        equal(profil.process.returncode, 0)
        assert "accepts profiles again" in said, said
    check_shares([one.profile for one in store.received], spent)


def sends_a_cgroup_and_nothing_else():
    """Programs that are not in it do not appear."""
    store = Receiver()
    os.mkdir(CGROUP)
    try:
        with Profil("--push=" + store.url, "--cgroup=" + CGROUP) as profil:
            def enter():
                with open(CGROUP + "/cgroup.procs", "w",
                          encoding="ascii") as file:
                    file.write("0")
            spent = work(before=enter)
            work()
            profil.end()
    finally:
        os.rmdir(CGROUP)
    check_shares([one.profile for one in store.received], spent)


def sends_what_an_ordinary_user_does():
    """Of the programs of others there is nothing."""
    store = Receiver()
    with Profil("--push=" + store.url, "--user", user=NOBODY) as profil:
        spent = work(user=NOBODY)
        work()
        profil.end()
    check_shares([one.profile for one in store.received], spent)


def answers_with_the_time_that_was_asked_for():
    """/debug/pprof/profile has the seconds that follow, and no others."""
    with Profil("--all") as profil:
        work()
        with subprocess.Popen([WORKLOAD] + ["burn"] * 1000,
                              stdout=subprocess.DEVNULL) as busy:
            profile = Profile(get(profil.port,
                                  "/debug/pprof/profile?seconds=1"))
            busy.kill()
        profil.end()
    equal(profile.period, PERIOD_NS)
    most = profile.duration / PERIOD_NS
    ticks = sum(values for _, values in samples([profile]))
    assert 0 < ticks < most + 6 * math.sqrt(most), (ticks, most)


TESTS = (sends_what_a_machine_does, has_all_ticks_after_a_fault,
         sends_a_cgroup_and_nothing_else, sends_what_an_ordinary_user_does,
         answers_with_the_time_that_was_asked_for)


def main():
    """Run all tests; return whether one has failed."""
    print(f"TAP version 13\n1..{len(TESTS)}", flush=True)
    failed = False
    for number, test in enumerate(TESTS, 1):
        word = "ok"
        try:
            test()
        except Exception:  # pylint: disable=broad-exception-caught
            for line in traceback.format_exc().splitlines():
                print("#", line)
            word = "not ok"
            failed = True
        print(f"{word} {number} profil_push.{test.__name__}", flush=True)
    return failed


if b"was built without" in subprocess.run(
        [PROFIL, "--listen=1"], capture_output=True, check=False).stderr:
    print("1..0 # SKIP no libcurl4-openssl-dev or libmicrohttpd-dev")
    sys.exit(4)
sys.exit(main())
