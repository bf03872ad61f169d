# Graphs of operators state all attributes, most of them at their defaults: no operator may refuse
# one that it has. Run with `pytest test/tools`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import itertools
import json
import re
import sys

import pytest

from test_singleop import BUILD, ROOT, constant, op, tensor

PROTOTYPE = re.compile(r"REG_OP\((\w+)\)(.*?)\.OP_END_FACTORY_REG", re.S)
INPUT = re.compile(r"\.(INPUT|OPTIONAL_INPUT|DYNAMIC_INPUT)\(")
OUTPUT = re.compile(r"\.(?:OUTPUT|DYNAMIC_OUTPUT)\(")
ATTRIBUTE = re.compile(r"\.(?:REQUIRED_)?ATTR\((\w+), (\w+)(?:, (\{.*?\}|[^)]*))?\)")
REQUIRED = {"Int": "1", "Float": "1", "Bool": "false", "String": '""', "ListInt": "{0}"}
TYPES = {"DT_FLOAT": 0, "DT_FLOAT16": 1, "DT_INT8": 2, "DT_INT32": 3, "DT_INT64": 9}
KINDS = {"Int": lambda text: int(TYPES.get(text, text)), "Float": lambda text: float(text.rstrip("f")),
         "Bool": lambda text: text == "true", "String": json.loads,
         "ListInt": lambda text: json.loads(f"[{text[1:-1]}]")}


def prototypes():
    for header in sorted((ROOT / "ascend/include/op_proto").glob("*.h")):
        for name, body in PROTOTYPE.findall(header.read_text()):
            attributes = {attribute: KINDS[kind](default or REQUIRED[kind])
                          for attribute, kind, default in ATTRIBUTE.findall(body) if kind in KINDS}
            if attributes:
                yield name, INPUT.findall(body), OUTPUT.findall(body), attributes


def variants(name, inputs, outputs, attributes):
    """Descriptions of an operator; which one it can be built of depends on the operator."""
    for (shape, form), isWhole, isConstant in itertools.product(
            (([2, 4], "ND"), ([1, 4, 4, 4], "NCHW")), (False, True), (False, True)):
        count = len([kind for kind in inputs if isWhole or kind != "OPTIONAL_INPUT"])
        one = tensor(shape, "float", form)
        others = [constant([1]) if isConstant else one] * (count - 1)
        yield op(name, [one, *others], [{"type": "UNDEFINED", "format": "RESERVED"} for _ in outputs], **attributes)


def test_every_operator_has_a_class():
    """Programs that build graphs make operators by the classes of these headers."""
    rows = {name for file in (ROOT / "frontends/onnx/singleop").glob("SingleOp*.cpp")
            for name in re.findall(r'^ +\{"(\w+)", \d+, \w+\},$', file.read_text(), re.M)}
    classes = {name for header in (ROOT / "ascend/include/op_proto").glob("*.h")
               for name, _ in PROTOTYPE.findall(header.read_text())}
    assert len(rows) > 100 and not rows - classes, sorted(rows - classes)


def test_defaults_are_read():
    sys.path.insert(0, str(BUILD / "python"))
    compiler = pytest.importorskip("openatc._compiler")
    made, refused, seen = set(), [], 0
    for name, *rest in prototypes():
        seen += 1
        for description in variants(name, *rest):
            try:
                compiler.single_op_model(json.dumps([description]))
                made.add(name)
            except Exception as error:  # the module's own class
                if "does not read" in str(error) or "of another kind" in str(error):
                    refused.append(str(error))
    assert not refused
    # The others need values that no default gives, such as axes.
    assert seen > 90 and len(made) > 60, (seen, sorted(made))
