#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""fleet.py DIR [SECONDS]: twenty machines push to one store. Prints KTAP.

Each machine is a network namespace with a profil of its own, DIR/pushed, which
has no module: its table fills by itself, and it says how many ticks it has
counted. Two of them lose their link in the middle. All of this is in a network
namespace, so that nothing of it is left. Where Prometheus is installed, it
scrapes one of the machines. Needs root; takes ten minutes by default.
"""
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from receiver import Receiver  # noqa: E402

DIR = os.path.abspath(sys.argv[1])
SECONDS = int(sys.argv[2]) if len(sys.argv) > 2 else 600
MACHINES = 20
CUT = (3, 11)
STORE = "10.77.0.1"

# Longest wait for the last profiles
PATIENCE = 180


def run(*command):
    """Run a command that must succeed."""
    subprocess.run(command, check=True)


class Machine:
    """A network namespace, and the profil in it."""

    def __init__(self, number, room, url):
        self.number = number
        self.link = f"machine{number}"
        self.address = f"10.77.0.{number + 10}"
        self.counted_path = os.path.join(room, f"counted{number}")
        self.said_path = os.path.join(room, f"said{number}")
        with open(self.said_path, "w", encoding="utf-8") as said:
            # It waits for its network: an empty line says that there is one
            self.process = subprocess.Popen(
                ["unshare", "-n", "sh", "-c", 'read -r _ && exec "$@"', "sh",
                 os.path.join(DIR, "pushed"), "--all", "--push=" + url,
                 "--every=5", f"--label=host={self.link}",
                 "--spool=" + os.path.join(room, f"spool{number}"),
                 f"--listen={self.address}:6060"],
                stdin=subprocess.PIPE, stderr=said,
                env={**os.environ, "COUNTED": self.counted_path})

    def connect(self):
        """Give the namespace a link to the store, and let profil begin."""
        pid = str(self.process.pid)
        while os.readlink(f"/proc/{pid}/ns/net") == \
                os.readlink("/proc/self/ns/net"):
            time.sleep(0.01)
        run("ip", "link", "add", self.link, "type", "veth", "peer", "name",
            "eth0", "netns", pid)
        run("ip", "link", "set", self.link, "master", "hub", "up")
        inside = ("nsenter", "-t", pid, "-n", "ip")
        run(*inside, "address", "add", self.address + "/24", "dev", "eth0")
        run(*inside, "link", "set", "eth0", "up")
        self.process.stdin.write(b"\n")
        self.process.stdin.close()

    def switch(self, state):
        """Cut the link, or mend it."""
        run("ip", "link", "set", self.link, state)

    def counted(self):
        """Return the number of ticks that it has counted."""
        with open(self.counted_path, "rb") as file:
            return struct.unpack("Q", file.read())[0]

    def said(self):
        """Return what it has said."""
        with open(self.said_path, encoding="utf-8") as file:
            return file.read()


class Prometheus:
    """A Prometheus that scrapes one of the machines."""

    def __init__(self, room, address):
        config = os.path.join(room, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write("scrape_configs:\n  - job_name: profil\n"
                       "    scrape_interval: 5s\n    static_configs:\n"
                       f"      - targets: ['{address}:6060']\n")
        self.process = subprocess.Popen(
            ["prometheus", "--config.file=" + config,
             "--storage.tsdb.path=" + os.path.join(room, "tsdb"),
             "--web.listen-address=127.0.0.1:9090"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def value(self, metric):
        """Return the last value of a metric."""
        url = "http://127.0.0.1:9090/api/v1/query?query=" + metric
        with urllib.request.urlopen(url) as answer:
            result = json.load(answer)["data"]["result"]
        return float(result[0]["value"][1]) if result else None

    def end(self):
        """End it."""
        self.process.kill()
        self.process.wait()


def ticks_by_host(store):
    """Return the ticks that the store has, by host."""
    ticks = {}
    for one in list(store.received):
        host = one.labels()[1]["host"]
        ticks[host] = ticks.get(host, 0) + one.profile.ticks()
    return ticks


def lead(machines):
    """Let the time pass, with two of the machines cut off in the middle."""
    time.sleep(SECONDS / 3)
    for number in CUT:
        machines[number].switch("down")
    time.sleep(SECONDS / 3)
    for number in CUT:
        machines[number].switch("up")
    time.sleep(SECONDS / 3)


def end(machines):
    """End them all at once; return their exit statuses."""
    for machine in machines:
        machine.process.send_signal(signal.SIGTERM)
    return [machine.process.wait(PATIENCE) for machine in machines]


def report(results):
    """Print the results; exit."""
    print(f"TAP version 13\n1..{len(results)}")
    for number, (name, good, text) in enumerate(results, 1):
        print(f"# {text}\n{'ok' if good else 'not ok'} {number} {name}")
    sys.exit(not all(good for _, good, _ in results))


def main():
    """Run the machines, and compare what they counted with what came."""
    room = tempfile.mkdtemp(prefix="fleet-", dir=DIR)
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "hub", "type", "bridge")
    run("ip", "address", "add", STORE + "/24", "dev", "hub")
    run("ip", "link", "set", "hub", "up")
    store = Receiver(address=STORE)
    machines = [Machine(number, room, store.url) for number in range(MACHINES)]
    for machine in machines:
        machine.connect()
    prometheus = Prometheus(room, machines[0].address) \
        if shutil.which("prometheus") else None
    lead(machines)
    scraped = prometheus.value("profil_push_ticks_total") \
        if prometheus else None
    statuses = end(machines)
    ticks = ticks_by_host(store)
    counted = {machine.link: machine.counted() for machine in machines}
    wrong = {host: (ticks.get(host), counted[host]) for host in counted
             if ticks.get(host) != counted[host]}
    cut = [machines[number].said() for number in CUT]
    results = [
        ("fleet.store_has_all_ticks", not wrong and not store.problems,
         f"{sum(ticks.values())} of {sum(counted.values())} ticks in "
         f"{len(store.received)} profiles; different: {wrong} "
         f"{store.problems}"),
        ("fleet.machines_that_were_cut_off_say_so",
         all("trying again" in text and "accepts profiles again" in text
             for text in cut), repr(cut)),
        ("fleet.all_end_well", not any(statuses), repr(statuses)),
    ]
    if prometheus:
        prometheus.end()
        results.append(("fleet.prometheus_scrapes", bool(scraped),
                        f"profil_push_ticks_total is {scraped}"))
    shutil.rmtree(room)
    report(results)


if os.environ.get("FLEET") != "inside":
    os.execvpe("unshare", ["unshare", "-n", sys.executable, *sys.argv],
               {**os.environ, "FLEET": "inside"})
main()
