//===-- Ranks.h - connections between sessions for Python -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PYTHON_RANKS_H
#define OPENATC_PYTHON_RANKS_H

#include "openatc/ranks.h"
#include "python-bindings/src/Initialized.h"

#include <memory>
#include <string>
#include <vector>

namespace atc::python {

/// The connection of one rank to the others, for sessions of symmetric programs: every rank runs
/// the program of rank 0, whose collectives have all ranks in their groups.
class PyRanks {
public:
  explicit PyRanks(om_ranks *ranks);
  ~PyRanks();
  PyRanks(const PyRanks &) = delete;
  PyRanks &operator=(const PyRanks &) = delete;

  /// Connects `count` ranks in this process, one per thread. Throws ErrorLines.
  static std::vector<std::shared_ptr<PyRanks>> openThreads(uint32_t count, double timeout);
  /// Connects this process to the others that mpirun has started. `folders` are searched for the
  /// plug-in. Throws ErrorLines.
  static std::shared_ptr<PyRanks> openMpi(double timeout, const std::vector<std::string> &folders);

  uint32_t rank() const { return ranks->collectives->rank; }
  uint32_t count() const { return ranks->collectives->ranks; }
  /// Returns the bytes that this rank has sent, over all collectives.
  uint64_t sentBytes() const;
  /// Returns the `count` elements of every rank, one rank behind the other. All ranks call it.
  /// Throws ErrorLines.
  std::vector<float> gather(const float *elements, size_t count) const;
  /// Makes the collectives of the other ranks fail with a sentence; ends the process under MPI.
  void abort(const std::string &sentence) const { ranks->abort(ranks, sentence.c_str()); }
  /// The table for a session that runs the program of rank 0.
  const om_collectives *table() const { return &symmetric; }

private:
  om_ranks *ranks;
  om_collectives symmetric;
};

/// Returns the number of processes that mpirun has started; 0 without it.
uint32_t mpiProcesses();

/// Adds the class Ranks and the functions that open connections.
void addRanks(pybind11::module_ &m);

} // namespace atc::python

OPENATC_INITIALIZED(atc::python::PyRanks)

#endif // OPENATC_PYTHON_RANKS_H
