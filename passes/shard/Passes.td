//===-- Passes.td - passes that divide a graph among ranks -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_SHARD_PASSES_TD
#define OPENATC_PASSES_SHARD_PASSES_TD

include "mlir/Pass/PassBase.td"

def ShardAnnotate : Pass<"shard-annotate", "::mlir::func::FuncOp"> {
  let summary = "Chooses the tensors that are divided among ranks, and their dims";
  let description = [{
    Sets `shard.dim` on constants and arguments that are divided along a dim. Tensors that
    have the attribute keep it. With `mode=weights` the weights of products are divided: by
    columns where the other operand is whole on each rank, by rows where it is divided along
    the dim that is summed over, so that a pair of products needs one all_reduce. Of a stack of
    matrices, the experts of a layer, each rank has some. Tables of
    embeddings are divided along their last dim. With `mode=batch` the arguments whose dim 0
    has the size of the first argument's are divided along it.

    ```mlir
    %w = graph.constant dense<...> : tensor<64x256xf32>
    %y = graph.matmul %x, %w : (tensor<8x64xf32>, tensor<64x256xf32>) -> tensor<8x256xf32>
    ```
    becomes
    ```mlir
    %w = graph.constant {shard.dim = 1 : i64} dense<...> : tensor<64x256xf32>
    ```
  }];
  let options = [
    Option<"count", "count", "int64_t", "2", "Number of ranks">,
    Option<"mode", "mode", "std::string", "\"weights\"", "weights or batch">,
    Option<"minElements", "min-elements", "int64_t", "4096",
           "Weights of fewer elements stay whole">,
    ListOption<"tensors", "tensors", "std::string",
               "Tensors that the user divides, name=dim; name=-1 keeps one whole">];
  let statistics = [Statistic<"numDivided", "num-divided", "Tensors divided">];
}

def ShardPropagate : Pass<"shard-propagate", "::mlir::func::FuncOp"> {
  let summary = "Finds how each tensor is divided from the tensors that have `shard.dim`";
  let description = [{
    Sets `shard.dim` on ops whose result each rank computes a share of, and `shard.partial`
    on products whose results have to be added up over the ranks. An op that cannot be
    computed in shares gets neither: its operands are made whole.
  }];
  let options = [Option<"count", "count", "int64_t", "2", "Number of ranks">];
  let statistics = [Statistic<"numShared", "num-shared", "Ops computed in shares">];
}

def ShardPartition : Pass<"shard-partition", "::mlir::func::FuncOp"> {
  let summary = "Turns a function with `shard.dim` into the program of one rank";
  let description = [{
    Constants become the rank's share, ops compute its share, and collectives are inserted
    where an op needs another division of an operand: all_gather where it needs the whole
    tensor, all_to_all where another dim is divided, all_reduce behind `shard.partial`.
    Arguments and results stay whole.

    ```mlir
    %y = graph.matmul %x, %w {shard.partial} : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
    ```
    becomes, with %x and %w divided along the dim that is summed over,
    ```mlir
    %p = graph.matmul %xs, %ws : (tensor<8x32xf32>, tensor<32x32xf32>) -> tensor<8x32xf32>
    %y = graph.all_reduce %p {kind = #graph<reduce_kind sum>, ranks = array<i64: 0, 1>} : ...
    ```
  }];
  let options = [
    ListOption<"ranks", "ranks", "int64_t", "The group, in the order of its shares">,
    Option<"index", "index", "int64_t", "0", "The position in `ranks` of the rank itself">];
  let statistics = [Statistic<"numCollectives", "num-collectives", "Collectives inserted">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def ShardLowerAxes : Pass<"shard-lower-axes", "::mlir::func::FuncOp"> {
  let summary = "Makes collectives work along dim 0, with transposes around them";
  let description = [{
    A collective along dim 0 moves contiguous memory, so that nobody but generated code
    copies elements one by one.
  }];
  let statistics = [Statistic<"numMoved", "num-moved", "Collectives changed">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def ShardSplitStages : Pass<"shard-split-stages", "::mlir::func::FuncOp"> {
  let summary = "Turns a function into one stage of a pipeline";
  let description = [{
    Divides the ops in their order into as many stages as `ranks` has ranks. The largest
    share that a stage has of the multiply-accumulates or of the bytes of weights is made
    as small as possible; among divisions that are nearly as good, the one that passes the
    fewest bytes is taken. Values pass between stages by graph.send and graph.receive;
    arguments and results that the stage has nothing to do with are removed.
  }];
  let options = [
    ListOption<"ranks", "ranks", "int64_t", "The rank of each stage">,
    Option<"index", "index", "int64_t", "0", "The stage to keep">];
  let statistics = [Statistic<"numMessages", "num-messages", "Sends and receives inserted">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

#endif // OPENATC_PASSES_SHARD_PASSES_TD
