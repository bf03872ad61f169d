//===-- main.cpp - quantizes models, compares them ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/amct/RunAmct.h"

int main(int argc, char **argv) { return atc::tools::runAmct(argc, argv); }
