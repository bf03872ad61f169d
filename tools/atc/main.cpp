//===-- main.cpp - the model compiler --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/RunAtc.h"

int main(int argc, char **argv) { return atc::tools::runAtc(argc, argv); }
