//===-- AtcCall.cpp - calls of the compiler -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/AtcCall.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <dlfcn.h>

namespace atc::ascend {

namespace fs = std::filesystem;

std::string findAtc() {
  if (const char *chosen = getenv("OPENATC_ATC"); chosen && *chosen)
    return chosen;
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void *>(&findAtc), &info) && info.dli_fname) {
    std::error_code error;
    fs::path library = fs::canonical(info.dli_fname, error);
    for (fs::path folder = library.parent_path(); !error && folder.has_relative_path();
         folder = folder.parent_path())
      if (fs::path atc = folder.parent_path() / "bin" / "atc"; fs::exists(atc, error))
        return atc;
  }
  return "atc";
}

std::string textOfFile(const std::string &path) {
  // Iterators over a buffer would throw where a read fails; this leaves out what cannot be read.
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string errorsOfAtc(const std::string &output) {
  std::string errors;
  for (size_t at = 0; at < output.size();) {
    const size_t end = std::min(output.find('\n', at), output.size());
    const std::string line = output.substr(at, end - at);
    if (line.size() > 6 && line[0] == 'E' && line[6] == ':')
      errors += (errors.empty() ? "" : "; ") + line;
    at = end + 1;
  }
  return errors.empty() ? output : errors;
}

} // namespace atc::ascend
