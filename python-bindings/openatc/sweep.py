# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Simulates a model on many SoCs, batches and precisions: how long each takes, and why.

    npu-sweep model.onnx --soc Ascend310P3,Ascend910B1 --batch 1..16 --precision f16,int8
    npu-sweep model.onnx --set l2Bytes=8388608,16777216 --set ddrPeak=10,25.6 --html sweep.html
"""

from __future__ import annotations

import argparse
import concurrent.futures
import html
import itertools
import json
import os
import pathlib
import sys
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ._compile import Path, compile, load
from ._energy import ENERGY, energy
from ._error import Error, _printable
from ._output import write_file
from ._quantize import quantize
from ._runtime import Session

__all__ = ["ENERGY", "Point", "energy", "main", "sweep"]

_COLUMNS = ("soc", "parameters", "batch", "precision", "ms", "samples/s", "cube %", "DDR MB",
            "x bound", "bound by", "macs on NPU %")


@dataclass
class Point:
    """One combination; an `error` in place of figures where it cannot be compiled or run."""

    soc: str
    batch: int
    precision: str
    parameters: dict[str, str] = field(default_factory=dict)
    """Values of the table (npu/soc/Soc.def) that replace those of the SoC."""
    ms: float = 0
    """The simulated time of a run whose weights have been used before, without the host's work."""
    per_second: float = 0
    """Samples per second of that time."""
    cube: float = 0
    """The share of the cube's peak rate, 0 to 1."""
    ddr_bytes: int = 0
    times_bound: float = 0
    """The time over the lower bound."""
    bound_by: str = ""
    """The busiest resource."""
    macs_share: float = 0
    """The share of the model's multiply-accumulates that the NPU computes, 0 to 1."""
    energy_uj: float | None = None
    """An estimate (see `ENERGY`), if it was asked for."""
    per_price: float | None = None
    """Samples per second for one unit of the price, if one was given."""
    error: str = ""


def _shapes(model: Path, batch: int) -> dict[str, tuple[int, ...]]:
    """The shapes of all inputs with another batch; other dynamic dims are 1."""
    return {port.name: (batch, *(dim or 1 for dim in port.shape[1:]))
            for port in load(model).inputs if port.shape}


def _zeros(model: Any) -> list[Any]:
    return [np.zeros(port.shape, port.numpy_dtype) for port in model.inputs]


def _measure(point: Point, model: Path, folder: pathlib.Path, with_energy: bool) -> None:
    shapes = _shapes(model, point.batch)
    table = None
    if point.parameters:
        table = folder / f"{abs(hash((point.soc, *sorted(point.parameters.items()))))}.soc"
        table.write_text("\n".join([f"base = {point.soc}", *(
            f"{key} = {value}" for key, value in point.parameters.items())]) + "\n")
    options: dict[str, Any] = {"soc_file": table} if table else {"soc": point.soc}
    if point.precision == "int8":
        # Times do not depend on values.
        random = np.random.default_rng(0)
        sample = {port.name: random.standard_normal(shapes[port.name]).astype(np.float32)
                  for port in load(model, input_shapes=shapes).inputs}
        quantized = quantize(model, [sample], input_shapes=shapes)
        if quantized._is_onnx:
            options["input_shapes"] = shapes
        compiled = quantized.compile(**options)
    else:
        compiled = compile(model, input_shapes=shapes, **options)
    if compiled is None or not compiled.npu_bytes:
        raise Error(["E10001: no layer of the model runs on this NPU"])
    session = Session(compiled, functional=False)
    for _ in range(2):
        session.run(_zeros(compiled))
    figures = session.npu
    assert figures is not None
    point.ms = figures["ms"]
    point.per_second = 1e3 * point.batch / point.ms
    point.cube = figures["cube_utilisation"]
    point.ddr_bytes = figures["ddr"]["read_bytes"] + figures["ddr"]["written_bytes"]
    point.times_bound = figures["roofline"]["times_bound"]
    point.bound_by = figures["bound_by"]
    point.macs_share = figures["macs_npu"] / max(1, figures["macs_model"])
    if with_energy:
        point.energy_uj = energy(figures, int8=point.precision == "int8",
                                 hbm="910" in point.soc)["sum"]


def sweep(model: Path, *, socs: Sequence[str], batches: Iterable[int] = (1,),
          precisions: Iterable[str] = ("f16",), parameters: Mapping[str, Sequence[Any]] | None = None,
          prices: Mapping[str, float] | None = None, with_energy: bool = False,
          jobs: int = 1) -> list[Point]:
    """Compiles and simulates a model file for every combination, `jobs` at a time.

    `parameters` are values of the SoC's table, each a list: {"l2Bytes": [8 << 20, 16 << 20]}.
    `prices` are those of the SoCs in any unit.
    """
    keys = list(parameters or {})
    values = itertools.product(*(parameters[key] for key in keys)) if parameters else [()]
    points = [Point(soc, batch, precision, dict(zip(keys, map(str, chosen))))
              for chosen in list(values) for soc in socs for precision in precisions
              for batch in batches]

    def one(point: Point) -> Point:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _measure(point, model, pathlib.Path(folder), with_energy)
        except Error as error:
            point.error = str(error)
        if prices and point.soc in prices and point.ms:
            point.per_price = point.per_second / prices[point.soc]
        return point

    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, points))


