//===-- ShardCompiler.cpp - one file per rank, and their manifest ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/shard/ShardCompiler.h"

#include "backends/om/PendingFile.h"
#include "dialects/graph/collectives/Collectives.h"
#include "passes/graph/Passes.h"
#include "passes/om/Schedule.h"
#include "passes/shard/Passes.h"
#include "support/OmIdentity.h"

#include "mlir/Transforms/Passes.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace atc::driver {

/// Returns the names of the arguments, or of the results, of a function.
static std::vector<std::string> namesOfPorts(func::FuncOp main, bool outputs) {
  std::vector<std::string> names;
  const unsigned count = outputs ? main.getNumResults() : main.getNumArguments();
  for (unsigned i = 0; i < count; ++i) {
    auto name = outputs ? main.getResultAttrOfType<StringAttr>(i, om::kNameAttr)
                        : main.getArgAttrOfType<StringAttr>(i, om::kNameAttr);
    names.push_back(name ? name.str() : (outputs ? "output" : "input") + std::to_string(i));
  }
  return names;
}

/// Counts collectives of whole groups, or messages between two ranks.
static size_t countCollectives(func::FuncOp main, bool messages) {
  size_t count = 0;
  main.walk([&](Operation *op) {
    count += graph::isCollective(op) && isa<graph::SendOp, graph::ReceiveOp>(op) == messages;
  });
  return count;
}

/// Folds what the model computes from constants, so that weights are constants.
bool ShardCompiler::prepare(ModuleOp module) {
  func::FuncOp main = om::findMain(module);
  if (!main || main.isExternal()) {
    diagnostics.error("E16004", "the model has no graph");
    return false;
  }
  const std::vector<std::string> names = namesOfPorts(main, /*outputs=*/false);
  for (auto [type, name] : llvm::zip_equal(main.getArgumentTypes(), names))
    if (auto tensor = dyn_cast<RankedTensorType>(type); !tensor || !tensor.hasStaticShape())
      diagnostics.error("E10061", "input '" + name +
                                      "' has a shape that is not known, but a model that is split "
                                      "over ranks (--parallel) needs every dim: give its shape "
                                      "with --input_shape");
  if (diagnostics.hasErrors())
    return false;
  PassManager pm(module.getContext());
  pm.addNestedPass<func::FuncOp>(graph::createGraphInferShapes());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(graph::createGraphFoldConstants());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(graph::createGraphCse());
  return succeeded(pm.run(module));
}

/// Runs the passes of one axis. Returns false after an error, also where they change nothing.
static bool runAxis(ModuleOp module, StringRef axis, int64_t count,
                    llvm::function_ref<void(OpPassManager &)> build, Diagnostics &diagnostics) {
  if (count == 1)
    return true;
  func::FuncOp main = om::findMain(module);
  const bool isPipeline = axis == "pp";
  const size_t before = countCollectives(main, isPipeline);
  PassManager pm(module.getContext());
  build(pm.nest<func::FuncOp>());
  if (failed(pm.run(module)))
    return false;
  if (countCollectives(main, isPipeline) > before)
    return true;
  const std::string number = std::to_string(count);
  diagnostics.error("E10061",
                    axis.str() + ":" + number + " of --parallel divides nothing of the model: " +
                        (isPipeline     ? "it has too few ops for " + number + " stages"
                         : axis == "dp" ? "no batch of an input is a multiple of " + number
                                        : "no weight of 4096 elements or more has a dim that is a "
                                          "multiple of " +
                                              number));
  return false;
}

/// Turns the whole model into the program of one rank. tp is the innermost axis: ranks of one tp
/// group are neighbours, which exchange the most.
bool ShardCompiler::split(ModuleOp module, int64_t rank) {
  const int64_t tp = request.tensor, pp = request.pipeline, dp = request.data;
  const int64_t t = rank % tp, p = rank / tp % pp, d = rank / tp / pp;
  auto group = [&](int64_t count, int64_t first, int64_t step) {
    SmallVector<int64_t> ranks;
    for (int64_t i = 0; i < count; ++i)
      ranks.push_back(first + i * step);
    return ranks;
  };
  auto addPartition = [&](OpPassManager &pm, StringRef mode, ArrayRef<int64_t> ranks,
                          int64_t index) {
    shard::ShardAnnotateOptions annotate;
    annotate.count = ranks.size();
    annotate.mode = mode.str();
    if (mode == "weights")
      annotate.tensors.assign(request.tensors.begin(), request.tensors.end());
    shard::ShardPropagateOptions propagate;
    propagate.count = ranks.size();
    shard::ShardPartitionOptions partition;
    partition.ranks.assign(ranks.begin(), ranks.end());
    partition.index = index;
    pm.addPass(shard::createShardAnnotate(annotate));
    pm.addPass(shard::createShardPropagate(propagate));
    pm.addPass(shard::createShardPartition(partition));
  };
  const bool done =
      runAxis(
          module, "dp", dp,
          [&](OpPassManager &pm) { addPartition(pm, "batch", group(dp, p * tp + t, pp * tp), d); },
          diagnostics) &&
      runAxis(
          module, "pp", pp,
          [&](OpPassManager &pm) {
            shard::ShardSplitStagesOptions stages;
            const SmallVector<int64_t> ranks = group(pp, d * pp * tp + t, tp);
            stages.ranks.assign(ranks.begin(), ranks.end());
            stages.index = p;
            pm.addPass(shard::createShardSplitStages(stages));
          },
          diagnostics) &&
      runAxis(
          module, "tp", tp,
          [&](OpPassManager &pm) {
            addPartition(pm, "weights", group(tp, (d * pp + p) * tp, 1), t);
          },
          diagnostics);
  if (!done)
    return false;
  PassManager pm(module.getContext());
  pm.addNestedPass<func::FuncOp>(shard::createShardLowerAxes());
  if (failed(pm.run(module)))
    return false;
  Builder builder(module.getContext());
  module->setAttr(graph::kRankAttr, builder.getI64IntegerAttr(rank));
  module->setAttr(graph::kRankCountAttr, builder.getI64IntegerAttr(request.ranks()));
  return true;
}

