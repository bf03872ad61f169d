//===-- TrainingBindings.cpp - training steps of openatc._compiler --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "python-bindings/src/Arrays.h"
#include "python-bindings/src/Compiler.h"
#include "python-bindings/src/Training.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

namespace py = pybind11;

namespace atc::python {

namespace {

using FloatArray = py::array_t<float, py::array::c_style>;

py::object toArray(const FloatTensor &tensor) {
  FloatArray array(std::vector<py::ssize_t>(tensor.dims.begin(), tensor.dims.end()));
  // Not nbytes(): pybind11 before 2.12 reads the size of an element where only NumPy 1 has it.
  if (array.size())
    std::memcpy(array.mutable_data(), tensor.data, array.size() * sizeof(float));
  return std::move(array);
}

/// (module, {name: array} of parameters, {name: array} of statistics)
py::tuple trainingModule(const ModelRequest &model, const std::string &settings) {
  py::dict parameters, statistics;
  auto module = withoutGil([&] {
    return makeTrainingModule(model, settings, [&](const FloatTensor &tensor, bool isParameter) {
      py::gil_scoped_acquire acquire;
      (isParameter ? parameters : statistics)[toStr(tensor.name)] = toArray(tensor);
    });
  });
  return py::make_tuple(module, parameters, statistics);
}

void writeOnnx(const ModelRequest &model,
               const std::vector<std::pair<std::string, FloatArray>> &all, const py::object &output,
               bool inference, const std::string &ownLoss) {
  std::vector<FloatTensor> tensors;
  for (const auto &[name, array] : all)
    tensors.push_back({name, {array.shape(), array.shape() + array.ndim()}, array.data()});
  const std::string path = pathOf(output);
  withoutGil([&] { writeOnnxInitializers(model, tensors, path, inference, ownLoss); });
}

py::dict readOnnx(const py::object &source) {
  py::dict arrays;
  const std::string path = pathOf(source);
  withoutGil([&] {
    readOnnxInitializers(path, [&](const FloatTensor &tensor) {
      py::gil_scoped_acquire acquire;
      arrays[toStr(tensor.name)] = toArray(tensor);
    });
  });
  return arrays;
}

} // namespace

void addTraining(py::module_ &m) {
  m.def("training_module", &trainingModule);
  m.def("write_onnx", &writeOnnx);
  m.def("read_onnx", &readOnnx);
}

} // namespace atc::python
