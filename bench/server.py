#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""server SECONDS: ten threads of a server that mostly waits

Each thread accepts a connection, and answers each request after a rest of 20 ms.
The clients, of another process, rest for 50 ms before each request, and connect
again after 10 of them.
"""
import os
import socket
import sys
import threading
import time

THREADS = 10


def serve(listener):
    while True:
        connection = listener.accept()[0]
        while connection.recv(64):
            time.sleep(0.02)
            connection.send(b'answer')
        connection.close()


def ask(address, end):
    while time.monotonic() < end:
        with socket.create_connection(address) as connection:
            for _ in range(10):
                time.sleep(0.05)
                connection.send(b'question')
                connection.recv(64)


def start(function, *args):
    threads = [threading.Thread(target=function, args=args, daemon=True)
               for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    return threads


listener = socket.create_server(('127.0.0.1', 0))
child = os.fork()
if child:
    start(serve, listener)
    os.waitpid(child, 0)
else:
    for thread in start(ask, listener.getsockname(),
                        time.monotonic() + float(sys.argv[1])):
        thread.join()
