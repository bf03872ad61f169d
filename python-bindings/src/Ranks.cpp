//===-- Ranks.cpp - connections between sessions for Python ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "python-bindings/src/Ranks.h"

#include "collectives/MpiPlugin.h"
#include "openatc/om.hpp"
#include "python-bindings/src/Errors.h"
#include "python-bindings/src/Session.h"
#include "support/ErrorCodes.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstring>
#include <numeric>

namespace py = pybind11;

namespace atc::python {

PyRanks::PyRanks(om_ranks *ranks) : ranks(ranks), symmetric(*ranks->collectives) {
  // The engine behind `user` knows the rank; this number is only compared with the program's.
  symmetric.rank = 0;
}

PyRanks::~PyRanks() { ranks->close(ranks); }

std::vector<std::shared_ptr<PyRanks>> PyRanks::openThreads(uint32_t count, double timeout) {
  std::vector<om_ranks *> opened(count);
  om::Error error;
  if (om_loopback_open(count, timeout, opened.data(), &error.c) != OM_OK)
    raise({codedLine("E10062", error.message())});
  std::vector<std::shared_ptr<PyRanks>> all;
  for (om_ranks *own : opened)
    all.push_back(std::make_shared<PyRanks>(own));
  return all;
}

std::shared_ptr<PyRanks> PyRanks::openMpi(double timeout, const std::vector<std::string> &folders) {
  std::string reason;
  om_mpi_open_function open = collectives::loadMpiPlugin(folders, reason);
  if (!open)
    raise({codedLine("E10055", "Python was started by mpirun, but the plug-in for MPI cannot be "
                               "loaded: " +
                                   reason +
                                   "; install libopenmpi-dev and build OpenATC, or run without "
                                   "mpirun: then all ranks are threads of one process.")});
  om_ranks *ranks = nullptr;
  om::Error error;
  if (open(timeout, &ranks, &error.c) != OM_OK)
    raise({codedLine("E10062", error.message())});
  return std::make_shared<PyRanks>(ranks);
}

uint64_t PyRanks::sentBytes() const {
  om_traffic traffic;
  ranks->traffic(ranks, &traffic);
  uint64_t sum = 0;
  for (uint64_t bytes : traffic.sent_bytes)
    sum += bytes;
  return sum;
}

std::vector<float> PyRanks::gather(const float *elements, size_t count) const {
  struct alignas(64) Line {
    char bytes[64];
  };
  const om_collectives &own = *ranks->collectives;
  const size_t bytes = count * sizeof(float), total = bytes * own.ranks;
  std::vector<Line> input(bytes / sizeof(Line) + 1), output(total / sizeof(Line) + 1);
  std::memcpy(input.data(), elements, bytes);
  std::vector<uint32_t> group(own.ranks);
  std::iota(group.begin(), group.end(), 0);
  om_collective all = {};
  all.name = "state";
  all.kind = OM_ALL_GATHER;
  all.dtype = OM_F32;
  all.ranks = group.data();
  all.rank_count = own.ranks;
  all.input = input.data();
  all.input_bytes = bytes;
  all.output = output.data();
  all.output_bytes = total;
  om::Error error;
  void *request = nullptr;
  if (own.start(own.user, &all, &request, &error.c) != OM_OK ||
      own.wait(own.user, request, &error.c) != OM_OK)
    raise({codedLine("E10062", error.message())});
  std::vector<float> gathered(count * own.ranks);
  std::memcpy(gathered.data(), output.data(), total);
  return gathered;
}

/// Returns the array of every rank as rows.
static py::array_t<float> gatherRows(const PyRanks &ranks,
                                     const py::array_t<float, py::array::c_style> &own) {
  const size_t count = own.size();
  std::vector<float> all;
  {
    py::gil_scoped_release release;
    all = ranks.gather(own.data(), count);
  }
  return py::array_t<float>({size_t(ranks.count()), count}, all.data());
}

uint32_t mpiProcesses() {
  const uint32_t count = collectives::mpirunVariable("OMPI_COMM_WORLD_SIZE");
  return count ? count : collectives::mpirunVariable("PMI_SIZE");
}

void PySession::connect(std::shared_ptr<PyRanks> ranks) {
  om::Error error;
  {
    auto turn = takeTurn(busy);
    needOpen();
    if (om_session_set_collectives(session.get(), ranks->table(), &error.c) == OM_OK)
      connection = std::move(ranks);
  }
  if (error)
    raise({runErrorOf(error)});
}

void addRanks(py::module_ &m) {
  py::class_<PyRanks, std::shared_ptr<PyRanks>>(m, "Ranks",
                                                "The connection of one rank to the others.")
      .def_property_readonly("rank", &PyRanks::rank, "The number of this rank.")
      .def_property_readonly("count", &PyRanks::count, "How many ranks there are.")
      .def_property_readonly("sent_bytes", &PyRanks::sentBytes,
                             "The bytes that this rank has sent.")
      .def("gather", &gatherRows, py::arg("own"),
           "Returns the float32 arrays of all ranks as rows; every rank calls it.")
      .def("abort", &PyRanks::abort, py::arg("sentence"), py::call_guard<py::gil_scoped_release>(),
           "Makes the collectives of the other ranks fail with a sentence; under mpirun all "
           "processes end.");
  m.def("open_threads", &PyRanks::openThreads, py::arg("count"), py::arg("timeout"),
        "Connects ranks in this process: one per thread.");
  m.def("open_mpi", &PyRanks::openMpi, py::arg("timeout"), py::arg("folders"),
        "Connects this process to the others that mpirun has started.");
  m.def("mpi_processes", &mpiProcesses,
        "Returns the number of processes that mpirun has started; 0 without it.");
}

} // namespace atc::python
