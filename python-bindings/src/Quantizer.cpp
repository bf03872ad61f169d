//===-- Quantizer.cpp - quantization for Python ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "python-bindings/src/Quantizer.h"

#include "python-bindings/src/ModuleParts.h"
#include "quantize/DataFolder.h"
#include "quantize/Quantize.h"

namespace atc::python {

namespace {

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

/// Returns the used bins of a histogram.
Distribution distributionOf(const quantize::Histogram &histogram) {
  const auto [first, last] = histogram.usedBins();
  Distribution result = {histogram.binCenter(first) - histogram.binWidth() / 2,
                         histogram.binWidth(),
                         {},
                         histogram.seen().min,
                         histogram.seen().max};
  for (size_t bin = first; bin < last; ++bin)
    result.counts.push_back(histogram.binCount(bin));
  return result;
}

} // namespace

Quantized::Quantized(std::unique_ptr<quantize::Quantization> result) : result(std::move(result)) {}
Quantized::~Quantized() = default;

std::shared_ptr<Quantized> Quantized::make(const QuantizationRequest &request) {
  Diagnostics diagnostics;
  quantize::QuantizeOptions options;
  options.name = request.model;
  options.inputShapes = request.inputShapes;
  options.progress = [&](size_t done, size_t) { request.progress(done); };
  quantize::parseConfig(request.config, "config", options.config, diagnostics);
  throwErrors(diagnostics);
  if (request.chooseRange)
    options.config.chooseRange = [&](const std::string &tensor,
                                     const quantize::Histogram &histogram,
                                     Diagnostics &) -> std::optional<quantize::Interval> {
      const auto chosen = request.chooseRange(tensor, distributionOf(histogram));
      return chosen ? std::optional(quantize::Interval{chosen->first, chosen->second})
                    : std::nullopt;
    };
  std::unique_ptr<quantize::DataSource> source;
  if (request.dataFolders.empty())
    source = std::make_unique<CalledSource>(request);
  else
    source = std::make_unique<quantize::DataFolder>(request.dataFolders, /*dataType=*/"",
                                                    options.config.images);
  auto result = std::make_unique<quantize::Quantization>();
  std::shared_ptr<CompilerModule> module;
  if (request.module) {
    module = request.module->copy();
    CompilerModule::Parts &parts = module->access();
    driver::ContextMessages messages(*parts.context, diagnostics);
    if (!quantize::quantizeModule(*parts.module, options, *source, *result, diagnostics))
      messages.fail("the module cannot be quantized");
  } else if (auto model = quantize::OnnxModel::read(request.model, diagnostics)) {
    auto context = driver::makeCompilerContext();
    result = quantize::quantizeOnnx(std::move(model), options, *source, *context, diagnostics);
  }
  throwErrors(diagnostics);
  // The float model has done its work.
  result->calibration.host.reset();
  std::shared_ptr<Quantized> quantized(new Quantized(std::move(result)));
  quantized->quantizedModule = std::move(module);
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

std::string Quantized::onnx() const {
  std::string bytes;
  if (result->qdq && !result->qdq->model.proto.SerializeToString(&bytes))
    throw ErrorLines{{"E13004: the quantized model is larger than 2 GB"}};
  return bytes;
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
