#===-- om_file.py - takes an .om file apart to break it in chosen places -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A reader of the FlatBuffers header that knows where each number stands, and XXH64.

Field numbers are those of runtime-lite/schema/om.fbs.
"""

import struct

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (11400714785074694791, 14029467366897019727, 1609587929392839161,
                      9650029242287828579, 2870177450012600261)


def rotate(value, by):
    return (value << by | value >> (64 - by)) & MASK


def mix(lane, word):
    return rotate((lane + word * P2) & MASK, 31) * P1 & MASK


def xxh64(data):
    at = 0
    if len(data) >= 32:
        lanes = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
        for at in range(0, len(data) - 31, 32):
            lanes = [mix(lane, word) for lane, word in zip(lanes, struct.unpack_from("<4Q", data, at))]
        at += 32
        value = sum(map(rotate, lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            value = ((value ^ mix(0, lane)) * P1 + P4) & MASK
    else:
        value = P5
    value = (value + len(data)) & MASK
    for at in range(at, len(data) - 7, 8):
        word, = struct.unpack_from("<Q", data, at)
        value = (rotate(value ^ mix(0, word), 27) * P1 + P4) & MASK
    rest = data[len(data) - len(data) % 8:]
    if len(rest) >= 4:
        word, = struct.unpack_from("<I", rest)
        value = (rotate(value ^ (word * P1 & MASK), 23) * P2 + P3) & MASK
        rest = rest[4:]
    for byte in rest:
        value = rotate(value ^ (byte * P5 & MASK), 11) * P1 & MASK
    value = (value ^ value >> 33) * P2 & MASK
    value = (value ^ value >> 29) * P3 & MASK
    return value ^ value >> 32


class Table:
    """A table at a place in the file; fields by their number."""

    def __init__(self, data, at):
        self.data, self.at = data, at

    def place(self, field):
        """Where a field's number stands, or None where the default is meant."""
        start = self.at - struct.unpack_from("<i", self.data, self.at)[0]
        size, = struct.unpack_from("<H", self.data, start)
        offset = struct.unpack_from("<H", self.data, start + 4 + 2 * field)[0] if (
            4 + 2 * field < size) else 0
        return self.at + offset if offset else None

    def target(self, field):
        """Where the string, vector or table of a field is."""
        place = self.place(field)
        return place + struct.unpack_from("<I", self.data, place)[0]

    def tables(self, field):
        vector = self.target(field)
        count, = struct.unpack_from("<I", self.data, vector)
        places = [vector + 4 + 4 * i for i in range(count)]
        return [Table(self.data, p + struct.unpack_from("<I", self.data, p)[0]) for p in places]


class OmFile:
    def __init__(self, data):
        self.data = bytearray(data)
        self.length = 4 + struct.unpack_from("<I", self.data)[0]
        self.model = Table(self.data, 4 + struct.unpack_from("<I", self.data, 4)[0])

    def put(self, layout, place, value):
        struct.pack_into(layout, self.data, place, value)
        return self

    def bytes(self):
        """The file with a header hash that is right again."""
        struct.pack_into("<Q", self.data, self.length, xxh64(bytes(self.data[:self.length])))
        return bytes(self.data)
