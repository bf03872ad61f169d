//===-- AscendclEntries.cpp - libascendcl --------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ascend/entry/AscendclHeaders.h"
#include "ascend/entry/Entries.h"

#include "AscendclEntries.inc"
