#!/usr/bin/python3
# ===-- make_case_table.py - writes kernels/text/CaseTable.inc -----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints rows {first, last, stride, distance}: each character first, first + stride ... last has
its other case `distance` further; and rows {character, and those it becomes, up to three} where the
upper case is several characters. From Python's Unicode data.

    scripts/make_case_table.py > kernels/text/CaseTable.inc
"""


def rows(other_case):
    pairs = {}
    for code in range(0x110000):
        if not 0xD800 <= code < 0xE000:
            other = other_case(chr(code))
            if len(other) == 1 and other != chr(code):
                pairs[code] = ord(other) - code
    while pairs:
        first = min(pairs)

        def last(stride):
            code = first
            while pairs.get(code + stride) == pairs[first]:
                code += stride
            return code
        stride = max((1, 2), key=lambda stride: (last(stride) - first) // stride)
        end, distance = last(stride), pairs[first]
        for code in range(first, end + 1, stride):
            del pairs[code]
        yield f"{{{first}, {end}, {stride}, {distance}}}"


def several(other_case):
    for code in range(0x110000):
        other = other_case(chr(code))
        if not 0xD800 <= code < 0xE000 and len(other) > 1:
            yield "{" + ", ".join(str(each) for each in [code, *map(ord, other), 0][:4]) + "}"


def table(name, rows):
    line = f"constexpr int32_t {name}[][4] = {{\n   "
    for row in rows:
        if len(line.rsplit("\n", 1)[-1]) + len(row) > 97:
            line += "\n   "
        line += f" {row},"
    print(line[:-1] + "};")


print("""//===-- CaseTable.inc - the other case of characters ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written by scripts/make_case_table.py: {first, last, stride, distance}, and where several characters
// are one character's upper case {character, these, 0 where there are two}.
""")
table("kToLower", rows(str.lower))
print()
table("kToUpper", rows(str.upper))
print()
table("kToSeveral", several(str.upper))
