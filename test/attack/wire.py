"""A wire between the `link0` of two network namespaces that loses packets: `python3 wire.py A B PERCENT SEED`.

Kernels often lack netem, and TAP devices are everywhere.
"""

import ctypes
import fcntl
import os
import random
import select
import struct
import sys

CLONE_NEWNET, TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x40000000, 0x400454CA, 2, 0x1000


def open_tap(namespace):
    """Moves this process into the namespace, and opens its link0."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{namespace}") as entry:
        if libc.setns(entry.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"could not enter {namespace}")
    tap = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", b"link0", IFF_TAP | IFF_NO_PI))
    return tap


def main():
    first, second, percent = sys.argv[1], sys.argv[2], float(sys.argv[3])
    rng = random.Random(sys.argv[4])
    taps = [open_tap(first), open_tap(second)]
    print("open", flush=True)
    while True:
        for tap in select.select(taps, [], [])[0]:
            packet = os.read(tap, 65536)
            if rng.random() * 100 >= percent:
                try:
                    os.write(taps[1 - taps.index(tap)], packet)
                except OSError:
                    pass  # the other end is down


main()
