# ===-- share_of_cases.py - a plug-in of pytest: some cases of tests with many ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a share of the cases of tests that have many, so that a run of everything ends within half an
hour: a test with more than MANY sets of parameters runs every SHAREth of them, and at least FEWEST.
The nightly run (OPENATC_NIGHTLY) has all of them, and so has pytest where this plug-in is not loaded.

Which cases run is drawn by their names: neighbours in a product of parameters would otherwise have
equal values in one of them. The same cases run each time, and a new one replaces at most one."""

import collections
import os
import zlib

import pytest

SHARE, MANY, FEWEST = 4, 6, 3


def drawn(names):
    """Returns the names of a test's cases that run."""
    if len(names) <= MANY:
        return set(names)
    return set(sorted(names, key=lambda name: zlib.crc32(name.encode()))[:max(FEWEST, -(-len(names) // SHARE))])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if os.environ.get("OPENATC_NIGHTLY"):
        return
    cases = collections.defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item.nodeid)
    kept = set().union(*map(drawn, cases.values()))
    left_out = [item for item in items if item.nodeid not in kept]
    items[:] = [item for item in items if item.nodeid in kept]
    config.hook.pytest_deselected(items=left_out)
