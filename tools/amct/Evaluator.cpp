//===-- Evaluator.cpp - calibration with a measure in Python -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/amct/Evaluator.h"

#include "tools/common/Print.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

int atc::tools::runEvaluator(int argc, char **argv) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const std::filesystem::path root = program.parent_path().parent_path();
    std::string path;
    for (const auto &folder : {root / "lib/openatc/toolkit/python", root / "python"})
      if (std::filesystem::exists(folder / "amct_onnx", error))
        path += folder.string() + ":";
    // A library folder with the name of the machine, as Debian has it.
    for (const auto &entry : std::filesystem::directory_iterator(root / "lib", error))
      if (std::filesystem::exists(entry.path() / "openatc/toolkit/python/amct_onnx", error))
        path += (entry.path() / "openatc/toolkit/python").string() + ":";
    if (const char *known = getenv("PYTHONPATH"))
      path += known;
    if (!path.empty())
      setenv("PYTHONPATH", path.c_str(), 1);
    // The package runs this program again, without the evaluator.
    setenv("OPENATC_AMCT", program.c_str(), 1);
  }
  std::vector<char *> words;
  std::string first = "python3", module = "amct_onnx", dashM = "-m";
  words = {first.data(), dashM.data(), module.data()};
  words.insert(words.end(), argv + 1, argv + argc);
  words.push_back(nullptr);
  execvp("python3", words.data());
  tools::print(stderr, "E10410: --evaluator needs the program python3, which cannot be run: %s\n",
               std::strerror(errno));
  return 1;
}
