# ===-- conftest.py - what all tests in Python have in common ---------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A test draws the same random numbers whichever tests ran before it: the generators of its module are
seeded with its name. Otherwise a test that runs alone, or with a share of the others, has other inputs
than the one whose bounds were checked."""

import sys
import zlib

import pytest


@pytest.fixture(autouse=True)
def own_random_numbers(request):
    numpy = sys.modules.get("numpy")
    if numpy is None or request.module is None:
        return
    name = f"{request.module.__name__}::{request.node.name}"
    for generator in vars(request.module).values():
        if isinstance(generator, numpy.random.Generator):
            generator.bit_generator.state = numpy.random.default_rng(zlib.crc32(name.encode())).bit_generator.state