def _row(point: Point) -> list[str]:
    names = " ".join(f"{key}={value}" for key, value in point.parameters.items())
    row = [point.soc, names, str(point.batch), point.precision]
    if point.error:
        return [*row, _printable(point.error)]
    row += [f"{point.ms:.3f}", f"{point.per_second:.0f}", f"{100 * point.cube:.1f}",
            f"{point.ddr_bytes / 1e6:.1f}", f"{point.times_bound:.2f}", point.bound_by,
            f"{100 * point.macs_share:.1f}"]
    if point.energy_uj is not None:
        row.append(f"{point.energy_uj:.0f}")
    if point.per_price is not None:
        row.append(f"{point.per_price:.2f}")
    return row


def _head(points: Sequence[Point]) -> list[str]:
    head = list(_COLUMNS)
    if any(point.energy_uj is not None for point in points):
        head.append("estimated uJ")
    if any(point.per_price is not None for point in points):
        head.append("samples/s per price")
    return head


def _text(points: Sequence[Point]) -> str:
    rows = [_head(points), *map(_row, points)]
    widths = [max(len(row[i]) for row in rows if i < len(row) and len(row) > 5)
              for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                     if len(row) > 5 else "  ".join(row) for row in rows)


def _page(model: Path, points: Sequence[Point]) -> str:
    fastest = max((point.per_second for point in points), default=0) or 1
    lines = []
    for point in points:
        cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in _row(point))
        bar = f'<td><div style="width:{200 * point.per_second / fastest:.0f}px"></div></td>'
        lines.append(f"<tr>{cells}{bar}</tr>")
    head = "".join(f"<th>{html.escape(name)}</th>" for name in [*_head(points), ""])
    name = html.escape(_printable(os.path.basename(os.fspath(model))))
    return (f"<!doctype html><html><head><meta charset=utf-8><title>{name}</title><style>"
            "body{font:14px sans-serif;margin:2em}td,th{padding:2px 8px;text-align:left;"
            "border-bottom:1px solid #ddd}td div{background:#4a8;height:12px}</style></head><body>"
            f"<h1>{name} on simulated NPUs</h1><p>Times are those of the simulated NPU, without work "
            "of the host. Energy, where shown, is an estimate from published figures of other "
            f"chips.</p><table><tr>{head}</tr>{''.join(lines)}</table></body></html>\n")


def _jobs(text: str) -> int:
    count = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= count <= 1024:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of combinations: write 1 to 1024")
    return count


def _batches(text: str) -> list[int]:
    """"1,4,16", or "1..16": 1, 2, 4, 8, 16."""
    low, dots, high = text.partition("..")
    try:
        if not dots:
            batches = [int(part) for part in text.split(",")]
        else:
            batches = [size for size in (int(low) << i for i in range(32)) if size <= int(high)]
    except ValueError:
        batches = []
    if not batches or min(batches) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no batch: write 1,4,16 or 1..64")
    return batches


def _pairs(text: str) -> tuple[str, list[str]]:
    key, equals, values = text.partition("=")
    if not equals or not values:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE,...")
    return key, values.split(",")


def _precisions(text: str) -> list[str]:
    names = text.split(",")
    if not set(names) <= {"f16", "int8"}:
        raise argparse.ArgumentTypeError(f"'{text}' is no precision: write f16, int8 or f16,int8")
    return names


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        print(f"E10001: {message}; --help lists all options.", file=sys.stderr)
        raise SystemExit(1)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _Parser(prog="npu-sweep", description=__doc__.splitlines()[0])
    parser.add_argument("model", help="an ONNX or TensorFlow file")
    parser.add_argument("--soc", default="Ascend310P3", help="names of SoCs (default Ascend310P3)")
    parser.add_argument("--batch", type=_batches, default=[1],
                        help="1,4,16, or 1..64 for the powers of two (default 1)")
    parser.add_argument("--precision", type=_precisions, default=["f16"],
                        help="f16, int8 (calibrated on noise), or both (default f16)")
    parser.add_argument("--set", type=_pairs, action="append", default=[], metavar="KEY=A,B",
                        help="sweep a value of the SoC's table, such as l2Bytes or ddrPeak")
    parser.add_argument("--price", type=_pairs, action="append", default=[], metavar="SOC=PRICE",
                        help="also print samples per second for one unit of the price")
    parser.add_argument("--energy", action="store_true", help="also print an estimate of the energy")
    parser.add_argument("--jobs", type=_jobs, default=1, help="combinations at a time (default 1)")
    parser.add_argument("--html", help="write the table as a page")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    if not os.path.exists(options.model):
        print(f"E10410: the model file '{_printable(options.model)}' does not exist.",
              file=sys.stderr)
        return 1
    try:
        prices = {soc: float(values[0]) for soc, values in options.price}
    except ValueError:
        parser.error("a price must be a number")
    points = sweep(options.model, socs=options.soc.split(","), batches=options.batch,
                   precisions=options.precision, parameters=dict(options.set),
                   prices=prices, with_energy=options.energy, jobs=options.jobs)
    if options.html:
        try:
            write_file(options.html, _page(options.model, points).encode())
        except OSError as error:
            print(f"E13004: cannot write '{_printable(options.html)}': {error.strerror}.",
                  file=sys.stderr)
            return 1
    if options.json:
        print(json.dumps({"model": options.model, "points": [asdict(point) for point in points]},
                         indent=1))
    else:
        print(_text(points))
    return 1 if all(point.error for point in points) else 0
