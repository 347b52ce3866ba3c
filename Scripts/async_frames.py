#!/usr/bin/env python3
"""Lists the largest frames of a program's asynchronous functions, in bytes.

    Scripts/async_frames.py .build/release/petrel
    Scripts/async_frames.py .build/release/petrel --count 20 --only 'Endpoint|Router'

A function that waits keeps its frame in memory. Where many requests wait, the frames of the functions that they are in are
most of what they take. A value that is copied before an `await` has its place in the frame, even if nobody needs it any more.

In the program, an asynchronous function has a pointer whose symbol ends with `Tu`: the way to the code, and the size of
the frame, 32 bits each.
"""

import argparse
import re
import struct
import subprocess


def output(*command, given=None):
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout


def sections(program):
    """Where the sections lie in memory, with their place in the file and their size."""
    row = re.compile(r"\s*\[\s*\d+\]\s+\S+\s+\S+\s+([0-9a-f]+)\s+([0-9a-f]+)\s+([0-9a-f]+)")
    found = [row.match(line) for line in output("readelf", "-S", "-W", program).splitlines()]
    return [tuple(int(number, 16) for number in match.groups()) for match in found if match]


def frames(program):
    """Pairs of a frame's size and the function's symbol."""
    with open(program, "rb") as file:
        contents = file.read()
    parts = [(address, place, size) for address, place, size in sections(program) if address]
    for line in output("nm", program).splitlines():
        address, *_, symbol = line.split()
        if not symbol.endswith("Tu") or not re.fullmatch("[0-9a-f]{16}", address):
            continue
        address = int(address, 16)
        for begin, place, size in parts:
            if begin <= address < begin + size:
                yield struct.unpack_from("<iI", contents, place + address - begin)[1], symbol


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--only", default="", help="a regular expression that names must have a match for")
    arguments = parser.parse_args()
    found = sorted(frames(arguments.program), reverse=True)
    names = output("swift", "demangle", "--simplified", given="\n".join(symbol for _, symbol in found))
    shown = 0
    for (size, _), name in zip(found, names.splitlines()):
        name = name.removeprefix("async function pointer to ")
        if shown < arguments.count and re.search(arguments.only, name):
            print(f"{size:7}  {name[:200]}")
            shown += 1


if __name__ == "__main__":
    main()
