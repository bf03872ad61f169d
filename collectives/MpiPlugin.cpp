//===-- MpiPlugin.cpp - loads the plug-in for MPI -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "collectives/MpiPlugin.h"

#include <cstdlib>
#include <dlfcn.h>

namespace atc::collectives {

om_mpi_open_function loadMpiPlugin(const std::vector<std::string> &folders, std::string &reason) {
  std::vector<std::string> paths;
  if (const char *path = std::getenv("OPENATC_MPI_PLUGIN"))
    paths.push_back(path);
  for (const std::string &folder : folders)
    paths.push_back(folder + "/libopenatc_mpi.so");
  paths.push_back("libopenatc_mpi.so");
  for (const std::string &path : paths)
    if (void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL))
      if (void *function = dlsym(library, "om_mpi_open"))
        return reinterpret_cast<om_mpi_open_function>(function);
  const char *text = dlerror();
  reason = text ? text : "it lacks om_mpi_open";
  return nullptr;
}

uint32_t mpirunVariable(const char *name) {
  const char *text = std::getenv(name);
  return text ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : 0;
}

} // namespace atc::collectives
