#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""profil_push.py: tests "profil --push" and "profil --listen" with the module.
Prints KTAP.

Which ticks a store gets from which table is tested by push.py, on the host; here
the ticks are real. The kselftest framework runs a copy of this file in the build
directory.
"""
import errno
import math
import os
import re
import signal
import socket
import subprocess
import sys
import time
import traceback

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../selftests/host/profil"))
from receiver import (  # noqa: E402
    PATIENCE, Profile, Receiver, equal, get, metrics, wait_for)

BUILD = os.environ["LD_LIBRARY_PATH"] + "/.."
PROFIL = os.path.join(BUILD, "tools/profil")
WORKLOAD = os.path.join(BUILD, "selftests/programs/workload")
CGROUP = "/sys/fs/cgroup/profil_push"
PERIOD_NS = 1000000
NOBODY = 65534
IS_RT = "PREEMPT_RT" in os.uname().version


class Profil:
    """A running profil, which has begun to count."""

    def __init__(self, *options, user=None):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen(
            [PROFIL, f"--listen={self.port}", "--every=1", *options],
            stderr=subprocess.PIPE, text=True, user=user)
        wait_for(self.listens)

    def listens(self):
        """Return whether it does, or has ended."""
        try:
            return metrics(self.port)
        except OSError:
            return self.process.poll() is not None

    def end(self):
        """End it; return what it had to say."""
        self.process.send_signal(signal.SIGTERM)
        said = self.process.communicate(timeout=PATIENCE)[1]
        equal(self.process.returncode, 0)
        return said

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


def check_said(said):
    """Fail if profil had anything to say but that the store was too slow for it,
    as it may be on a busy machine."""
    equal(re.sub(".* Timeout was reached; trying again\n"
                 "(.* accepts profiles again; .* wait\n)?|"
                 ".* profiles could not be sent\n", "", said), "")


class Work:
    """Work that is done by one thread at a time: how much of its CPU time must
    have ticks, and how long it took by the clock, in nanoseconds. A tick falls at
    a random instant of each period."""

    def __init__(self):
        self.spent = 0
        self.passed = 0

    def do(self, before=None, user=None):
        """Spend CPU time."""
        begin = time.monotonic_ns()
        said = subprocess.run([WORKLOAD, "burn"], preexec_fn=before, user=user,
                              check=True, capture_output=True, text=True).stdout
        self.passed += time.monotonic_ns() - begin
        self.spent += sum(int(line.split()[5]) for line in said.splitlines())

    def least(self):
        """Return the least number of ticks. Each switch to the thread may take some
        milliseconds of its time, in which no tick falls."""
        due = self.spent / PERIOD_NS
        return 0.8 * due - 6 * math.sqrt(due)

    def most(self):
        """Return more than any number of ticks that were not sent twice."""
        due = self.passed / PERIOD_NS
        return due + 6 * math.sqrt(due)


def samples(profiles):
    """Return the samples of the workload in profiles."""
    return [(stack, values[0]) for profile in profiles
            for stack, values, labels in profile.samples
            if labels.get("comm") == "workload"]


def samples_at(store):
    """Return those that a store has got. A profile that it accepted too slowly
    came again."""
    return samples({one.data: one.profile
                    for one in list(store.received)}.values())


def work_until_named(store, **how):
    """Work until the store has names of the program's functions and of their
    callers, which PREEMPT_RT does not find, and all ticks. A busy machine sends
    ticks before it can read names, and may take time of the work in which no tick
    falls: more work makes up for that, each time twice as much."""
    done = Work()
    rounds = [1]

    def worked():
        done.do(**how)
        return any(stack[0] == "often" and (IS_RT or "main" in stack)
                   for stack, _ in samples_at(store))

    def has_all():
        ticks = 0
        end = time.monotonic() + 60
        while ticks <= done.least():
            # What was done long ago may still be on its way
            if ticks_at(store) > ticks:
                ticks = ticks_at(store)
                end = time.monotonic() + 60
            if time.monotonic() > end:
                print("#", ticks, "ticks of", vars(done), flush=True)
                for _ in range(rounds[0]):
                    done.do(**how)
                rounds[0] *= 2
                return False
            time.sleep(0.1)
        return True
    wait_for(worked)
    wait_for(has_all)
    return done


def ticks_at(store):
    """Return the number of ticks of the workload that a store has got."""
    return sum(ticks for _, ticks in samples_at(store))


def check_ticks(store, done):
    """Fail unless a store has got the ticks of work that is done, and once."""
    assert done.least() < ticks_at(store) < done.most(), vars(done)


def sends_what_a_machine_does():
    """Names and chains of a program that has ended, at the store."""
    store = Receiver()
    with Profil("--push=" + store.url, "--all") as profil:
        done = work_until_named(store)
        check_said(profil.end())
    equal(store.problems, [])
    check_ticks(store, done)


def has_all_ticks_after_a_fault():
    """The store has what was read, though it was away at first."""
    store = Receiver(503, 503)
    with Profil("--push=" + store.url, "--all") as profil:
        done = work_until_named(store)
        before = metrics(profil.port)
        equal(before["profil_dropped_ticks_total"], 0)
        wait_for(lambda: store.ticks() >=
                 before["profil_push_ticks_encoded_total"])
        said = profil.end()
        assert "accepts profiles again" in said, said
    check_ticks(store, done)


def removes_cgroup():
    """Return whether it does: the last process may not have left its CPU yet."""
    try:
        os.rmdir(CGROUP)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        return False
    return True


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
            done = work_until_named(store, before=enter)
            check_said(profil.end())
    finally:
        wait_for(removes_cgroup)
    check_ticks(store, done)


def sends_what_an_ordinary_user_does():
    """Of the programs of others there is nothing."""
    store = Receiver()
    with Profil("--push=" + store.url, "--user", user=NOBODY) as profil:
        done = work_until_named(store, user=NOBODY)
        check_said(profil.end())
    check_ticks(store, done)


def answers_with_the_time_that_was_asked_for():
    """/debug/pprof/profile has the seconds that follow, and no others."""
    with Profil("--all") as profil:
        Work().do()
        # Its CPU may stand still in that second
        for _ in range(20):
            begin = time.monotonic_ns()
            with subprocess.Popen([WORKLOAD] + ["burn"] * 1000,
                                  stdout=subprocess.DEVNULL) as busy:
                profile = Profile(get(
                    f"http://127.0.0.1:{profil.port}"
                    "/debug/pprof/profile?seconds=1"))
                most = (time.monotonic_ns() - begin) / PERIOD_NS
                busy.kill()
            ticks = sum(values for _, values in samples([profile]))
            if ticks:
                break
        check_said(profil.end())
    equal(profile.period, PERIOD_NS)
    assert 0 < ticks < most + 6 * math.sqrt(most), (ticks, most)
    assert profile.duration / PERIOD_NS <= most, (profile.duration, most)


TESTS = (sends_what_a_machine_does, has_all_ticks_after_a_fault,
         sends_a_cgroup_and_nothing_else, sends_what_an_ordinary_user_does,
         answers_with_the_time_that_was_asked_for)


def main():
    """Run all tests; return whether one has failed. What works has no more than
    what reads names, which would not have read them in time on a busy machine."""
    os.nice(19)
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
