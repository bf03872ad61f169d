//===-- NpuCorpus.cpp - writes the seeds of fuzz-npu-program --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   fuzz-npu-corpus FOLDER

#include "npu/isa/Codec.h"
#include "test/npu/AcceptedProgram.h"

#include <fstream>

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  unsigned number = 0;
  for (const atc::npu::Program &program : atc::npu::test::goodPrograms()) {
    std::vector<uint8_t> bytes = atc::npu::encode(program);
    std::ofstream file(std::string(argv[1]) + "/program-" + std::to_string(number++) + ".npu",
                       std::ios::binary);
    file.write(reinterpret_cast<const char *>(bytes.data()), std::streamsize(bytes.size()));
    if (!file)
      return 1;
  }
  return 0;
}
