//===-- DvppEntries.cpp - libacl_dvpp --------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ascend/entry/DvppHeaders.h"
#include "ascend/entry/Entries.h"

#include "DvppEntries.inc"
