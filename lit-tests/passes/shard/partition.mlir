// RUN: atc-opt %s --shard-annotate="count=2 min-elements=16" | FileCheck %s --check-prefix=ANNOTATE
// RUN: atc-opt %s --shard-annotate="count=2 min-elements=16" --shard-propagate="count=2" | FileCheck %s --check-prefix=PROPAGATE
// RUN: atc-opt %s --shard-annotate="count=2 min-elements=16" --shard-propagate="count=2" --shard-partition="ranks=4,6 index=1" | FileCheck %s --check-prefix=PARTITION
// RUN: not atc-opt %s --shard-partition="ranks=4,6 index=2" 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not atc-opt %s --shard-annotate="mode=rows" 2>&1 | FileCheck %s --check-prefix=MODE

// INDEX: index 2 is not in [0, 2), the ranks of the group
// MODE: mode must be weights or batch, but is 'rows'

// A column- and a row-parallel product need one all_reduce.
// ANNOTATE-LABEL: @pair
// ANNOTATE: graph.constant {shard.dim = 1 : i64}
// ANNOTATE: graph.constant dense<
// ANNOTATE: graph.constant {shard.dim = 0 : i64}
// ANNOTATE-NOT: shard.
// ANNOTATE: return
// PROPAGATE-LABEL: @pair
// PROPAGATE: graph.matmul %arg0, %{{.*}} {shard.dim = 2 : i64}
// PROPAGATE: graph.add {{.*}} {shard.dim = 2 : i64}
// PROPAGATE: graph.relu {{.*}} {shard.dim = 2 : i64}
// PROPAGATE: graph.matmul {{.*}} {shard.partial}
// PARTITION-LABEL: @pair
// PARTITION: graph.constant dense<{{\[}}[3.000000e+00, 4.000000e+00], [7.000000e+00, 8.000000e+00]
// PARTITION: graph.matmul %arg0, %{{.*}} : (tensor<1x3x4xf32>, tensor<4x2xf32>) -> tensor<1x3x2xf32>
// PARTITION: graph.constant dense<[3.000000e-01, 4.000000e-01]>
// PARTITION: graph.add {{.*}} : (tensor<1x3x2xf32>, tensor<2xf32>) -> tensor<1x3x2xf32>
// PARTITION: graph.relu {{.*}} -> tensor<1x3x2xf32>
// PARTITION: [[PART:%.*]] = graph.matmul {{.*}} : (tensor<1x3x2xf32>, tensor<2x4xf32>) -> tensor<1x3x4xf32>
// PARTITION: [[SUM:%.*]] = graph.all_reduce [[PART]] {kind = #graph<reduce_kind sum>, ranks = array<i64: 4, 6>}
// PARTITION: graph.add [[SUM]], %arg0
func.func @pair(%x: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  %w = graph.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0], [13.0, 14.0, 15.0, 16.0]]> : tensor<4x4xf32>
  %b = graph.constant dense<[0.1, 0.2, 0.3, 0.4]> : tensor<4xf32>
  %v = graph.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0], [13.0, 14.0, 15.0, 17.0]]> : tensor<4x4xf32>
  %0 = graph.matmul %x, %w : (tensor<1x3x4xf32>, tensor<4x4xf32>) -> tensor<1x3x4xf32>
  %1 = graph.add %0, %b : (tensor<1x3x4xf32>, tensor<4xf32>) -> tensor<1x3x4xf32>
  %2 = graph.relu %1 : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  %3 = graph.matmul %2, %v : (tensor<1x3x4xf32>, tensor<4x4xf32>) -> tensor<1x3x4xf32>
  %4 = graph.add %3, %x : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  return %4 : tensor<1x3x4xf32>
}

// Heads stay apart through reshape, transpose, products of activations and softmax; a
// normalization over the divided dim makes it whole.
// PROPAGATE-LABEL: @heads
// PROPAGATE: graph.reshape {{.*}} {shard.dim = 2 : i64} : {{.*}} -> tensor<1x3x2x2xf32>
// PROPAGATE: graph.transpose {{.*}} shard.dim = 1 : i64
// PROPAGATE: graph.matmul {{.*}} {shard.dim = 1 : i64} {{.*}} -> tensor<1x2x3x3xf32>
// PROPAGATE: graph.softmax {{.*}} {axis = 3 : i64}
// PARTITION-LABEL: @heads
// PARTITION: graph.reshape {{.*}} : (tensor<1x3x2xf32>) -> tensor<1x3x1x2xf32>
// PARTITION: graph.softmax {{.*}} -> tensor<1x1x3x3xf32>
// PARTITION: [[ALL:%.*]] = graph.all_gather {{.*}} {axis = 1 : i64, ranks = array<i64: 4, 6>} : (tensor<1x1x3x3xf32>) -> tensor<1x2x3x3xf32>
// PARTITION: graph.reduce [[ALL]]
func.func @heads(%x: tensor<1x3x4xf32>) -> tensor<1x1x3x3xf32> {
  %w = graph.constant dense<1.5> : tensor<4x4xf32>
  %0 = graph.matmul %x, %w : (tensor<1x3x4xf32>, tensor<4x4xf32>) -> tensor<1x3x4xf32>
  %1 = graph.reshape %0 : (tensor<1x3x4xf32>) -> tensor<1x3x2x2xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x3x2x2xf32>) -> tensor<1x2x3x2xf32>
  %3 = graph.transpose %1 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x2x2xf32>) -> tensor<1x2x2x3xf32>
  %4 = graph.matmul %2, %3 : (tensor<1x2x3x2xf32>, tensor<1x2x2x3xf32>) -> tensor<1x2x3x3xf32>
  %5 = graph.softmax %4 {axis = 3 : i64} : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %6 = graph.reduce %5 {kind = #graph<reduce_kind max>, axes = array<i64: 1>} : (tensor<1x2x3x3xf32>) -> tensor<1x1x3x3xf32>
  return %6 : tensor<1x1x3x3xf32>
}

