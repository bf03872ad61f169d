// RUN: atc-opt %s --pass-pipeline="builtin.module(func.func(train-exchange-gradients{ranks=4 bucket-bytes=32}))" | FileCheck %s
// RUN: atc-opt %s --pass-pipeline="builtin.module(func.func(train-exchange-gradients{ranks=4 mean=false compress=bf16}))" | FileCheck %s --check-prefix=NARROW
// RUN: atc-opt %s --pass-pipeline="builtin.module(func.func(train-exchange-gradients{ranks=2 compress=int8}))" | FileCheck %s --check-prefix=BYTES
// RUN: atc-opt %s --pass-pipeline="builtin.module(func.func(train-exchange-gradients{ranks=2 compress=topk ratio=0.2}))" | FileCheck %s --check-prefix=LARGEST
// RUN: not atc-opt %s --pass-pipeline="builtin.module(func.func(train-exchange-gradients{ranks=2 compress=topk ratio=1.5}))" 2>&1 | FileCheck %s --check-prefix=RATIO
// RUN: not atc-opt %s --pass-pipeline="builtin.module(func.func(train-exchange-gradients{ranks=2 compress=int8 ratio=0.1}))" 2>&1 | FileCheck %s --check-prefix=NORATIO
// RUN: atc-opt %s --pass-pipeline="builtin.module(func.func(train-exchange-gradients))" | FileCheck %s --check-prefix=ALONE
// RUN: not atc-opt %s --pass-pipeline="builtin.module(func.func(train-exchange-gradients{ranks=2 compress=zip}))" 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: E15006: compress is 'zip', which is none of the compressions of gradients: f16, bf16, int8, topk
// RATIO: E15006: the ratio of compress is 1.5{{.*}}, expected more than 0 and at most 1
// NORATIO: E15006: compress 'int8' has no ratio, which is for topk

// ALONE-NOT: all_reduce
// ALONE-NOT: graph.rank

// CHECK: module attributes {graph.rank = 0 : i64, graph.ranks = 4 : i64}
// CHECK-LABEL: func.func @main
// The loss and the statistic are arguments here: they are exchanged first.
// CHECK-COUNT-2: graph.all_reduce
// The gradient that is computed first is large enough for a bucket of its own, which is exchanged
// before the others are computed.
// CHECK: %[[B:.*]] = graph.neg %{{.*}} : (tensor<8xf32>)
// CHECK: %[[QUARTER:.*]] = graph.constant dense<2.500000e-01>
// CHECK: %[[SHARE:.*]] = graph.mul %[[B]], %[[QUARTER]]
// CHECK: %[[ALL:.*]] = graph.all_reduce %[[SHARE]] {kind = #graph<reduce_kind sum>, ranks = array<i64: 0, 1, 2, 3>}
// Small ones are one message.
// CHECK: %[[A:.*]] = graph.neg %{{.*}} : (tensor<2x2xf32>)
// CHECK: %[[C:.*]] = graph.neg %{{.*}} : (tensor<3xf32>)
// CHECK: %[[FLAT:.*]] = graph.reshape %[[A]]
// CHECK: %[[JOINED:.*]] = graph.concat %[[FLAT]], %[[C]]
// CHECK: %[[SHARES:.*]] = graph.mul %[[JOINED]]
// CHECK: %[[SUMS:.*]] = graph.all_reduce %[[SHARES]]{{.*}} tensor<7xf32>
// CHECK: %[[SUM_A:.*]] = graph.slice %[[SUMS]]
// CHECK: %[[GRAD_A:.*]] = graph.reshape %[[SUM_A]]
// CHECK: %[[GRAD_C:.*]] = graph.slice %[[SUMS]]
// CHECK: return %{{.*}}, %{{.*}}, %[[GRAD_A]], %[[ALL]], %[[GRAD_C]]

// What rounding leaves is a state, which is added in the next run.
// BYTES-LABEL: func.func @main
// BYTES-SAME: %[[LEFT:[a-z0-9]*]]: tensor<15xf32> {om.name = "train.error0", train.statistic = "train.error0.next"}
// BYTES: graph.add %{{.*}}, %[[LEFT]]
// BYTES: graph.cast %{{.*}} -> tensor<1x15xi8>
// BYTES: graph.all_gather %{{.*}} (tensor<1x15xi8>) -> tensor<2x15xi8>
// BYTES: graph.all_gather %{{.*}} (tensor<1x1xf32>) -> tensor<2x1xf32>

// Each rank sends 3 of 15 elements, with their positions. What it has not sent is a state.
// LARGEST-LABEL: func.func @main
// LARGEST-SAME: %[[LEFT:[a-z0-9]*]]: tensor<15xf32> {om.name = "train.error0", train.statistic = "train.error0.next"}
// LARGEST: %[[OWN:.*]] = graph.add %{{.*}}, %[[LEFT]]
// LARGEST: %[[TOP:.*]]:2 = graph.host_call "TopK"{{.*}} -> (tensor<3xf32>, tensor<3xi64>)
// LARGEST: %[[VALUES:.*]] = graph.gather %[[OWN]], %[[TOP]]#1
// LARGEST: %[[SENT:.*]] = graph.scatter_add %[[TOP]]#1
// LARGEST: graph.all_gather %{{.*}} (tensor<1x3xi32>) -> tensor<2x3xi32>
// LARGEST: graph.all_gather %{{.*}} (tensor<1x3xf32>) -> tensor<2x3xf32>
// LARGEST: graph.scatter_add %{{.*}} : (tensor<6xi64>, tensor<1x6x1xf32>) -> tensor<1x15x1xf32>

// NARROW-LABEL: func.func @main
// NARROW: graph.cast %{{.*}} -> tensor<15xbf16>
// NARROW: graph.all_reduce %{{.*}} (tensor<15xbf16>)
// NARROW: graph.cast %{{.*}} -> tensor<15xf32>
func.func @main(%x: tensor<f32>,
                %a: tensor<2x2xf32> {om.name = "a", train.parameter},
                %b: tensor<8xf32> {om.name = "b", train.parameter},
                %c: tensor<3xf32> {om.name = "c", train.parameter},
                %m: tensor<3xf32> {om.name = "m", train.statistic = "m.next"})
    -> (tensor<f32> {om.name = "loss"}, tensor<3xf32> {om.name = "m.next"},
        tensor<2x2xf32> {om.name = "a.grad"}, tensor<8xf32> {om.name = "b.grad"},
        tensor<3xf32> {om.name = "c.grad"}) {
  %gb = graph.neg %b : (tensor<8xf32>) -> tensor<8xf32>
  %ga = graph.neg %a : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %gc = graph.neg %c : (tensor<3xf32>) -> tensor<3xf32>
  return %x, %m, %ga, %gb, %gc : tensor<f32>, tensor<3xf32>, tensor<2x2xf32>, tensor<8xf32>, tensor<3xf32>
}
