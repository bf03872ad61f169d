#!/usr/bin/env python3
# ===-- signatures.py - prints frontends/tf/schema/Signatures.def -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the operators of docs/tf-support.md take, by the definitions of the package tensorflow:

    signatures.py > frontends/tf/schema/Signatures.def
"""

import re
from pathlib import Path

from tensorflow.python.framework import op_def_registry

ROOT = Path(__file__).resolve().parents[3]
HEADER = """\
//===-- Signatures.def - what TensorFlow's operators take -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SIGNATURE(Op, Inputs, Attributes): the number of inputs, with '+name' for as many more as the
// attribute of that name says (a number, or a list of types); the kind of each attribute (i, f, b,
// s, t, h, x, c: an integer, a float, a bool, a string, a type, a shape, a tensor, a function; a
// capital for a list).
// Printed by test/frontends/tf/signatures.py.

// clang-format off
"""
FOOTER = "// clang-format on\n\n#undef SIGNATURE"
LETTERS = {"int": "i", "float": "f", "bool": "b", "string": "s", "type": "t", "shape": "h",
           "tensor": "x", "func": "c"}


def letter(kind):
    inner = re.fullmatch(r"list\((\w+)\)", kind)
    return LETTERS[inner[1]].upper() if inner else LETTERS[kind]


def inputs(definition):
    fixed, lists = 0, []
    for argument in definition.input_arg:
        if name := argument.number_attr or argument.type_list_attr:
            lists.append(name)
        else:
            fixed += 1
    return "+".join([str(fixed), *lists])


def main():
    page = (ROOT / "docs/tf-support.md").read_text()
    print(HEADER, end="")
    for op in sorted(set(re.findall(r"^\| (\w+) \| \S*", page, re.M))):
        if definition := op_def_registry.get(op):
            attributes = " ".join(f"{letter(each.type)}:{each.name}" for each in definition.attr)
            print(f'SIGNATURE({op}, "{inputs(definition)}", "{attributes}")')
    print(FOOTER)


if __name__ == "__main__":
    main()
