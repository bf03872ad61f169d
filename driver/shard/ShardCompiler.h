//===-- ShardCompiler.h - one file per rank, and their manifest -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model that is split over ranks is imported once; each rank's part of the graph then goes
// through a Compiler of its own.

#ifndef OPENATC_DRIVER_SHARD_SHARDCOMPILER_H
#define OPENATC_DRIVER_SHARD_SHARDCOMPILER_H

#include "cluster/Cluster.h"
#include "driver/Compiler.h"
#include "support/OutputFile.h"

namespace atc::driver {

/// The split of a model over ranks. The number of ranks is the product of the three factors.
struct ShardRequest {
  int64_t tensor = 1;   ///< tp: ranks that divide weights and products
  int64_t pipeline = 1; ///< pp: stages
  int64_t data = 1;     ///< dp: ranks that divide the batch
  /// The tensors that the user divides, "name=dim", along tp; dim -1 keeps one whole.
  std::vector<std::string> tensors = {};
  /// --parallel=auto: the cluster for whose devices the axes are chosen.
  std::optional<cluster::Cluster> automatic = {};

  /// Returns the number of ranks.
  int64_t ranks() const { return tensor * pipeline * data; }
};

/// Reads --parallel ("tp:2,pp:2,dp:1" or "auto") for the cluster in the file `cluster`, which may
/// be empty without "auto". Returns nothing after an error.
std::optional<ShardRequest> readParallel(const std::string &text, const std::string &cluster,
                                         Diagnostics &diagnostics);

/// Reads --shard_tensors, a JSON object of names and dims, into the request. Returns false after an
/// error.
bool readShardTensors(const std::string &path, ShardRequest &request, Diagnostics &diagnostics);

/// Compiles one model for several ranks. Whatever fails leaves at least one error.
class ShardCompiler {
public:
  /// `diagnostics` outlives the compiler.
  ShardCompiler(CompilerOptions options, ShardRequest request, Diagnostics &diagnostics)
      : options(std::move(options)), request(std::move(request)), diagnostics(diagnostics) {}

  /// Makes `<stem>.rank<n>.om` for each rank and `<stem>.manifest`, which the caller commits with
  /// takeFiles(): all of them or none. Returns false after an error.
  bool emitFiles(const std::string &stem);
  /// Hands over the files that emitFiles() has made.
  std::vector<OutputFile> takeFiles() { return std::move(made); }

  /// Returns sums over all ranks, and the time of each rank as a stage.
  const CompileSummary &summary() const { return compileSummary; }

private:
  /// The entry of a rank in the manifest.
  struct RankFile {
    std::string file, identity;
    std::vector<std::string> inputs, outputs;
    uint64_t fileBytes = 0, weightsBytes = 0, arenaBytes = 0;
  };

  /// A division that was considered for --parallel=auto, in the order of their costs.
  struct Candidate {
    std::string parallel;
    double milliseconds; ///< of an inference, as the planner estimates it
    double bytes;        ///< per device
    std::string outcome; ///< "chosen", "next best", or why it cannot be used
  };

  bool prepare(mlir::ModuleOp module);
  bool choose(mlir::ModuleOp module);
  std::string trySplit(mlir::ModuleOp whole);
  bool split(mlir::ModuleOp module, int64_t rank);
  bool compileRank(mlir::ModuleOp whole, int64_t rank, const std::string &stem);
  bool writeManifest(const std::string &stem, mlir::ModuleOp whole);

  const CompilerOptions options;
  ShardRequest request;
  Diagnostics &diagnostics;
  CompileSummary compileSummary;
  std::vector<RankFile> files;
  std::vector<OutputFile> made; ///< without their names
  std::vector<Candidate> candidates;
};

} // namespace atc::driver

#endif // OPENATC_DRIVER_SHARD_SHARDCOMPILER_H
