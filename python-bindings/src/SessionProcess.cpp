//===-- SessionProcess.cpp - sessions in forked processes -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fork() copies the memory of a session and none of its threads.

#include "python-bindings/src/Session.h"

#include "python-bindings/src/Ranks.h"

namespace py = pybind11;

namespace atc::python {

PySession::~PySession() {
  if (process != getpid())
    abandon();
}

void PySession::abandon() {
  // Never freed: their threads and locks are those of the other process.
  new om::Session(std::move(session));
  new std::shared_ptr<PyRanks>(std::move(connection));
  npu.release();
}

void PySession::needProcess() const {
  if (process != getpid())
    throw py::value_error("the session was made by another process, from which this one was "
                          "forked: make a session of the model here");
}

} // namespace atc::python
