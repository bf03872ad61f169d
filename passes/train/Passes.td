//===-- Passes.td - passes that make training steps -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_TRAIN_PASSES_TD
#define OPENATC_PASSES_TRAIN_PASSES_TD

include "mlir/Pass/PassBase.td"

// In the order in which they run.

class TrainPass<string name> : Pass<name, "::mlir::func::FuncOp"> {
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def TrainAddLoss : TrainPass<"train-add-loss"> {
  let summary = "Compute the loss of a model's output as result 0";
  let description = [{
    Adds an input with the targets, unless the loss is the output itself (`kind=output`), and the
    loss, a tensor of one element, in front of the other results.

    | kind | targets | per element |
    |---|---|---|
    | `softmax_cross_entropy` | i64 classes, the output's shape without `axis` | -log_softmax(output)[class] |
    | `mse` | as the output | (output - target)^2 |
    | `l1` | as the output | abs(output - target) |
    | `bce` | as the output, 0 to 1 | cross entropy of probabilities |
    | `bce_logits` | as the output, 0 to 1 | cross entropy of sigmoid(output) |
    | `output` | none | the output, whatever computes it |

    ```mlir
    func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32>
    // becomes with kind=mse
    func.func @main(%x: tensor<2x3xf32>, %target: tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
    ```
  }];
  let options = [
    Option<"kind", "kind", "std::string", "\"softmax_cross_entropy\"", "The loss">,
    Option<"output", "output", "std::string", "\"\"", "Name of the output; empty: the first one">,
    Option<"target", "target", "std::string", "\"target\"", "Name of the input with the targets">,
    Option<"reduction", "reduction", "std::string", "\"mean\"", "mean or sum">,
    Option<"axis", "axis", "int64_t", "1", "The dim of the classes; negative: from the end">,
    Option<"smoothing", "smoothing", "double", "0.0", "Label smoothing of softmax_cross_entropy">,
    Option<"ignoreIndex", "ignore-index", "int64_t", "-100",
           "The class of samples that do not count">];
}

def TrainExpandDropout : TrainPass<"train-expand-dropout"> {
  let summary = "Compute dropouts in training mode by masks from counters";
  let description = [{
    Calls of the host kernel Dropout in training mode become a mask and a selection,
    which have gradients: the backward pass reads the same mask. An element is kept where
    a hash of its position and of a key is at least ratio x 2^32; the key is a hash of the
    node's number and of the state `train.random`, a vector of the seed, the rank and the
    number of runs, the last of which counts. So a run with the same state has the same
    masks, on any number of threads and any target.

    ```mlir
    %y = graph.host_call "Dropout"(%x, %ratio, %true) {} : ...
    // becomes
    %keep = graph.compare %hash, %threshold {predicate = #graph.compare_predicate<ge>} : ...
    %scaled = graph.mul %x, %inverse : ...
    %y = graph.where %keep, %scaled, %zero : ...
    ```
  }];
  let options = [Option<"drop", "drop", "bool", "true",
                        "Whether elements are dropped; otherwise all dropouts pass their input on">];
  let statistics = [Statistic<"numExpanded", "num-expanded", "Number of dropouts">];
}

def TrainExpandRecurrent : TrainPass<"train-expand-recurrent"> {
  let summary = "Compute LSTM, GRU and RNN layers step by step";
  let description = [{
    Calls of the host kernels LSTM, GRU and RNN with static shapes, their default activations,
    and up to 512 steps become graph ops, which have gradients: one product for the inputs of
    all steps, and per step a product of the state and the functions of the gates. Calls with
    lengths per sequence, peepholes, clipping or batch-first layout stay.

    ```mlir
    %y:2 = graph.host_call "RNN"(%x, %w, %r) {} : ...
    // becomes per step
    %p = graph.matmul %h, %rt : ...
    %s = graph.add %xt, %p : ...
    %next = graph.tanh %s : ...
    ```
  }];
  let statistics = [Statistic<"numExpanded", "num-expanded", "Number of layers">];
}

def TrainDifferentiate : TrainPass<"train-differentiate"> {
  let summary = "Append the gradients of result 0 as results";
  let description = [{
    Reverse-mode differentiation. Result 0 is the loss, a float tensor of one element; the gradient
    of every argument with the unit attribute `train.parameter` is appended to the results, in the
    order of the arguments, as `<name>.grad`. Gradients consist of graph ops. All nodes on the way
    from a parameter to the loss that have no gradient are one error.

    ```mlir
    func.func @main(%w: tensor<3xf32> {train.parameter}) -> tensor<f32> {
      %0 = graph.reduce %w {axes = array<i64: 0>, keepdims = false, kind = #graph.reduce_kind<sum_square>} : ...
      return %0 : tensor<f32>
    }
    // becomes
      %1 = graph.mul %w, %two : ...
      return %0, %1 : tensor<f32>, tensor<3xf32>
    ```
  }];
  let options = [
    Option<"scale", "scale", "std::string", "\"\"",
           "Name of an argument of one element that multiplies all gradients; empty: none">];
  let statistics = [
    Statistic<"numOps", "num-ops", "Number of ops that were differentiated">];
}

def TrainRecompute : TrainPass<"train-recompute"> {
  let summary = "Compute cheap activations again where the backward pass reads them";
  let description = [{
    Behind train-differentiate. What the backward pass reads of the forward pass is in memory until
    then. Elementwise functions and moves of one value, its root, are computed again in front of
    their first reader, where the backward pass reads the root too, or where they have more bytes
    than it has: so of a convolution, its norm and its activation only the convolution's result is
    kept. Products, convolutions and reductions are never computed again.

    ```mlir
    %p = graph.matmul %x, %w : ...
    %t = graph.tanh %p : ...
    %s = graph.sigmoid %t : ...
    ... // the backward pass reads %t and %s
    // becomes
    ...
    %t2 = graph.tanh %p {train.recomputed} : ...
    %s2 = graph.sigmoid %t2 {train.recomputed} : ...
    ```
  }];
  let statistics = [Statistic<"numRecomputed", "num-recomputed", "Number of ops that are copied">];
}

def TrainExpandGradient : TrainPass<"train-expand-gradient"> {
  let summary = "Replace graph.gradient by the gradient of the ops before it";
  let description = [{
    For Gradient of `ai.onnx.preview.training`, right behind the importer. The ops between the
    variables and the target are differentiated as train-differentiate does, with ones as the
    gradient of the target; where the op evaluates the function at other values than the
    variables', these ops are cloned.

    ```mlir
    %y = graph.mul %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %g = graph.gradient %y of %x at %x : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    // becomes
    %0 = graph.mul %ones, %x : ...
    %g = graph.add %0, %0 : ...
    ```
  }];
}

def TrainShardParameters : TrainPass<"train-shard-parameters"> {
  let summary = "Let each rank hold a share of the parameters and of their optimizer state";
  let description = [{
    In front of train-differentiate, for data-parallel training (ZeRO, fully sharded). A parameter
    becomes an argument with 1 / ranks of its elements, with zeros behind the last ones, and the
    attribute `train.sharded`, its shape. An `all_gather` in front of the first op that reads the
    parameter before makes it whole. So its gradient is a `reduce_scatter`, and the optimizer's
    state has the size of the share. Parameters of few elements stay whole on each rank.

    ```mlir
      func.func @main(%w: tensor<3x5xf32> {train.parameter}, ...) {
        %y = graph.matmul %x, %w : ...
    // becomes with ranks=2
      func.func @main(%w: tensor<8xf32> {train.parameter, train.sharded = array<i64: 3, 5>}, ...) {
        %all = graph.all_gather %w {axis = 0 : i64, ranks = array<i64: 0, 1>}
            : (tensor<8xf32>) -> tensor<16xf32>
        %elements = graph.slice %all ...
        %whole = graph.reshape %elements : (tensor<15xf32>) -> tensor<3x5xf32>
        %y = graph.matmul %x, %whole : ...
    ```
  }];
  let options = [
    Option<"ranks", "ranks", "int64_t", "1", "Number of ranks; 1: nothing changes">,
    Option<"minElements", "min-elements", "int64_t", "4096",
           "Parameters with fewer elements stay whole">];
  let statistics = [
    Statistic<"numSharded", "num-sharded", "Number of parameters that ranks share">];
}

def TrainExchangeGradients : TrainPass<"train-exchange-gradients"> {
  let summary = "Combine gradients, loss and running statistics of all ranks";
  let description = [{
    Behind train-differentiate, for data-parallel training: every rank runs the step on its own part
    of the batch. Gradients become their mean (or sum) over the ranks. They are exchanged in buckets,
    each by an `all_reduce` right behind the op that computes its last gradient, while the gradients
    of earlier layers are computed. The loss and running statistics are exchanged, too. The program
    is that of every rank; the module becomes that of rank 0 of `ranks`.

    ```mlir
      return %loss, %g : tensor<f32>, tensor<3xf32>
    // becomes with ranks=2
      %h = graph.mul %g, %half : ...
      %all = graph.all_reduce %h {kind = #graph<reduce_kind sum>, ranks = array<i64: 0, 1>} : ...
    ```
  }];
  let options = [
    Option<"ranks", "ranks", "int64_t", "1", "Number of ranks; 1: nothing is exchanged">,
    Option<"mean", "mean", "bool", "true", "Whether the loss is the mean of those of the ranks">,
    Option<"compress", "compress", "std::string", "\"\"",
           "How gradients are sent: in f16, bf16 or int8; topk, the largest elements with their "
           "positions; or empty, as they are">,
    Option<"ratio", "ratio", "double", "0.01", "The share of the elements that topk sends">,
    Option<"bucketBytes", "bucket-bytes", "int64_t", "1048576",
           "Gradients are exchanged together until they have that many bytes">];
  let statistics = [
    Statistic<"numExchanges", "num-exchanges", "Number of all_reduces that were added">];
}

def TrainApplyOptimizer : TrainPass<"train-apply-optimizer"> {
  let summary = "Replace gradients by the next values of parameters and optimizer state";
  let description = [{
    Behind train-differentiate. Adds the argument `learning_rate` and arguments for the optimizer's
    state, which is zero at first; the gradients become results with the next values. The pairs of
    arguments and results are the attribute `train.states` of the module, which becomes the state of
    the `.om` file. With `rate` there is no argument `learning_rate`: the step computes it of the
    number of updates, by `schedule`.
  }];
  let options = [
    Option<"kind", "kind", "std::string", "\"sgd\"",
           "sgd, adam, adamw, lamb, lars or adagrad">,
    Option<"momentum", "momentum", "double", "0.0", "of sgd and lars">,
    Option<"dampening", "dampening", "double", "0.0", "of sgd">,
    Option<"nesterov", "nesterov", "bool", "false", "of sgd">,
    Option<"beta1", "beta1", "double", "0.9", "of adam, adamw and lamb">,
    Option<"beta2", "beta2", "double", "0.999", "of adam, adamw and lamb">,
    Option<"epsilon", "epsilon", "double", "1e-8", "Added to denominators">,
    Option<"weightDecay", "weight-decay", "double", "0.0",
           "A gradient's share of its parameter; adamw and lamb decay the parameter itself">,
    ListOption<"noDecay", "no-decay", "std::string",
           "Parameters without decay: names with at most one '*'">,
    ListOption<"groups", "groups", "std::string",
               "Parameters with settings of their own, rate:decay:name with at most one '*' in the "
               "name: a factor of the learning rate, and a weight decay or nothing">,
    ListOption<"zeroRows", "zero-rows", "std::string",
               "Rows of parameters whose gradient is zero, row:name: those of padding in tables of "
               "embeddings">,
    Option<"trust", "trust", "double", "0.001", "The trust coefficient of lars">,
    Option<"lrDecay", "lr-decay", "double", "0.0", "of adagrad">,
    Option<"clipNorm", "clip-norm", "double", "0.0",
           "Bound of the norm of all gradients together; 0: none">,
    Option<"clipValue", "clip-value", "double", "0.0",
           "Bound of the absolute value of each gradient element; 0: none">,
    Option<"accumulate", "accumulate", "int64_t", "1",
           "Runs whose mean gradient makes one update">,
    Option<"lossScale", "loss-scale", "double", "0.0",
           "Gradients are multiplied by it and divided later; 0: not scaled">,
    Option<"growthInterval", "growth-interval", "int64_t", "0",
           "Runs without overflow until the loss scale doubles; 0: it is constant">,
    Option<"rate", "rate", "double", "0.0",
           "The highest learning rate; 0: the learning rate is an argument">,
    Option<"schedule", "schedule", "std::string", "\"constant\"",
           "constant, linear, cosine or steps: how the learning rate changes with updates">,
    Option<"warmup", "warmup", "int64_t", "0", "Updates in which the learning rate rises to `rate`">,
    Option<"steps", "steps", "int64_t", "0", "The update at which linear and cosine end">,
    Option<"final", "final", "double", "0.0", "The learning rate at that end">,
    ListOption<"milestones", "milestones", "int64_t", "The updates at which steps multiplies by `factor`">,
    Option<"factor", "factor", "double", "0.1", "of steps">];
}

def TrainOffload : TrainPass<"train-offload"> {
  let summary = "Let the host keep the optimizer's state and make the update";
  let description = [{
    Behind train-apply-optimizer, for models on an NPU: the nodes that compute with the state of
    the optimizer are placed on the CPU (`graph.host_nodes`). So moments, which are twice the
    parameters, are never in the memory of the device; gradients go to the host and parameters
    come back. Running statistics, the loss scale and the state of dropouts, which the forward
    pass reads, stay where they are.

    ```mlir
    module attributes {train.states = [["w", "w.next"], ["w.mean", "w.mean.next"]]}
    // becomes
    module attributes {graph.host_nodes = ["update", "w.update"], train.states = ...}
    ```
  }];
  let statistics = [
    Statistic<"numStates", "num-states", "Number of states that the host keeps">];
}

def TrainLowerConvolutions : TrainPass<"train-lower-convolutions"> {
  let summary = "Compute convolutions by computed filters as matrix products";
  let description = [{
    Kernels of convolutions read packed constant weights. A convolution, transposed convolution or
    fully_connected whose filter is computed becomes slices and a matmul; a depthwise one
    products and sums, which elementwise fusion turns into one kernel. Kernels of pools have two
    spatial dims: a pool over more becomes the maximum or the mean of slices.
  }];
  let statistics = [
    Statistic<"numLowered", "num-lowered", "Number of convolutions that became matrix products">];
}

#endif // OPENATC_PASSES_TRAIN_PASSES_TD
