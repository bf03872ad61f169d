#!/usr/bin/env python3
# ===-- host_signatures.py - prints kernels/Signatures.def ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the operators that have a host kernel require, from the schemas of the packages onnx and
onnxruntime (for com.microsoft):

    host_signatures.py > kernels/Signatures.def
"""

import re
from collections import defaultdict
from pathlib import Path

import onnx
from onnxruntime.capi import onnxruntime_pybind11_state as onnxruntime

ROOT = Path(__file__).resolve().parents[3]
HEADER = """\
//===-- Signatures.def - what operators with a host kernel require --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SIGNATURE(Kernel, Domain, Since, Required, Most, Types, Attributes, Unread): the
// first opset that has the operator; a bit for each input that must be there; the most
// inputs; the type variable of each input (the last one repeats), where it first
// stands with the numbers of the element types that it allows, '*' where anything may
// be; the type of each attribute that the kernel reads (i, f, s, t: one; I, F, S, T: a
// list; with a '!' where it must be there); those that it does not read.
// Printed by test/frontends/onnx/host_signatures.py.

// clang-format off
"""
FOOTER = "// clang-format on\n\n#undef SIGNATURE"
LETTERS = {"INT": "i", "FLOAT": "f", "STRING": "s", "TENSOR": "t", "INTS": "I", "FLOATS": "F",
           "STRINGS": "S", "TENSORS": "T"}
# Element types that kernels move or compute beyond those of the operator: elements of less than a
# byte, and integers of any width.
PACKED, INTEGERS = {21, 22, 23, 25, 26}, {2, 3, 4, 5, 6, 7, 12, 13}
BEYOND = {**{(kernel, "A"): PACKED for kernel in ("Slice", "Concat", "Gather", "Split", "ScatterElements")},
          ("Where", "B"): PACKED,
          **{(kernel, "A"): INTEGERS for kernel in ("Neg", "Abs", "Sign", "Relu", "Clip", "ReduceSum",
                                                    "ReduceMax", "ReduceMin", "ReduceL1",
                                                    "ReduceSumSquare")}}
# Kernels that are no ONNX operator (kernels/core/Contracts.h has their signatures).
STEPS = {"Aipp", "Base64", "BesselI", "BesselJ", "BesselK", "BesselY", "Betainc", "CharactersText", "Cholesky",
         "CrossHash", "CsvFields", "CsvValues", "CumLogSumExp", "Dawsn", "Digamma", "EditDistance", "Erfinv",
         "ExampleFeature", "Expint", "FormatNumber", "Fresnel", "Igamma", "Igammac",
         "Lgamma", "Lu", "Map", "MatrixSolve", "MatrixSquareRoot", "MurmurHash", "Ndtri", "OverlapSuppression",
         "PackTrees", "PackVectors", "PhiloxKey", "PhiloxRandom", "Polygamma", "Qr", "RaggedToDense", "RegexReplace",
         "Require", "SegmentJoin", "SequenceResize", "SequenceSet", "SetOperation", "SoftSuppression", "Spence", "Stack",
         "StringCase", "StringHash", "StringLength", "StringNGrams", "StringReduce", "StringStrip", "Substring", "Svd",
         "SymmetricEigen", "TextBytes", "TextCharacters", "TriangularSolve", "TridiagonalSolve", "WavDecoder", "Zeta"}


def read_kernels():
    """The kernels in the order of Kernels.def, each with the attributes it reads."""
    text = (ROOT / "kernels/Kernels.def").read_text()
    text = re.sub(r'"\s*\n\s*"', "", text)
    for name, attributes in re.findall(r'^KERNEL\((\w+),\s*"([^"]*)"', text, re.M):
        yield name, attributes.split()


def schemas():
    """(domain, operator) -> its schemas, oldest first."""
    found = defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        found[schema.domain, schema.name].append(schema)
    standard = set(found)
    for schema in onnxruntime.get_all_operator_schema():
        key = schema.domain, schema.name
        # A few have been put into the standard domain before they were in the standard.
        if schema.domain == "com.microsoft" or (schema.domain == "" and key not in standard):
            found[key].append(schema)
    for versions in found.values():
        versions.sort(key=lambda schema: schema.since_version)
    return found


def letter(attribute):
    return LETTERS.get(str(attribute.type).split(".")[-1])


# What type strings call the element types.
NUMBERS = {"float": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7,
           "string": 8, "bool": 9, "float16": 10, "double": 11, "uint32": 12, "uint64": 13,
           "complex64": 14, "complex128": 15, "bfloat16": 16, "float8e4m3fn": 17,
           "float8e4m3fnuz": 18, "float8e5m2": 19, "float8e5m2fnuz": 20, "uint4": 21, "int4": 22,
           "float4e2m1": 23, "float8e8m0": 24, "uint2": 25, "int2": 26}


def type_text(parameter):
    return getattr(parameter, "type_str", None) or parameter.typeStr


def allowed(schema, variable):
    """The strings of what a type variable can be, or the type itself."""
    for constraint in schema.type_constraints:
        if constraint.type_param_str == variable:
            return constraint.allowed_type_strs
    return [variable]


def input_types(kernel, versions):
    """The column Types of a kernel."""
    entries, names = [], {}
    for index, parameter in enumerate(versions[-1].inputs):
        variable = type_text(parameter)
        # Inputs of a variadic may each be of another type.
        mixed = not getattr(parameter, "is_homogeneous", getattr(parameter, "isHomogeneous", True))
        numbers = set()
        for schema in versions:
            # Versions name their variables differently. What an input was in a version
            # that had another one in its position is not what it is now.
            if index >= len(schema.inputs) or schema.inputs[index].name != parameter.name:
                continue
            for text in allowed(schema, type_text(schema.inputs[index])):
                number = NUMBERS.get(text.removeprefix("tensor(").removesuffix(")"))
                # Element types that have no number here no kernel knows either.
                if number or not text.startswith("tensor("):
                    numbers.add(number)
        if None in numbers or mixed or not numbers:
            entries.append("*")
        elif variable in names:
            entries.append(names[variable])
        else:
            names[variable] = chr(ord("A") + len(names))
            numbers |= BEYOND.get((kernel, names[variable]), set())
            entries.append(f"{names[variable]}={','.join(map(str, sorted(numbers)))}")
    return " ".join(entries)


def main():
    known = schemas()
    print(HEADER, end="")
    for kernel, attributes in read_kernels():
        if kernel in STEPS:
            continue
        names = [("", kernel), ("ai.onnx.ml", kernel), ("com.microsoft", kernel.removeprefix("Ms"))]
        domain, name = next((key for key in names if key in known), (None, None))
        if name is None:
            continue
        versions = [schema for schema in known[domain, name] if not schema.deprecated]
        required = 0
        for index, parameter in enumerate(versions[-1].inputs):
            option = str(parameter.option).split(".")[-1]
            variadic = option == "Variadic" and versions[-1].min_input > index
            required |= (option == "Single" or variadic) << index
        most = min(max(schema.max_input for schema in versions), 4096)
        unread = sorted(set(versions[-1].attributes) - set(attributes))
        # A few of com.microsoft have been in the standard domain first.
        if domain == "" and not onnx.defs.has(name):
            domain = "com.microsoft"
        types = []
        for attribute in attributes:
            kinds = {letter(schema.attributes[attribute]) for schema in versions
                     if attribute in schema.attributes}
            if len(kinds) == 1 and None not in kinds:
                newest = versions[-1].attributes.get(attribute)
                mark = "!" if newest and newest.required else ":"
                types.append(f"{kinds.pop()}{mark}{attribute}")
        print(f'SIGNATURE({kernel}, "{domain}", {versions[0].since_version}, 0x{required:x}, {most}, '
              f'"{input_types(kernel, versions)}", "{" ".join(types)}", "{" ".join(unread)}")')
    print(FOOTER)


if __name__ == "__main__":
    main()
