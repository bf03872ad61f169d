# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables: as text, as HTML for notebooks, as dicts and as pandas' DataFrames."""

from __future__ import annotations

import html
import importlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._error import _printable

if TYPE_CHECKING:
    from ._runtime import LaunchTime, Model


def table_html(heads: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "",
               marked: Iterable[int] = ()) -> str:
    """Returns a table as HTML, in which nothing of a model is markup. The rows `marked` are
    bold."""
    bold = set(marked)

    def cell(kind: str, value: object) -> str:
        text = html.escape(_printable(str(value)))
        align = "right" if isinstance(value, (int, float)) else "left"
        return f'<{kind} style="text-align:{align}">{text}</{kind}>'

    lines = ["<table>"]
    if caption:
        lines.append(f"<caption>{html.escape(_printable(caption))}</caption>")
    lines.append("<thead><tr>" + "".join(cell("th", head) for head in heads) + "</tr></thead>")
    for index, row in enumerate(rows):
        style = ' style="font-weight:bold"' if index in bold else ""
        lines.append(f"<tr{style}>" + "".join(cell("td", value) for value in row) + "</tr>")
    return "\n".join([*lines, "</table>"])


def to_pandas(columns: Mapping[str, Sequence[Any]]) -> Any:
    """Returns columns as a DataFrame; ImportError without pandas."""
    try:
        pandas: Any = importlib.import_module("pandas")
    except ImportError as error:
        raise ImportError("a DataFrame needs pandas: pip install pandas, or use to_dict()") \
            from error
    return pandas.DataFrame(columns)


def _shape_text(shape: Sequence[object] | None) -> str:
    if shape is None:
        return "[...]"
    return "[" + ", ".join("?" if dim is None else str(dim) for dim in shape) + "]"


def ports_html(inputs: Iterable[Any], outputs: Iterable[Any], caption: str) -> str:
    """Returns a table of the inputs and outputs of a model or module."""
    rows = [(role, port.name, port.dtype, _shape_text(port.shape))
            for role, ports in (("input", inputs), ("output", outputs)) for port in ports]
    return table_html(["", "name", "type", "shape"], rows, caption)


def model_html(model: Model) -> str:
    """Returns what a notebook shows of a Model."""
    launches = model.launches
    on_npu = sum(launch.npu for launch in launches)
    where = f"{model.soc}, {on_npu} of {len(launches)} launches on the NPU" if model.soc else \
        f"{model.cpu_level or 'any processor'}, {len(launches)} launches"
    return ports_html(model.inputs, model.outputs, f"model {model.name} for {where}") + (
        f"\n<p>{model.file_bytes:,} bytes, weights {model.weights_bytes:,}, memory of a session "
        f"{model.arena_bytes:,}</p>")


class Profile(list):  # type: ignore[type-arg]
    """The times of the launches of a session: a list of LaunchTime, which can be shown and
    converted."""

    def to_dict(self) -> dict[str, list[Any]]:
        """Returns the columns: launch, name, kernel, microseconds, share."""
        rows: list[LaunchTime] = list(self)
        return {name: [getattr(row, name) for row in rows]
                for name in ("launch", "name", "kernel", "microseconds", "share")}

    def to_pandas(self) -> Any:
        """Returns a pandas.DataFrame with the columns of `to_dict`; ImportError without
        pandas."""
        return to_pandas(self.to_dict())

    def __str__(self) -> str:
        width = max([4, *(len(_printable(row.name)) for row in self)])
        lines = [f"{'name':{width}}  {'kernel':24}  {'us':>10}  {'share':>6}"]
        lines += [f"{_printable(row.name):{width}}  {_printable(row.kernel):24}  "
                  f"{row.microseconds:10.1f}  {row.share:6.1%}" for row in self]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        total = sum(row.microseconds for row in self)
        slowest = max(range(len(self)), key=lambda i: float(self[i].microseconds), default=-1)
        return table_html(["launch", "name", "kernel", "us", "share"],
                          [(row.launch, row.name, row.kernel, round(row.microseconds, 1),
                            f"{row.share:.1%}") for row in self],
                          f"{total:,.1f} us in {len(self)} launches", [slowest])
