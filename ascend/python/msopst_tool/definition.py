# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads what a C++ file says of operators that are written in Ascend C (classes of OpDef)."""
import re

from .cases import fail

COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
CLASS = re.compile(r"\bclass\s+(\w+)\s*(?:final\s*)?:\s*public\s+(?:\w+::)*OpDef\b")
STATEMENT = re.compile(r'\b(Input|Output|Attr)\s*\(\s*"(\w+)"\s*\)((?:[^;"]|"[^"]*")*);')
CALL = re.compile(r"\.\s*(\w+)\s*\(((?:[^()\"]|\"[^\"]*\"|\([^()]*\))*)\)")
KINDS = {"Bool": "bool", "Float": "float", "Int": "int", "String": "str", "ListBool": "listBool",
         "ListFloat": "listFloat", "ListInt": "listInt", "ListListInt": "listListInt"}


def words_of(text, everything):
    """Returns the enumerators in braces, or those of a list that is defined elsewhere."""
    name = text.strip()
    if re.fullmatch(r"\w+", name):
        found = re.search(r"\b" + name + r"\s*(?:=|\()?\s*\{([^{}]*)\}", everything)
        text = found.group(1) if found else ""
    words = re.findall(r"\w+", re.sub(r"\w+\s*::", "", text))
    return [re.sub(r"^(DT_|FORMAT_)", "", word) for word in words]


def default_of(text):
    """Returns a default as JSON writes it."""
    text = text.strip().replace("{", "[").replace("}", "]")
    return re.sub(r"(?<![\w.])(-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)[fFlLuU]+\b", r"\1", text).strip('"')


def read_definition(path):
    """Returns {operator: {key: text}} with the keys of an .ini file."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = COMMENT.sub(lambda found: found.group(1) or " ", file.read())
    except OSError:
        fail("E10410", f'the file "{path}" of --input does not exist')
    starts = list(CLASS.finditer(text))
    if not starts:
        fail("E13018", f"{path}: no operator; write a class that is derived from OpDef")
    operators = {}
    for start, end in zip(starts, [*[found.start() for found in starts[1:]], len(text)]):
        keys = operators[start.group(1)] = {}
        counts = {"Input": 0, "Output": 0}
        names = []
        for side, name, chain in STATEMENT.findall(text[start.end():end]):
            calls = dict(CALL.findall(chain))
            if side == "Attr":
                kind = next((call for call in calls if call in KINDS), None)
                names.append(name)
                keys[f"attr_{name}.type"] = KINDS.get(kind, "int")
                default = default_of(calls.get(kind, ""))
                keys[f"attr_{name}.defaultValue"] = default or ("" if kind == "String" else "0")
                continue
            prefix = f"{side.lower()}{counts[side]}."
            counts[side] += 1
            types = words_of(calls.get("DataType", calls.get("DataTypeList", "")), text)
            keys[prefix + "name"] = name
            keys[prefix + "dtype"] = ",".join({"BF16": "bfloat16"}.get(word, word.lower()) for word in types)
            keys[prefix + "format"] = ",".join(words_of(calls.get("Format", calls.get("FormatList", "")), text))
        keys["attr.list"] = ",".join(names)
    return operators
