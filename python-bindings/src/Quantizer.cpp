//===-- Quantizer.cpp - quantization for Python ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "python-bindings/src/Quantizer.h"

#include "quantize/Quantize.h"
#include "tools/atc/Compile.h"
#include "tools/common/OneLine.h"

namespace atc::python {

namespace {

std::vector<std::string> linesOf(const Diagnostics &diagnostics, bool errors) {
  std::vector<std::string> lines;
  for (const CodedMessage &message : diagnostics.all())
    if (message.isError == errors)
      lines.push_back(message.code + ": " + tools::oneLine(message.text));
  return lines;
}

void throwErrors(const Diagnostics &diagnostics) {
  if (diagnostics.hasErrors())
    throw Faults{linesOf(diagnostics, /*errors=*/true)};
}

/// Samples that a function brings.
class CalledSource : public quantize::DataSource {
public:
  explicit CalledSource(const QuantizationRequest &request) : request(request) {}

  std::optional<std::vector<int64_t>> shapeOf(const std::string &input, size_t index) override {
    std::vector<int64_t> shape = request.shapeOf(input, index);
    return shape.empty() ? std::nullopt : std::optional(shape);
  }
  void begin(const std::vector<::om::Tensor> &inputs, Diagnostics &) override { tensors = inputs; }
  bool next(const std::vector<::om::Buffer> &inputs, Diagnostics &) override {
    std::vector<void *> pointers;
    for (const ::om::Buffer &buffer : inputs)
      pointers.push_back(buffer.data());
    return request.next(tensors, pointers);
  }

private:
  const QuantizationRequest &request;
  std::vector<::om::Tensor> tensors;
};

} // namespace

Quantized::Quantized(std::unique_ptr<quantize::QuantizedOnnx> result) : result(std::move(result)) {}
Quantized::~Quantized() = default;

std::shared_ptr<Quantized> Quantized::make(const QuantizationRequest &request) {
  Diagnostics diagnostics;
  quantize::QuantizeOptions options;
  options.name = request.model;
  options.inputShapes = request.inputShapes;
  options.progress = [&](size_t done, size_t) { request.progress(done); };
  quantize::parseConfig(request.config, "config", options.config, diagnostics);
  throwErrors(diagnostics);
  auto model = quantize::OnnxModel::read(request.model, diagnostics);
  throwErrors(diagnostics);
  auto context = tools::makeCompilerContext();
  CalledSource source(request);
  auto result = quantize::quantizeOnnx(std::move(model), options, source, *context, diagnostics);
  throwErrors(diagnostics);
  // The float model has done its work.
  result->calibration.host.reset();
  std::shared_ptr<Quantized> quantized(new Quantized(std::move(result)));
  quantized->warningLines = linesOf(diagnostics, /*errors=*/false);
  return quantized;
}

std::string Quantized::table() const { return quantize::tableToJson(result->calibration.table); }
std::string Quantized::report() const { return quantize::reportJson(result->report); }
std::string Quantized::reportText() const { return quantize::reportText(result->report); }

void Quantized::save(const std::string &fakeQuant, const std::string &deploy,
                     const std::string &record, const std::string &html) const {
  quantize::ResultFiles files;
  files.fakeQuant = fakeQuant;
  files.deploy = deploy;
  files.record = record;
  files.reportHtml = html;
  Diagnostics diagnostics;
  quantize::writeResults(*result, files, diagnostics);
  throwErrors(diagnostics);
}

std::vector<std::string> Quantized::saveAll(const std::string &prefix) const {
  const auto files = quantize::ResultFiles::withPrefix(prefix);
  Diagnostics diagnostics;
  quantize::writeResults(*result, files, diagnostics);
  throwErrors(diagnostics);
  return {files.fakeQuant,  files.deploy,     files.record,    files.table,
          files.reportText, files.reportJson, files.reportHtml};
}

} // namespace atc::python
