//===-- GoldenWriter.cpp - makes the golden file of the current schema ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Run once when a schema version is released (golden/README.md):
//   runtime-golden-writer test/runtime-lite/golden/schema-<major>.<minor>.om

#include "test/runtime-lite/NpuTestModel.h"

#include <cstdio>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s <file.om>\n", argv[0]);
    return 1;
  }
  KernelImage image = readKernelImage(OPENATC_TEST_KERNELS);
  NpuTestModel test(image);
  std::string error;
  if (atc::om::writeOm(test.model, argv[1], error))
    return 0;
  std::fprintf(stderr, "%s\n", error.c_str());
  return 1;
}
