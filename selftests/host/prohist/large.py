#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# large.py PROHIST DIR: tests that prohist needs no more than 300 MB and 5 s of CPU
# time for a profile of 50 MB, in any format, or for two of 25 MB that it compares,
# and for chains of 51 to 101 frames with 300,000 nodes. Writes files of some 300 MB
# to DIR. Prints KTAP.

import os
import struct
import sys
import zlib

BYTES = 50_000_000
MOST_BYTES = 300 << 20
NODES = 300_000
MOST_SECONDS = 5
# bolt, gmon and autofdo need the file
OPTIONS = [["--format=" + name] for name in
           ("text csv html json svg callgrind firefox folded perf pprof "
            "speedscope").split()] + [
               ["--lines"], ["--inline"], ["--buckets"], ["--sort=comm,dso"]]
TREES = [["--tree"], ["--callers=large+0x1000"], ["--callees=large+0x1000"]]
COMPARISONS = [["--diff"], ["--diff", "--format=html"], ["--diff", "--format=json"],
               ["--diff", "--fail-over=2%"]]


def record(kind, payload):
    payload += bytes(-len(payload) % 8)
    return struct.pack("<II", kind, len(payload)) + payload


def dso(start, size, kind, path, step, buckets):
    hist = b"".join(struct.pack("<QQ", i * step, 1) for i in range(buckets))
    return record(3, struct.pack("<QQQII32s", start, start + size,
                                 start if kind == 5 else 0, kind, 0, b"") +
                  path + b"\0") + record(4, struct.pack("<II", 4, 0) + hist)


def symbols(step, first, size, number):
    ranges = b"".join(struct.pack("<QQ", first + i * step,
                                  first + i * step + size)
                      for i in range(number))
    return record(7, struct.pack("<II", number, 0) + ranges +
                  b"f\0" * number)


def profile(ticks, records, flags=0):
    run = struct.pack("<QQQIIIIQQQ", 0, 10**9, 10**6, 1, flags, 0, 0, 0, 0, 0)
    image = struct.pack("<IIQQQQQQQQQQQIIQQ", 1, 0, 0, 0, 0, ticks, ticks,
                        *[0] * 10)
    whole = (b"\x89PROFIL\n" + struct.pack("<II", 3, 0) +
             record(1, run + b"large\0") +
             record(2, image + b"/gone/large\0\0\0") + records)
    return whole + struct.pack("<IIQ", 255, 8, zlib.crc32(whole))


def dense(size):
    """Buckets beside each other, of a program that is gone"""
    number = size // 16
    return profile(number, dso(0x10000000, 4 * number, 1, b"/gone/large", 4,
                               number))


def sparse(size):
    """A bucket in each page of it"""
    number = size // 16
    return profile(number, dso(0x10000000, 4096 * number, 1, b"/gone/large",
                               4096, number))


def interleaved(size):
    """Functions of the kernel, by turns from two mappings, backwards"""
    number = size // 18 // 2
    size = 64 * number
    return profile(2, b"".join(
        dso(size * i, size, 6, b"[kernel.kallsyms]", 4, 1) +
        symbols(64, first, 16, number) for i, first in ((1, 32), (2, 0))))


def pack(value):
    packed = b""
    while value > 0x7f:
        packed += bytes([0x80 | value & 0x7f])
        value >>= 7
    return packed + bytes([value])


def chains(_):
    """Chains of 51 to 101 frames, each in one of 2^17 places, with a tick"""
    places = 1 << 17
    upward = ([0] * 101 + ([51] + [0] * 50) * (NODES // 51))[:NODES]
    contents = (pack(places) + pack(1) + pack(places) + bytes(places) +
                pack(NODES) + pack(0) + pack(1) + bytes(upward) +
                b"".join(pack(i % places + 1) for i in range(NODES)) +
                b"\1" * NODES + bytes(NODES))
    packed = zlib.compress(contents)
    return profile(NODES, dso(0x10000000, 4 * places, 1, b"/gone/large", 4,
                              0) +
                   record(9, struct.pack("<9QII", NODES, *[0] * 8, len(packed),
                                         len(contents)) + packed), 4)


def measure(prohist, arguments):
    """Run prohist; returns its exit status, CPU seconds and bytes of memory"""
    pid = os.posix_spawn(prohist, [prohist, *arguments], os.environ)
    status, usage = os.wait4(pid, 0)[1:]
    return (os.waitstatus_to_exitcode(status),
            usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10)


def write(make, size, path):
    """In another process: the memory of this one would count for prohist's"""
    if os.fork():
        os.wait()
        return
    with open(path, "wb") as file:
        file.write(make(size))
    os._exit(0)


def judge(prohist, arguments, name):
    """Print whether prohist needs more than it may; returns whether it does"""
    status, seconds, size = measure(prohist, arguments)
    # --fail-over finds no CPU time in these files
    wanted = 2 if "--fail-over=2%" in arguments else 0
    good = (status == wanted and seconds <= MOST_SECONDS and
            size <= MOST_BYTES)
    judge.number += 1
    print(f"{'ok' if good else 'not ok'} {judge.number} {name}: "
          f"{seconds:.1f} s, {size >> 20} MB, status {status}")
    return not good


judge.number = 0


def main():
    prohist, directory = sys.argv[1:]
    failed = 0
    output = os.path.join(directory, "output")
    print("TAP version 13")
    for make in dense, sparse, interleaved, chains:
        path = os.path.join(directory, make.__name__ + ".prf")
        for size, files, options in ((BYTES, [path], OPTIONS),
                                     (BYTES // 2, [path, path], COMPARISONS)):
            write(make, size, path)
            if make == chains:
                options = options + TREES * (len(files) == 1)
            for arguments in options:
                failed += judge(prohist,
                                arguments + ["--output=" + output] + files,
                                make.__name__ + " " + " ".join(arguments))
        os.unlink(path)
        os.unlink(output)
    print(f"1..{judge.number}")
    sys.exit(failed > 0)


main()
