# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m openatc: compiles a model, runs an .om file, shows what is in one, or measures the
perplexity of a language model."""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from typing import Any

import numpy as np

import openatc


def _shapes(text: str) -> dict[str, list[int]]:
    shapes = {}
    for part in filter(None, text.split(";")):
        name, _, dims = part.rpartition(":")
        shapes[name] = [int(dim) for dim in dims.split(",") if dim]
    return shapes


def _describe(tensor: openatc.TensorInfo) -> str:
    shape = "[...]" if tensor.shape is None else \
        "[" + ", ".join("?" if dim is None else str(dim) for dim in tensor.shape) + "]"
    return f"{openatc._error._printable(tensor.name)}: {tensor.dtype}{shape}"


def _show(model: openatc.Model) -> None:
    print(f"model {openatc._error._printable(model.name)} for {model.soc or model.cpu_level}, "
          f"{len(model.launches)} launches")
    for role, ports in (("input", model.inputs), ("output", model.outputs)):
        for port in ports:
            print(f"  {role:6} {_describe(port)}")
    print(f"  {model.file_bytes:,} bytes, weights {model.weights_bytes:,}, "
          f"memory of a session {model.arena_bytes:,}")


def _compile(options: argparse.Namespace) -> None:
    shapes = _shapes(options.input_shape) if options.input_shape else None
    _show(openatc.compile(options.model, options.output, input_shapes=shapes, soc=options.soc,
                          target_cpu=options.target_cpu))


def _run(options: argparse.Namespace) -> None:
    model = openatc.Model(options.model)
    feeds = _feeds([port.name for port in model.inputs], options.input)
    with openatc.Session(model, threads=options.threads) as session:
        results = session.run(feeds)
    for port in model.outputs:
        print(_describe(port))
        print(results[port.name])


def _feeds(names: list[str], arguments: list[str]) -> dict[str, Any]:
    """Returns the values of inputs that are given in their order or as "name=file". A file stands
    for its array, and lists of JSON, "[[1, 2]]", for themselves."""
    feeds: dict[str, Any] = {}
    is_named = [text.partition("=")[0] in names and "=" in text for text in arguments]
    if any(is_named) and not all(is_named):
        wrong = arguments[is_named.index(False)]
        raise openatc.Error([f"E10017: {wrong!r} has no name of an input in front: give each input "
                             f"as name=file; the names are {', '.join(map(repr, names))}"])
    if len(arguments) != len(names):
        raise openatc.Error([f"E10014: {len(arguments)} inputs are given, but the model has "
                             f"{len(names)}: {', '.join(map(repr, names)) or 'none'}"])
    for name, text in zip(names, arguments):
        if any(is_named):
            name, _, text = text.partition("=")
        if name in feeds:
            raise openatc.Error([f"E10014: input {name!r} is given twice"])
        feeds[name] = json.loads(text) if text.startswith("[") else np.load(text)
    return feeds


def _perplexity(options: argparse.Namespace) -> None:
    import openatc.lm
    from openatc._lm_quality import in_pieces, own_samples
    if options.length < 2:
        raise openatc.Error([f"E10001: --length is {options.length}, which is not at least 2"])
    reference = None
    if options.reference:
        reference = openatc.lm.load(options.reference, threads=options.threads)
    if options.tokens:
        tokens = in_pieces(np.load(options.tokens), options.length)
    elif reference:
        tokens = own_samples(reference, options.samples, options.length, options.seed)
    else:
        raise openatc.Error(["E10007: --tokens or --reference is needed: samples are drawn from "
                             "the reference"])
    model = openatc.lm.load(options.model, threads=options.threads)
    found = openatc.lm.compare(model, reference, tokens, chunk=options.chunk)
    values = {name: value for name, value in vars(found).items() if value == value}
    if options.json:
        print(json.dumps({"model": options.model, "reference": options.reference, **values}))
    else:
        print(", ".join(f"{name.replace('_', ' ')} {value:.6g}" for name, value in values.items()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m openatc", description=__doc__)
    parser.add_argument("--version", action="version", version=f"openatc {openatc.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("compile", help="compile a model into an .om file")
    command.add_argument("model", help="an ONNX file, a TensorFlow graph or a SavedModel folder")
    command.add_argument("output", help="the .om file")
    command.add_argument("--input_shape", help='"name:1,3,224,224;other:1"')
    command.add_argument("--soc", help="the NPU to compile for, such as Ascend310P3")
    command.add_argument("--target_cpu", default="host", help="CPU levels, such as v2,v3,v4")
    command.set_defaults(do=_compile)
    command = commands.add_parser("run", help="run an .om file on arrays")
    command.add_argument("model", help="the .om file")
    command.add_argument("input", nargs="*",
                         help='a .npy file or values, "[[1, 2]]", for each input: in their order, '
                         'or as name=file')
    command.add_argument("--threads", type=int, default=0, help="0: as many as there are")
    command.set_defaults(do=_run)
    command = commands.add_parser("info", help="show what is in an .om file")
    command.add_argument("model", help="the .om file")
    command.set_defaults(do=lambda options: _show(openatc.Model(options.model)))
    command = commands.add_parser(
        "perplexity", help="measure how well a language model predicts tokens, and how much worse "
        "than the model it was made of, such as before quantization")
    command.add_argument("model", help="an .om or .onnx file, or a folder of them")
    command.add_argument("--reference", help="the model it was made of")
    command.add_argument("--tokens", help="a .npy file of integers [sequences, tokens], or one long "
                         "sequence, which is cut; without it the reference draws samples at "
                         "temperature 1")
    command.add_argument("--samples", type=int, default=8, help="how many it draws")
    command.add_argument("--length", type=int, default=128, help="tokens of a sample or of a piece")
    command.add_argument("--seed", type=int, default=1, help="makes samples reproducible")
    command.add_argument("--chunk", type=int, default=256, help="positions computed at a time")
    command.add_argument("--threads", type=int, default=0, help="0: as many as there are")
    command.add_argument("--json", action="store_true", help="print one line of JSON")
    command.set_defaults(do=_perplexity)
    return parser


def _run_tool(name: str) -> int:
    """Runs a tool of the compiler, which a wheel has inside of its module."""
    import ctypes
    import openatc._compiler
    tool = getattr(ctypes.CDLL(openatc._compiler.__file__), f"openatc_run_{name}")
    words = [name, *sys.argv[1:]]
    array = (ctypes.c_char_p * (len(words) + 1))(*map(os.fsencode, words), None)
    return int(tool(len(words), array))


def atc() -> int:
    """The console script `atc` of a wheel."""
    return _run_tool("atc")


def amct() -> int:
    """The console script `amct` of a wheel."""
    return _run_tool("amct")


def om_run() -> None:
    """The console script `om-run` of a wheel: becomes the program that the wheel carries."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "om-run")
    os.execv(program, ["om-run", *sys.argv[1:]])


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit code: 0, or 1 after a coded error, which is on stderr."""
    options = _parser().parse_args(arguments)
    warnings.showwarning = lambda message, *_: print(
        message, file=sys.stderr)
    try:
        options.do(options)
    except (openatc.Error, OSError, ValueError, TypeError, OverflowError) as error:
        text = str(error) if isinstance(error, openatc.Error) else f"E10014: {error}"
        print(text, file=sys.stderr)
        return 1
    except RecursionError:
        print("E10014: lists are nested too deep", file=sys.stderr)
        return 1
    except MemoryError:
        print("E19001: there is not enough memory", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
