//===-- CompareDynamic.cpp - layers of models with dynamic schedules ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/LayerTrace.h"
#include "support/RunErrors.h"
#include "tools/om-run/Compare.h"

#include <algorithm>

namespace atc::tools {

Comparison compareDynamic(const Reference &reference, std::optional<double> tolerance,
                          const om::Model &model, om::Session &session,
                          const std::vector<om::Value> &inputs) {
  Comparison comparison;
  comparison.tolerance = tolerance;
  LayerTrace trace(model, session, [&](const std::string &name) { return reference.dimsOf(name); });
  om::Error error;
  trace.run(inputs, error);
  if (error) {
    const bool isArgument = error.code() == OM_ERROR_ARGUMENT;
    comparison.errorLines.push_back(
        codedLine(codeOf(error.code(), isArgument ? ErrorCode("E10014") : ErrorCode("E19999")),
                  error.message()));
    return comparison;
  }
  comparison.unknown = trace.unknown;
  double allowed = 1e-4;
  for (const LayerResult &layer : trace.results) {
    // A tensor has the errors of those before it, too.
    allowed = std::max(
        {allowed, toleranceOf(layer.tensor.dtype), layer.npu ? reference.toleranceOnNpu() : 0.0});
    const size_t lines = comparison.errorLines.size();
    compareTensor(comparison, reference, layer.tensor, layer.data.data(),
                  {layer.tensor.name, layer.kernel, layer.launch, 0, 0, 1, allowed});
    // Inside the model the reference may have another type than the one computed with.
    if (layer.launch != model.info().launches && comparison.errorLines.size() > lines) {
      comparison.errorLines.resize(lines);
      ++comparison.unknown;
    }
  }
  comparison.checkAnyFound();
  return comparison;
}

} // namespace atc::tools
