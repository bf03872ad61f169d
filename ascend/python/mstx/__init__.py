# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Marks and ranges of a program in its profile (mstx/ms_tools_ext.h). `stream` is a handle of
acl.rt.create_stream, or 0 or None."""

from acl._library import LIBRARY, bind

_mark = bind(LIBRARY, "mstxMarkA - s p")
_range_start = bind(LIBRARY, "mstxRangeStartA U s p")
range_end = bind(LIBRARY, "mstxRangeEnd - U")


def mark(message, stream=None):
    """Records a moment, and that at which the stream has come to it."""
    _mark(message, stream or 0)


def range_start(message, stream=None):
    """Begins a range; returns its id for range_end, 0 for a stream that is none."""
    return _range_start(message, stream or 0)