bool ShardCompiler::compileRank(ModuleOp whole, int64_t rank, const std::string &stem) {
  const std::string name = "rank" + std::to_string(rank);
  auto context = makeCompilerContext();
  OwningOpRef<ModuleOp> module = copyModule(whole, *context);
  if (!module) {
    diagnostics.error("E19999", "the model could not be copied for " + name);
    return false;
  }
  CompilerOptions own = options;
  // The whole model has them.
  own.quantizer = nullptr;
  own.aippFile.clear();
  if (!own.tempDir.empty())
    own.tempDir += "/" + name;
  Diagnostics messages;
  const std::string path = stem + "." + name + ".om";
  Compiler compiler(*context, std::move(own), messages);
  bool done = split(*module, rank);
  RankFile &file = files.emplace_back();
  if (done) {
    func::FuncOp main = om::findMain(*module);
    file.file = llvm::sys::path::filename(path).str();
    file.inputs = namesOfPorts(main, /*outputs=*/false);
    file.outputs = namesOfPorts(main, /*outputs=*/true);
    compiler.setModule(std::move(module));
    om::PendingFile pending(path);
    if ((done = compiler.emit(pending))) {
      OutputFile &written = made.emplace_back(pending.take());
      file.identity = omIdentity(written.descriptorPath());
    }
  }
  for (const CodedMessage &message : messages.all()) {
    CodedMessage own = message;
    if (message.isError)
      own.text = name + ": " + message.text;
    diagnostics.add(own);
  }
  if (!done && !diagnostics.hasErrors())
    diagnostics.error("E19999", name + " could not be compiled");
  const CompileSummary &part = compiler.summary();
  file.fileBytes = part.fileBytes;
  file.weightsBytes = part.weightsBytes;
  file.arenaBytes = part.arenaBytes;
  compileSummary.fileBytes += part.fileBytes;
  compileSummary.weightsBytes += part.weightsBytes;
  compileSummary.arenaBytes += part.arenaBytes;
  compileSummary.arenaLowerBound += part.arenaLowerBound;
  compileSummary.intermediateBytes += part.intermediateBytes;
  compileSummary.launches += part.launches;
  compileSummary.kernels += part.kernels;
  return done;
}

bool ShardCompiler::writeManifest(const std::string &stem, ModuleOp whole) {
  using llvm::json::Array;
  using llvm::json::Object;
  Array ranks;
  for (auto [rank, file] : llvm::enumerate(files)) {
    const int64_t tp = request.tensor, pp = request.pipeline, own = rank;
    ranks.push_back(Object{{"rank", own},
                           {"file", file.file},
                           {"identity", file.identity},
                           {"tp", own % tp},
                           {"pp", own / tp % pp},
                           {"dp", own / tp / pp},
                           {"inputs", Array(file.inputs)},
                           {"outputs", Array(file.outputs)},
                           {"file_bytes", file.fileBytes},
                           {"weights_bytes", file.weightsBytes},
                           {"arena_bytes", file.arenaBytes}});
  }
  func::FuncOp main = om::findMain(whole);
  Array outputs;
  for (const std::string &name : namesOfPorts(main, /*outputs=*/true)) {
    int64_t owner = 0;
    while (owner + 1 < int64_t(files.size()) && !llvm::is_contained(files[owner].outputs, name))
      ++owner;
    outputs.push_back(Object{{"name", name}, {"rank", owner}});
  }
  Object manifest{
      {"format", "openatc-ranks"},
      {"version", 1},
      {"model", llvm::sys::path::stem(options.source.path)},
      {"parallel", Object{{"tp", request.tensor}, {"pp", request.pipeline}, {"dp", request.data}}},
      {"inputs", Array(namesOfPorts(main, /*outputs=*/false))},
      {"outputs", std::move(outputs)},
      {"ranks", std::move(ranks)}};
  if (request.automatic) {
    Array plans;
    for (const Candidate &candidate : candidates)
      plans.push_back(Object{{"parallel", candidate.parallel},
                             {"milliseconds", candidate.milliseconds},
                             {"device_bytes", candidate.bytes},
                             {"outcome", candidate.outcome}});
    manifest["plans"] = std::move(plans);
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::formatv("{0:2}", llvm::json::Value(std::move(manifest))) << "\n";
  const std::string path = stem + ".manifest";
  OutputFile file(path);
  if (file.write(text)) {
    made.push_back(std::move(file));
    return true;
  }
  diagnostics.error("E13004", "the file \"" + path + "\" cannot be written: " + file.reason());
  return false;
}

bool ShardCompiler::emitFiles(const std::string &stem) {
  compileSummary.timer.begin("import");
  auto context = makeCompilerContext();
  Compiler importer(*context, options, diagnostics);
  if (!importer.lower(Phase::Quantize) || !prepare(importer.module())) {
    if (!diagnostics.hasErrors())
      diagnostics.error("E19999", "the model could not be prepared for several ranks");
    return false;
  }
  if (request.automatic && !choose(importer.module()))
    return false;
  for (int64_t rank = 0; rank < request.ranks(); ++rank) {
    compileSummary.timer.begin("rank" + std::to_string(rank));
    if (!compileRank(importer.module(), rank, stem))
      return false;
  }
  compileSummary.timer.begin("manifest");
  const bool done = writeManifest(stem, importer.module());
  compileSummary.timer.end();
  return done;
}

} // namespace atc::driver