// The bias of a row-parallel product is added once.
// PARTITION-LABEL: @bias
// PARTITION: graph.fully_connected %{{[^ ]*}}, %{{[^ ]*}} : (tensor<2x2xf32>, tensor<4x2xf32>) -> tensor<2x4xf32>
// PARTITION: [[SUM:%.*]] = graph.all_reduce
// PARTITION: graph.add [[SUM]], %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>)
func.func @bias(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %w = graph.constant dense<1.5> : tensor<4x4xf32>
  %v = graph.constant dense<2.5> : tensor<4x4xf32>
  %b = graph.constant dense<0.5> : tensor<4xf32>
  %0 = graph.fully_connected %x, %w bias %b : (tensor<2x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = graph.relu %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = graph.fully_connected %1, %v bias %b : (tensor<2x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// The mean needs the whole of the product, which then is there for the difference.
// PARTITION-LABEL: @whole
// PARTITION: [[ALL:%.*]] = graph.all_gather
// PARTITION: [[MEAN:%.*]] = graph.reduce [[ALL]]
// PARTITION: graph.sub [[ALL]], [[MEAN]]
func.func @whole(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %w = graph.constant dense<1.5> : tensor<4x4xf32>
  %0 = graph.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %1 = graph.reduce %0 {kind = #graph<reduce_kind mean>, axes = array<i64: 1>} : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %2 = graph.sub %0, %1 : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// Three heads are no multiple of two: the activations become whole, the weight is divided.
// PARTITION-LABEL: @odd
// PARTITION: graph.matmul {{.*}} -> tensor<2x3xf32>
// PARTITION: graph.all_gather {{.*}} {axis = 1 : i64
// PARTITION: graph.reshape {{.*}} : (tensor<2x6xf32>) -> tensor<2x3x2xf32>
func.func @odd(%x: tensor<2x4xf32>) -> tensor<2x3x2xf32> {
  %w = graph.constant dense<1.5> : tensor<4x6xf32>
  %0 = graph.matmul %x, %w : (tensor<2x4xf32>, tensor<4x6xf32>) -> tensor<2x6xf32>
  %1 = graph.reshape %0 : (tensor<2x6xf32>) -> tensor<2x3x2xf32>
  return %1 : tensor<2x3x2xf32>
}

// Of a stack of products, the experts of a layer, each rank has some. The sum over the experts that
// the gate weights is the only exchange; a mean is not a sum of means.
// ANNOTATE-LABEL: @experts
// ANNOTATE: graph.constant {shard.dim = 0 : i64} dense<{{.*}}> : tensor<4x4x4xf32>
// PROPAGATE-LABEL: @experts
// PROPAGATE: graph.matmul {{.*}} {shard.dim = 0 : i64}
// PROPAGATE: graph.mul {{.*}} {shard.dim = 0 : i64}
// PROPAGATE: graph.reduce {{.*}}shard.partial
// PROPAGATE: graph.reduce
// PROPAGATE-NOT: shard.partial
// PROPAGATE: return
// PARTITION-LABEL: @experts
// PARTITION: graph.matmul %{{.*}} : (tensor<1x3x4xf32>, tensor<2x4x4xf32>) -> tensor<2x3x4xf32>
// PARTITION: [[PART:%.*]] = graph.reduce {{.*}} (tensor<2x3x4xf32>) -> tensor<3x4xf32>
// PARTITION: graph.all_reduce [[PART]] {kind = #graph<reduce_kind sum>
// PARTITION: graph.all_gather
// PARTITION: graph.reduce {{.*}} (tensor<4x3x4xf32>) -> tensor<3x4xf32>
func.func @experts(%x: tensor<1x3x4xf32>, %gate: tensor<4x3x1xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %w = graph.constant dense<2.0> : tensor<4x4x4xf32>
  %0 = graph.matmul %x, %w : (tensor<1x3x4xf32>, tensor<4x4x4xf32>) -> tensor<4x3x4xf32>
  %1 = graph.mul %0, %gate : (tensor<4x3x4xf32>, tensor<4x3x1xf32>) -> tensor<4x3x4xf32>
  %2 = graph.reduce %1 {axes = array<i64: 0>, keepdims = false, kind = #graph<reduce_kind sum>} : (tensor<4x3x4xf32>) -> tensor<3x4xf32>
  %3 = graph.neg %1 : (tensor<4x3x4xf32>) -> tensor<4x3x4xf32>
  %4 = graph.reduce %3 {axes = array<i64: 0>, keepdims = false, kind = #graph<reduce_kind mean>} : (tensor<4x3x4xf32>) -> tensor<3x4xf32>
  return %2, %4 : tensor<3x4xf32>, tensor<3x4xf32>
}
