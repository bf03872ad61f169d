// RUN: atc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer{kind=adam},train-offload))' | FileCheck %s
// RUN: atc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer{kind=sgd},train-offload))' | FileCheck %s --check-prefix=PLAIN
// RUN: atc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(train-offload))' | FileCheck %s --check-prefix=NONE

// The update of each parameter, and what all updates share; neither the forward pass nor what updates running statistics.
// CHECK: graph.host_nodes = ["update", "v.update", "w.update"]
// CHECK-NOT: forward
// CHECK-SAME: train.states
// CHECK: graph.exp {{.*}}

// Without momentum the only state is the number of updates.
// PLAIN: graph.host_nodes = ["update"]

// NONE-NOT: graph.host_nodes
// NONE: graph.host_nodes = ["other"]
// NONE-NOT: graph.host_nodes
func.func @main(%w: tensor<2xf32> {om.name = "w", train.parameter},
                %v: tensor<2xf32> {om.name = "v", train.parameter},
                %m: tensor<2xf32> {om.name = "mean", train.statistic = "mean.next"})
    -> (tensor<f32> {om.name = "loss"}, tensor<2xf32> {om.name = "mean.next"}) {
  %e = graph.exp %w : (tensor<2xf32>) -> tensor<2xf32> loc("forward")
  %p = graph.mul %e, %v : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("forward")
  %s = graph.add %p, %m : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("forward")
  %l = graph.reduce %s {kind = #graph<reduce_kind sum>, axes = array<i64: 0>, keepdims = false} : (tensor<2xf32>) -> tensor<f32>
  return %l, %s : tensor<f32>, tensor<2xf32>
}

// -----

// What a list has already stays in it, and f32 is asked for where a list says what has it.
// CHECK: graph.float32_nodes = ["first", "update", "w.update"], graph.host_nodes = ["other", "update", "w.update"]
module attributes {graph.host_nodes = ["other"], graph.float32_nodes = ["first"]} {
  func.func @main(%w: tensor<f32> {om.name = "w", train.parameter}) -> (tensor<f32> {om.name = "loss"}) {
    %e = graph.exp %w : (tensor<f32>) -> tensor<f32>
    return %e : tensor<f32>
  }
}
