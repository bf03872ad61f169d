//===-- MpiPlugin.h - loads the plug-in for MPI -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_COLLECTIVES_MPIPLUGIN_H
#define OPENATC_COLLECTIVES_MPIPLUGIN_H

#include "openatc/ranks.h"

#include <string>
#include <vector>

namespace atc::collectives {

/// Loads libopenatc_mpi.so: the file that $OPENATC_MPI_PLUGIN names, or the one in the first of
/// `folders` that has it, or where the system looks. Returns its om_mpi_open; null, and the reason
/// in `reason`, where it cannot be loaded. It stays loaded.
om_mpi_open_function loadMpiPlugin(const std::vector<std::string> &folders, std::string &reason);

/// Returns a number that mpirun has put into the environment; 0 where it has not.
uint32_t mpirunVariable(const char *name);

} // namespace atc::collectives

#endif // OPENATC_COLLECTIVES_MPIPLUGIN_H
