//===-- WriteResults.cpp - the files of a quantization --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/Quantize.h"

#include "support/OutputFile.h"

namespace atc::quantize {

ResultFiles ResultFiles::withPrefix(const std::string &prefix) {
  // A folder alone has no name to begin with.
  const bool isFolder = prefix.empty() || prefix.back() == '/';
  const std::string start = isFolder ? prefix : prefix + "_";
  return {start + "fake_quant_model.onnx",
          start + "deploy_model.onnx",
          start + "record.txt",
          start + "quant.json",
          start + "report.txt",
          start + "report.json",
          start + "report.html"};
}

namespace {

/// Files that appear together: none before all are written.
class Batch {
public:
  explicit Batch(Diagnostics &diagnostics) : diagnostics(diagnostics) {}

  void add(const std::string &path, const std::string &content) {
    if (path.empty())
      return;
    files.emplace_back(path);
    if (!files.back().write(content))
      fail(files.back());
  }

  bool finish() {
    if (!diagnostics.hasErrors() && !commitAll(files))
      for (const OutputFile &file : files)
        if (file.hasFailed())
          fail(file);
    return !diagnostics.hasErrors();
  }

private:
  void fail(const OutputFile &file) {
    diagnostics.error("E13004",
                      "the file \"" + file.path() + "\" cannot be written: " + file.reason());
  }
  Diagnostics &diagnostics;
  std::vector<OutputFile> files;
};

void addReport(Batch &batch, const ErrorReport &report, const Calibration *calibration,
               const ResultFiles &files) {
  if (!files.reportText.empty())
    batch.add(files.reportText, reportText(report));
  if (!files.reportJson.empty())
    batch.add(files.reportJson, reportJson(report));
  // The page reads histograms, which a model that was only converted has not.
  if (!files.reportHtml.empty())
    batch.add(files.reportHtml, reportHtml(report, calibration));
}

} // namespace

bool writeResults(const Quantization &result, const ResultFiles &files, Diagnostics &diagnostics) {
  Batch batch(diagnostics);
  auto addModel = [&](const std::string &path, const onnx::ModelProto &proto) {
    std::string bytes;
    if (!path.empty() && !proto.SerializeToString(&bytes))
      diagnostics.error("E13004", "the file \"" + path + "\" would be larger than 2 GB");
    else
      batch.add(path, bytes);
  };
  if (result.qdq && result.deploy) {
    addModel(files.fakeQuant, result.qdq->model.proto);
    addModel(files.deploy, result.deploy->proto);
  } else if (!files.fakeQuant.empty() || !files.deploy.empty()) {
    diagnostics.error("E10055", "only a model that was ONNX can be written as ONNX: compile this "
                                "one");
  }
  batch.add(files.record, tableToRecord(result.calibration.table));
  batch.add(files.table, tableToJson(result.calibration.table));
  addReport(batch, result.report, &result.calibration, files);
  return batch.finish();
}

bool writeReport(const ErrorReport &report, const ResultFiles &files, Diagnostics &diagnostics) {
  Batch batch(diagnostics);
  addReport(batch, report, /*calibration=*/nullptr, files);
  return batch.finish();
}

} // namespace atc::quantize
