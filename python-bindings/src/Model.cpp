//===-- Model.cpp - models of the runtime module --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "python-bindings/src/Errors.h"
#include "python-bindings/src/Session.h"
#include "support/OutputFile.h"

#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace py = pybind11;

namespace atc::python {

/// Returns device, inode and time of change of a file: at a path, or of a descriptor with an empty
/// one. Zeros where there is none.
static std::array<int64_t, 4> identityOf(int descriptor, const char *path) {
  struct stat status = {};
  if (fstatat(descriptor, path, &status, *path ? 0 : AT_EMPTY_PATH) != 0)
    return {};
  return {int64_t(status.st_dev), int64_t(status.st_ino), int64_t(status.st_mtim.tv_sec),
          int64_t(status.st_mtim.tv_nsec)};
}

static std::vector<Port> portsOf(const std::vector<om::Tensor> &tensors) {
  std::vector<Port> ports;
  for (const om::Tensor &tensor : tensors)
    ports.emplace_back(tensor);
  return ports;
}

PyModel::PyModel(const py::object &source, bool verify, const py::object &cpuLevel)
    : wantedLevel(cpuLevel) {
  om::Error error;
  om_load_options options = OM_LOAD_OPTIONS_INIT;
  const std::string level = cpuLevel.is_none() ? "" : cpuLevel.cast<std::string>();
  options.verify_weights = verify;
  options.cpu_level = cpuLevel.is_none() ? nullptr : level.c_str();
  std::string label = "the bytes given";
  if (PyObject_CheckBuffer(source.ptr())) {
    // Everything but bytes is copied: the memory must not change.
    bytes = py::reinterpret_steal<py::object>(PyBytes_FromObject(source.ptr()));
    if (!bytes)
      throw py::error_already_set();
    const char *data = PyBytes_AS_STRING(bytes.ptr());
    const size_t size = PyBytes_GET_SIZE(bytes.ptr());
    py::gil_scoped_release release;
    model = om::Model::loadMemory(data, size, error, options);
  } else if (PyCapsule_IsValid(source.ptr(), fileCapsule)) {
    bytes = source;
    auto *file = static_cast<const om::Buffer *>(PyCapsule_GetPointer(source.ptr(), fileCapsule));
    py::gil_scoped_release release;
    model = om::Model::loadMemory(file->data(), file->size(), error, options);
  } else {
    const std::string path = systemPath(source);
    label = "'" + path + "'";
    // Without a name there is no absolute path, nor without a current folder.
    std::error_code none;
    file = std::filesystem::absolute(path, none).string();
    identity = identityOf(AT_FDCWD, file.c_str());
    {
      py::gil_scoped_release release;
      model = om::Model::loadFile(path, error, options);
    }
    std::error_code status;
    if (!model && error.code() == OM_ERROR_IO && !std::filesystem::exists(path, status))
      raise({"E10410: the model file " + label + " does not exist"});
  }
  if (!model)
    raise({"E10041: " + label + " cannot be loaded: " + error.message()});
  inputPorts = portsOf(model.inputs());
  outputPorts = portsOf(model.outputs());
}

const std::vector<Port> &PyModel::tensors() {
  if (tensorPorts.empty()) {
    std::vector<om::Tensor> all;
    for (uint32_t i = 0; i < model.info().tensors; ++i)
      all.push_back(model.tensor(i));
    tensorPorts = portsOf(all);
  }
  return tensorPorts;
}

std::vector<om::Launch> PyModel::launches() const {
  std::vector<om::Launch> all;
  for (uint32_t i = 0; i < model.info().launches; ++i)
    all.push_back(model.launch(i));
  return all;
}

void PyModel::verifyWeights() const {
  om::Error error;
  {
    py::gil_scoped_release release;
    om_model_verify_weights(model.get(), &error.c);
  }
  if (error)
    raise({std::string("E10041: ") + error.message()});
}

bool PyModel::readSame(std::string &content) const {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return false;
  size_t size = 0;
  while (size < content.size()) {
    const ssize_t part = ::read(descriptor, content.data() + size, content.size() - size);
    if (part <= 0)
      break;
    size += size_t(part);
  }
  const bool isSame = size == content.size() && identityOf(descriptor, "") == identity;
  ::close(descriptor);
  return isSame;
}

std::string_view PyModel::view(std::string &content) const {
  if (!bytes) {
    bool isSame = false;
    {
      py::gil_scoped_release release;
      content.resize(model.info().file_bytes);
      isSame = readSame(content);
    }
    if (!isSame)
      raise({"E10410: the model file '" + file + "' was changed after it was opened"});
    return content;
  }
  if (PyBytes_Check(bytes.ptr()))
    return {PyBytes_AS_STRING(bytes.ptr()), size_t(PyBytes_GET_SIZE(bytes.ptr()))};
  auto *held = static_cast<const om::Buffer *>(PyCapsule_GetPointer(bytes.ptr(), fileCapsule));
  return {reinterpret_cast<const char *>(held->data()), held->size()};
}

py::bytes PyModel::content() const {
  std::string read;
  const std::string_view whole = view(read);
  return {whole.data(), whole.size()};
}

void PyModel::save(const py::object &path) const {
  const std::string target = systemPath(path);
  std::string read, error;
  const std::string_view whole = view(read);
  bool isWritten = false;
  {
    py::gil_scoped_release release;
    isWritten = writeWholeFile(target, whole, error);
  }
  if (!isWritten)
    raise({error});
}

bool PyModel::isFixed() const {
  for (const auto *ports : {&inputPorts, &outputPorts})
    for (const Port &port : *ports)
      if (!port.tensor.fixed())
        return false;
  return true;
}

} // namespace atc::python
