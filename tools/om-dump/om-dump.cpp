//===-- om-dump.cpp - shows what is inside an .om file --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the header itself instead of loading a model, so that a file for another machine can be
// printed, too. Everything is verified first, including hashes.

#include "runtime-lite/src/Signature.h"
#include "runtime-lite/src/Verify.h"
#include "support/Interruption.h"
#include "support/JsonText.h"
#include "support/OutputFile.h"
#include "tools/common/CommandLine.h"
#include "tools/common/MappedFile.h"
#include "tools/om-dump/Dump.h"
#include "tools/om-dump/ModelGraph.h"

#include <CLI/CLI.hpp>

using namespace atc;
using namespace atc::tools;
namespace fb = atc::om::fb;

namespace {

int fail(const std::string &line) {
  print(stderr, "%s\n", oneLine(line).c_str());
  return 1;
}

/// Writes the graph as the ending of `path` says. Returns the exit code.
int writeGraph(const fb::Model &model, const std::string &path) {
  auto endsWith = [&](std::string_view end) { return std::string_view(path).ends_with(end); };
  if (!endsWith(".dot") && !endsWith(".gv") && !endsWith(".onnx"))
    return fail("E10001: the file '" + path +
                "' of --graph must end in .dot or .gv (Graphviz), or in .onnx (for Netron).");
  const ModelGraph graph = collectGraph(model);
  std::string errorText;
  return writeWholeFile(path, endsWith(".onnx") ? graphAsOnnx(graph) : graphAsDot(graph), errorText)
             ? 0
             : fail(errorText);
}

int dump(const std::string &path, bool json, bool allTensors, bool disassemble,
         const std::string &graph) {
  std::string errorText;
  MappedFile file;
  if (!file.open(path, errorText))
    return fail(errorText);
  const fb::Model *model = nullptr;
  om_error error;
  om_status status = atc::rt::verifyFile(file.data(), file.size(), &model, &error);
  for (uint32_t i = 0; status == OM_OK && i < model->segments()->size(); ++i)
    status = atc::rt::verifySegment(*model, i, file.data() + model->segments()->Get(i)->offset(),
                                    &error);
  if (status != OM_OK)
    return fail("E10041: '" + path + "' cannot be loaded: " + error.message);

  if (!graph.empty())
    return writeGraph(*model, graph);
  const Dump listing(*model, atc::rt::findSignature(file.data(), *model), path, allTensors);
  if (json)
    printLines(stdout, atc::jsonText(listing.json()));
  else
    listing.show();
  if (disassemble && !json)
    printLines(stdout, listing.disassembly(file.data()));
  return 0;
}
} // namespace

int main(int argc, char **argv) {
  atc::endInOrder("om-dump");
  std::string path, graph;
  bool json = false, tensors = false, disassemble = false;
  CLI::App app("Shows what is inside an .om file, after verifying all of it: header, inputs and "
               "outputs, segments, code images and the schedule.");
  app.set_version_flag("--version", std::string("om-dump ") + om_version());
  app.add_option("model", path, "the .om file")->required();
  app.add_flag("--json", json, "print everything as one JSON object");
  app.add_flag("--tensors", tensors,
               "list every tensor with its offset and strides, and the memory of every argument");
  app.add_flag("--disassemble", disassemble, "show the instructions of all NPU programs too");
  app.add_option("--graph", graph,
                 "write the graph of launches into this file instead: .dot for Graphviz, .onnx for "
                 "Netron and other viewers of ONNX")
      ->type_name("FILE");
  app.footer("Exit code: 0 for a good file, 1 otherwise, with one coded line.");
  if (std::optional<int> code = parseCommandLine(app, "om-dump", argc, argv))
    return *code;
  return finishOutput(dump(path, json, tensors, disassemble, graph));
}
