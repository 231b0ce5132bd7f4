# SPDX-License-Identifier: GPL-2.0-only
#
# chromium.py - headless Chromium, controlled through pipes by the DevTools
# protocol: no network, and no driver
import json
import os
import subprocess


class Chromium:
    """A browser with one page."""

    def __init__(self, directory):
        commands, self.to = os.pipe()
        self.answers, answers = os.pipe()

        def place():
            """Give the pipes the numbers that Chromium wants."""
            ends = [os.dup(end) for end in (commands, answers)]
            for number, end in zip((3, 4), ends):
                os.dup2(end, number)
                os.set_inheritable(number, True)
        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--remote-debugging-pipe",
             f"--user-data-dir={directory}", "about:blank"],
            close_fds=False, preexec_fn=place, stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.number = 0
        self.rest = b""
        self.events = []
        self.session = None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", flatten=True,
                                 targetId=page["targetId"])["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network", "Accessibility":
            self.call(domain + ".enable")

    def read(self):
        """Return the next message."""
        while b"\0" not in self.rest:
            data = os.read(self.answers, 1 << 20)
            if not data:
                raise RuntimeError("chromium ended")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                break
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def wait(self, event):
        """Wait for an event, also one that has come already."""
        while not any(e.get("method") == event for e in self.events):
            self.events.append(self.read())

    def open(self, url):
        self.events = []
        self.call("Page.navigate", url=url)
        self.wait("Page.loadEventFired")

    def run(self, script):
        """Return the value of an expression, which may be a promise."""
        result = self.call("Runtime.evaluate", expression=script,
                           awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"]))
        return result["result"].get("value")

    def key(self, name, text="", modifiers=0):
        """Press and release a key, such as Tab or Enter."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32}
        key = {"key": name, "code": "Space" if name == " " else name,
               "windowsVirtualKeyCode": codes.get(name, 0),
               "modifiers": modifiers}
        down = "keyDown" if text else "rawKeyDown"
        self.call("Input.dispatchKeyEvent", type=down, text=text, **key)
        self.call("Input.dispatchKeyEvent", type="keyUp", **key)

    def emulate(self, width, height, dark=False, scripts=True):
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=width < 500)
        scheme = {"name": "prefers-color-scheme",
                  "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)

    def close(self):
        self.call("Browser.close")
        self.process.wait()
