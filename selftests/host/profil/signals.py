# SPDX-License-Identifier: GPL-2.0-only
#
# signals.py PROFIL TEST: runs programs under profil, and sends signals to it.
# Fails if the program gets a signal more or less than once, or has no profile.
import os
import pty
import signal
import subprocess
import sys

# Counts a signal for a while after the first one, and ends with the number. No
# shell: one that waits for vfork() cannot be stopped
COUNTER = """import signal, sys, time
n = 0
def count(*_):
    global n
    n += 1
signal.signal(signal.SIG%s, count)
print("ready", flush=True)
while not n:
    time.sleep(0.02)
time.sleep(0.1)
sys.exit(n)"""


def start(name, prepare=None):
    if os.path.exists(name + ".prf"):
        os.remove(name + ".prf")
    return subprocess.Popen([sys.argv[1], "-o", name + ".prf",
                             sys.executable, "-c", COUNTER % name],
                            stdout=subprocess.PIPE, preexec_fn=prepare)


def is_ready(tool):
    return tool.stdout.readline() == b"ready\n"


def start_until_ready(name, prepare=None):
    tool = start(name, prepare)
    assert is_ready(tool)
    return tool


def check_end(tool, name):
    status = tool.wait()
    assert status == 1, f"{name}: status {status}"
    assert os.path.getsize(name + ".prf"), f"{name}: no profile"


def sent():
    names = "HUP", "INT", "QUIT", "TERM", "USR1", "RTMIN"
    tools = [start_until_ready(name) for name in names]
    for name, tool in zip(names, tools):
        tool.send_signal(getattr(signal, "SIG" + name))
    for name, tool in zip(names, tools):
        check_end(tool, name)


# The program inherits that SIGHUP is ignored
def ignored():
    tool = start_until_ready(
        "USR2", lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    tool.send_signal(signal.SIGHUP)
    tool.send_signal(signal.SIGUSR2)
    check_end(tool, "USR2")


# As in "perl -e 'alarm 1; exec ...'". The alarm ends a program that is not ready
def alarm():
    seconds = 1
    while not is_ready(tool := start("ALRM", lambda: signal.setitimer(
            signal.ITIMER_REAL, seconds))):
        tool.wait()
        seconds *= 2
    check_end(tool, "ALRM")


# The tool waits for a child of its own, which reads the names
def child():
    burner = subprocess.Popen([sys.executable, "-c", "while 1: pass"])
    try:
        tool = subprocess.run([sys.argv[1], "-o", "child.prf", "--duration=1",
                               "-p", str(burner.pid)], preexec_fn=lambda:
                              signal.signal(signal.SIGCHLD, signal.SIG_IGN),
                              stderr=subprocess.PIPE, text=True)
    finally:
        burner.kill()
        burner.wait()
    assert tool.returncode == 0, tool
    assert "names of" not in tool.stderr, tool.stderr


def take_foreground():
    os.setpgid(0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTOU])
    os.tcsetpgrp(0, os.getpid())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTTOU])


# What a shell does with a job: Ctrl-Z, fg, Ctrl-C
def shell():
    tool = start_until_ready("INT", take_foreground)
    print("started", flush=True)
    status = os.waitpid(tool.pid, os.WUNTRACED)[1]
    assert os.WIFSTOPPED(status), f"status {status}"
    assert os.WSTOPSIG(status) == signal.SIGTSTP, os.WSTOPSIG(status)
    os.killpg(tool.pid, signal.SIGCONT)
    print("continued", flush=True)
    check_end(tool, "INT")


def terminal():
    child, keys = pty.fork()
    if not child:
        return shell()
    said = b""
    try:
        while True:
            said += os.read(keys, 4096)
            if said.endswith(b"started\r\n"):
                os.write(keys, b"\x1a")
            elif said.endswith(b"continued\r\n"):
                os.write(keys, b"\x03")
    except OSError:  # when the other side has been closed
        sys.stdout.buffer.write(said)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


# The longest that a test may take
signal.alarm(600)
globals()[sys.argv[2]]()
