//===-- Operators.cpp - operators that every program has ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// OperatorFactory knows the operators of all headers, also in programs that include none.

#include "op_proto/all_ops.h"
