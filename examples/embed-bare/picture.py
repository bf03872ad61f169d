#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a .npy file of floats as a C array: picture.py digit_3.npy picture_3 > picture.h"""

import sys

import numpy

values = numpy.load(sys.argv[1]).astype("float32").ravel()
print(f"static const float {sys.argv[2]}[] __attribute__((aligned(64))) = {{")
for value in values:
    print(f"    {float(value).hex()}f,")
print("};")
