//===-- Catch.cpp - Catch2's functions and the main function of tests -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp> // NOLINT(misc-include-cleaner): the macro above makes it the code
