#!/usr/bin/env python3
# ===-- signatures.py - prints frontends/tf/schema/Signatures.def -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the operators of docs/tf-support.md take, by the definitions of the package tensorflow:

    signatures.py > frontends/tf/schema/Signatures.def
"""

import re
from pathlib import Path

from tensorflow.core.framework import types_pb2
from tensorflow.python.framework import op_def_registry

ROOT = Path(__file__).resolve().parents[3]
HEADER = """\
//===-- Signatures.def - what TensorFlow's operators take -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SIGNATURE(Op, Inputs, Attributes): the element type of each input, a type or the attribute that
// names it ('N*T': as many inputs as attribute N says, '*T': one for each type of the list T); the
// kind of each attribute (i, f, b, s, t, h, x, c: an integer, a float, a bool, a string, a type, a
// shape, a tensor, a function; a capital for a list).
// Printed by test/frontends/tf/signatures.py.

// clang-format off
"""
FOOTER = "// clang-format on\n\n#undef SIGNATURE"
LETTERS = {"int": "i", "float": "f", "bool": "b", "string": "s", "type": "t", "shape": "h",
           "tensor": "x", "func": "c"}


def letter(kind):
    inner = re.fullmatch(r"list\((\w+)\)", kind)
    return LETTERS[inner[1]].upper() if inner else LETTERS[kind]


def input_of(argument):
    if argument.type_list_attr:
        return "*" + argument.type_list_attr
    kind = argument.type_attr or types_pb2.DataType.Name(argument.type)
    return f"{argument.number_attr}*{kind}" if argument.number_attr else kind


def main():
    page = (ROOT / "docs/tf-support.md").read_text()
    print(HEADER, end="")
    for op in sorted(set(re.findall(r"^\| (\w+) \| \S*", page, re.M))):
        if definition := op_def_registry.get(op):
            attributes = " ".join(f"{letter(each.type)}:{each.name}" for each in definition.attr)
            inputs = " ".join(map(input_of, definition.input_arg))
            print(f'SIGNATURE({op}, "{inputs}", "{attributes}")')
    print(FOOTER)


if __name__ == "__main__":
    main()
