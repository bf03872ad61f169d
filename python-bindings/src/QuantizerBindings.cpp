//===-- QuantizerBindings.cpp - openatc._compiler.Quantized ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "python-bindings/src/Arrays.h"
#include "python-bindings/src/Compiler.h"
#include "python-bindings/src/Errors.h"
#include "python-bindings/src/Initialized.h"
#include "python-bindings/src/Quantizer.h"

#include <pybind11/stl.h>

namespace py = pybind11;

OPENATC_INITIALIZED(atc::python::Quantized)

namespace atc::python {

namespace {

/// Copies one sample, a list of arrays, into the inputs' memory.
void copySample(const py::list &arrays, const std::vector<::om::Tensor> &tensors,
                const std::vector<void *> &inputs) {
  if (arrays.size() != tensors.size())
    throw ErrorLines{{"E10014: a sample has " + std::to_string(arrays.size()) +
                      " arrays, but the model has " + std::to_string(tensors.size()) + " inputs"}};
  for (size_t i = 0; i < tensors.size(); ++i) {
    py::object array = py::module_::import("numpy").attr("ascontiguousarray")(arrays[i]);
    // It makes a scalar of rank 0 one of rank 1.
    array = array.attr("reshape")(py::getattr(arrays[i], "shape", array.attr("shape")));
    View view;
    std::string errorText;
    if (!view.open(array, Port(tensors[i]), "input", false, errorText))
      throw ErrorLines{{errorText}};
    std::memcpy(inputs[i], view.data(), tensors[i].bytes);
  }
}

/// `model` is a path or a module; `folders` has the samples, or is empty:
/// `sample(names)` returns the arrays of the next sample, or None at the end;
/// `shape_of(name, index)` a shape or (); `choose_range(tensor, begin, width, counts, min, max)` a
/// range or None, unless it is None.
std::shared_ptr<Quantized> quantize(const py::object &model, const Shapes &inputShapes,
                                    const std::string &config, const std::string &folders,
                                    const py::function &shapeOf, const py::function &sample,
                                    const py::object &progress, const py::object &chooseRange) {
  QuantizationRequest request;
  if (py::isinstance<CompilerModule>(model))
    request.module = model.cast<std::shared_ptr<CompilerModule>>();
  request.model = request.module ? "module" : pathOf(model);
  request.dataFolders = folders;
  request.inputShapes = inputShapes;
  request.config = config;
  request.shapeOf = [&](const std::string &name, size_t index) {
    py::gil_scoped_acquire acquire;
    return shapeOf(toStr(name), index).cast<std::vector<int64_t>>();
  };
  request.next = [&](const std::vector<::om::Tensor> &tensors, const std::vector<void *> &inputs) {
    py::gil_scoped_acquire acquire;
    py::list names;
    for (const ::om::Tensor &tensor : tensors)
      names.append(toStr(tensor.name));
    py::object arrays = sample(names);
    if (arrays.is_none())
      return false;
    copySample(arrays, tensors, inputs);
    return true;
  };
  request.progress = [&](size_t done) {
    py::gil_scoped_acquire acquire;
    if (!progress.is_none())
      progress(done);
  };
  if (!chooseRange.is_none())
    request.chooseRange =
        [&](const std::string &tensor,
            const Distribution &distribution) -> std::optional<std::pair<double, double>> {
      py::gil_scoped_acquire acquire;
      const py::object range = chooseRange(toStr(tensor), distribution.begin, distribution.width,
                                           distribution.counts, distribution.min, distribution.max);
      if (range.is_none())
        return std::nullopt;
      return range.cast<std::pair<double, double>>();
    };
  return withoutGil([&] { return Quantized::make(request); });
}

} // namespace

void addQuantizer(py::module_ &m) {
  py::class_<Quantized, std::shared_ptr<Quantized>>(m, "Quantized")
      .def("table", [](const Quantized &result) { return toStr(result.table()); })
      .def("report", [](const Quantized &result) { return toStr(result.report()); })
      .def("report_text", [](const Quantized &result) { return toStr(result.reportText()); })
      .def("warnings", &Quantized::warnings)
      .def("module", &Quantized::module)
      .def("onnx",
           [](const Quantized &result) {
             return py::bytes(withoutGil([&] { return result.onnx(); }));
           })
      .def("save",
           [](const Quantized &result, const std::string &fakeQuant, const std::string &deploy,
              const std::string &record, const std::string &html) {
             withoutGil([&] { result.save(fakeQuant, deploy, record, html); });
           })
      .def("save_all", [](const Quantized &result, const py::object &prefix) {
        const std::string path = pathOf(prefix);
        return withoutGil([&] { return result.saveAll(path); });
      });
  m.def("quantize", &quantize);
}

} // namespace atc::python
