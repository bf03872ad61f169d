// RUN: atc-opt %s --pass-pipeline="builtin.module(func.func(train-shard-parameters{ranks=2 min-elements=8}))" | FileCheck %s
// RUN: atc-opt %s --pass-pipeline="builtin.module(func.func(train-shard-parameters{ranks=2 min-elements=1}))" | FileCheck %s --check-prefix=EACH
// RUN: atc-opt %s --pass-pipeline="builtin.module(func.func(train-shard-parameters{min-elements=1}))" | FileCheck %s --check-prefix=ALONE
// RUN: atc-opt %s --pass-pipeline="builtin.module(func.func(train-shard-parameters{ranks=2 min-elements=8},train-differentiate,train-exchange-gradients{ranks=2},train-apply-optimizer{kind=adam clip-norm=1.0}))" | FileCheck %s --check-prefix=STEP
// RUN: atc-opt %s --pass-pipeline="builtin.module(func.func(train-shard-parameters{ranks=2 min-elements=8},train-differentiate,train-exchange-gradients{ranks=2},train-apply-optimizer{kind=lamb}))" | FileCheck %s --check-prefix=LAMB

// ALONE-NOT: all_gather
// ALONE-NOT: train.sharded

// An odd number of elements has a zero behind the last one. The second is gathered before the
// first product, which needs only the first. The bias is too small, and %state is no parameter.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>, %[[W:.*]]: tensor<8xf32> {om.name = "w", train.parameter, train.sharded = array<i64: 3, 5>}
// CHECK-SAME: %[[V:[a-z0-9]*]]: tensor<10xf32> {om.name = "v", train.parameter, train.sharded = array<i64: 5, 4>}
// CHECK-SAME: tensor<4xf32> {om.name = "b", train.parameter}
// CHECK-SAME: tensor<5x4xf32> {om.name = "state"}
// CHECK: %[[GATHERED:.*]] = graph.all_gather %[[W]] {axis = 0 : i64, ranks = array<i64: 0, 1>} : (tensor<8xf32>) -> tensor<16xf32>
// CHECK: %[[ELEMENTS:.*]] = graph.slice %[[GATHERED]]{{.*}} tensor<15xf32>
// CHECK: %[[WHOLE_W:.*]] = graph.reshape %[[ELEMENTS]]{{.*}} tensor<3x5xf32>
// CHECK: %[[ALL_V:.*]] = graph.all_gather %[[V]]
// CHECK: %[[WHOLE_V:.*]] = graph.reshape %[[ALL_V]]{{.*}} tensor<5x4xf32>
// CHECK: graph.matmul %[[X]], %[[WHOLE_W]]
// CHECK: graph.matmul %{{.*}}, %[[WHOLE_V]]
// CHECK: graph.neg %[[WHOLE_V]]

// EACH-COUNT-3: graph.all_gather

// The gradients of shares are summed by the backward pass, the last one first, and become means;
// only the bias's goes through an all_reduce. The norm of all gradients has the squares of all
// ranks' shares, but the bias's only once. The optimizer's state is a share, too.
// STEP-LABEL: func.func @main
// STEP-SAME: tensor<8xf32> {om.name = "w.mean"}
// STEP: graph.matmul
// STEP: %[[GV:.*]] = graph.reduce_scatter %{{.*}} -> tensor<10xf32>
// STEP: graph.mul %[[GV]]
// STEP: %[[GW:.*]] = graph.reduce_scatter %{{.*}} -> tensor<8xf32>
// STEP: graph.mul %[[GW]]
// STEP: graph.all_reduce %{{.*}} : (tensor<f32>) -> tensor<f32>

// Two norms per parameter that is shared.
// LAMB-COUNT-4: graph.all_reduce %{{.*}} {kind = #graph<reduce_kind sum>, ranks = array<i64: 0, 1>} : (tensor<f32>) -> tensor<f32>
func.func @main(%x: tensor<2x3xf32>, %w: tensor<3x5xf32> {om.name = "w", train.parameter},
                %v: tensor<5x4xf32> {om.name = "v", train.parameter},
                %b: tensor<4xf32> {om.name = "b", train.parameter},
                %state: tensor<5x4xf32> {om.name = "state"})
    -> (tensor<f32> {om.name = "loss"}) {
  %h = graph.matmul %x, %w : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %y = graph.matmul %h, %v : (tensor<2x5xf32>, tensor<5x4xf32>) -> tensor<2x4xf32>
  %n = graph.neg %v : (tensor<5x4xf32>) -> tensor<5x4xf32>
  %m = graph.mul %n, %state : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  %s = graph.reduce %m {axes = array<i64: 0>, keepdims = false, kind = #graph<reduce_kind sum>} : (tensor<5x4xf32>) -> tensor<4xf32>
  %z = graph.add %y, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %u = graph.add %z, %s : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %loss = graph.reduce %u {axes = array<i64: 0, 1>, keepdims = false, kind = #graph<reduce_kind sum>} : (tensor<2x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
