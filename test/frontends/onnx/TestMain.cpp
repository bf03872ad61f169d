//===-- TestMain.cpp - the Catch2 main program ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
