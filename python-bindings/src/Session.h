//===-- Session.h - models and sessions of the runtime module -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PYTHON_SESSION_H
#define OPENATC_PYTHON_SESSION_H

#include "openatc/npu.h"
#include "python-bindings/src/Arrays.h"
#include "python-bindings/src/Initialized.h"

#include <array>
#include <memory>
#include <mutex>
#include <sys/types.h>
#include <unistd.h>

namespace atc::python {

class PyModel {
public:
  /// `source` is a path, the bytes of a file, or a file in a capsule of the compiler.
  PyModel(const pybind11::object &source, bool verify, const pybind11::object &cpuLevel);

  const om::Model &get() const { return model; }
  const std::vector<Port> &inputs() const { return inputPorts; }
  const std::vector<Port> &outputs() const { return outputPorts; }
  /// Returns all tensors of the model, in the order of the file; owned by this object.
  const std::vector<Port> &tensors();
  /// Returns the launches of the schedule in their order; texts point into the model.
  std::vector<om::Launch> launches() const;
  /// Compares the weights with their checksum; throws an error when they differ.
  void verifyWeights() const;
  /// Returns a copy of the file; throws where it was changed since it was opened.
  pybind11::bytes content() const;
  /// Writes the file to `path`, which stays as it is after an error.
  void save(const pybind11::object &path) const;
  /// Whether all inputs and outputs are tensors of known sizes, as arrays are.
  bool isFixed() const;
  /// Returns the CPU level that the caller asked for, or None where the loader has chosen.
  const pybind11::object &requestedLevel() const { return wantedLevel; }

private:
  /// Reads the file that was opened into `content`, which has its size. Returns false where another
  /// file is there, or it was changed.
  bool readSame(std::string &content) const;
  /// Returns the bytes of the file: those held in memory, or `content`, into which they are read.
  std::string_view view(std::string &content) const;

  pybind11::object wantedLevel;
  pybind11::object bytes; ///< what the model reads in place; null for a file
  std::string file;       ///< the path of a file
  /// Device, inode and modification time of that file: another file at its path has other ones.
  std::array<int64_t, 4> identity = {};
  om::Model model;
  std::vector<Port> inputPorts, outputPorts, tensorPorts;
};

/// The mean time of one launch.
struct LaunchTime {
  uint32_t launch;
  std::string name, kernel;
  double microseconds, share;
};

/// The options with which the NPU of a session is simulated.
struct NpuRequest {
  bool functional = true, timed = true, checkHazards = false, prefetch = true;
  uint64_t timelineSpans;
  std::string socFile;
};

class PyRanks;

class PySession {
public:
  /// `options` without the device, which `request` describes.
  PySession(std::shared_ptr<PyModel> model, om_session_options options, const NpuRequest &request);
  ~PySession();

  /// A list for a sequence of inputs, a dict for a mapping of them. `run(names, feeds)`, as in ONNX
  /// Runtime, takes the names of outputs, or None for all of them, and a mapping of inputs: it
  /// returns a list of these outputs.
  pybind11::object run(const pybind11::object &inputs, const pybind11::object &outputs);
  /// Runs the model on positional inputs or on inputs by name. Returns the output, or a tuple
  /// of several; for a single mapping a dict.
  pybind11::object call(const pybind11::args &inputs, const pybind11::kwargs &named);
  bool isClosed() const { return !session; }
  /// Gives the memory back; every later run is a ValueError.
  void close();
  /// Runs the model once and returns what its launches wrote, by name.
  pybind11::dict tensors(const pybind11::object &inputs, const pybind11::object &names);

  /// Runs a model with a dynamic schedule once and returns the results of the layers that `shapes`
  /// has the dims of: tuples of name, kernel, launch, whether it ran on the NPU, element type and
  /// array; see LayerTrace.
  pybind11::list layers(const pybind11::object &inputs, const pybind11::dict &shapes);

  /// Ends the run in progress, of whatever thread, or else the next one.
  void cancel() const {
    needOpen();
    session.cancel();
  }

  /// Connects the runs to those of the other ranks.
  void connect(std::shared_ptr<PyRanks> ranks);

  /// Makes runs keep the state of the model, or not.
  void keepState(bool on);
  bool keepsState() const { return stateKept; }
  void resetState();
  /// Returns the states by the names of their inputs, as dense copies; None where no run has made
  /// one.
  pybind11::dict readStates();
  /// Sets states by the names of their inputs; None resets one.
  void writeStates(const pybind11::dict &states);

  /// Chooses the gear of all runs from now on; without values each run finds its own.
  void setGear(const std::vector<int64_t> &values);
  /// Returns the values of the gear that was set or used last; none before.
  std::vector<int64_t> gear();

  bool isProfiling() const { return profiling; }
  /// Switches the measurement of launches on or off for later runs.
  void setProfiling(bool on);
  /// Returns the times of the last run's launches in microseconds; empty without profiling.
  std::vector<LaunchTime> profile();

  const std::shared_ptr<PyModel> &model() const { return owner; }
  /// Returns the number of threads that compute; raises where the session is closed.
  uint32_t threads() const {
    needOpen();
    return om_session_threads(session.get());
  }
  /// Returns the statistics of the simulated NPU for the last run; none for a model without one.
  pybind11::object npuStatistics();
  /// Returns a line for each pair of accesses that nothing orders.
  std::vector<std::string> hazards();
  /// Writes a text of the simulated NPU into a file.
  void writeNpuText(const pybind11::object &path, om_npu_text_kind kind);

private:
  class Call;
  /// Runs the model on a mapping of inputs and returns a list of the outputs that `names` has, or
  /// of all of them for None.
  pybind11::list runNamed(const pybind11::object &names, const pybind11::object &feeds);
  /// Returns whether an output is a state that runs keep, which they do not return.
  bool isKeptState(size_t output) const;
  pybind11::object runValues(const pybind11::object &inputs, const pybind11::object &outputs);
  void makeNpu(const NpuRequest &request);
  /// Raises ValueError where the session is closed, or belongs to another process.
  void needOpen() const;
  /// Raises ValueError in a process that was forked from the one that made the session: its
  /// threads are not in this one, which would wait for them for ever.
  void needProcess() const;
  /// Leaves what the session holds to the process that made it.
  void abandon();
  /// Raises for a model without NPU launches, which has no `what`.
  void needNpu(const char *what) const;

  std::shared_ptr<PyModel> owner;
  struct FreeNpu {
    void operator()(om_npu *npu) const { om_npu_free(npu); }
  };
  std::unique_ptr<om_npu, FreeNpu> npu; ///< outlives the session
  std::shared_ptr<PyRanks> connection;  ///< outlives the session
  om::Session session;
  std::mutex busy;                ///< one thread at a time; never waited for with the GIL held
  const pid_t process = getpid(); ///< that has the threads of the session
  bool profiling = false, checksHazards = false, stateKept = false;
};

/// Returns the coded line for an error of a run, of a session that is connected to other ranks or
/// not.
std::string runErrorOf(const om::Error &error, bool isConnected = false);

/// The lines of a text.
std::vector<std::string> linesOf(const char *text);

/// Waits for other threads without the GIL, which they may need to finish.
std::unique_lock<std::mutex> takeTurn(std::mutex &mutex);

/// A path as the system has it; raises TypeError for what is none.
std::string systemPath(const pybind11::object &path);

} // namespace atc::python

OPENATC_INITIALIZED(atc::python::PyModel)
OPENATC_INITIALIZED(atc::python::PySession)
OPENATC_INITIALIZED(atc::python::LaunchTime)

#endif // OPENATC_PYTHON_SESSION_H
