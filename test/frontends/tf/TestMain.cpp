//===-- TestMain.cpp - the main function of Catch2 ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
