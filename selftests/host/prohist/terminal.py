# SPDX-License-Identifier: GPL-2.0-only
#
# terminal.py COLUMNS COMMAND [ARGUMENT]...: runs a command in a terminal of
# this width, and prints its output. With INTERRUPT_AT, presses Ctrl-C when that
# comes.
import fcntl
import os
import pty
import signal
import struct
import sys
import termios

child, terminal = pty.fork()
if not child:
    size = struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0)
    fcntl.ioctl(1, termios.TIOCSWINSZ, size)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execv(sys.argv[2], sys.argv[2:])
interrupt_at = os.environ.get("INTERRUPT_AT", "").encode()
while True:
    try:
        data = os.read(terminal, 65536)
    except OSError:  # when the other side has been closed
        break
    if not data:
        break
    if interrupt_at and interrupt_at in data:
        os.write(terminal, b"\x03")
    sys.stdout.buffer.write(data.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
