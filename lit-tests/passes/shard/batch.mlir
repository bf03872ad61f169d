// RUN: atc-opt %s --shard-annotate="count=2 mode=batch" --shard-propagate --shard-partition="ranks=0,1 index=1" | FileCheck %s
// RUN: atc-opt %s --shard-annotate="count=2 mode=batch tensors=x=-1" --shard-propagate --shard-partition="ranks=0,1 index=1" | FileCheck %s --check-prefix=KEPT
// RUN: not atc-opt %s --shard-annotate="count=2 tensors=y=0" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not atc-opt %s --shard-annotate="count=2 tensors=x=1" 2>&1 | FileCheck %s --check-prefix=ODD

// UNKNOWN: E10061: the file of --shard_tensors names 'y', but the model has no such input or weight
// ODD: E10061: 'x' of type 'tensor<4x3xf32>' cannot be divided along dim 1 among 2 ranks

// CHECK-LABEL: @main(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK: [[X:%.*]] = graph.slice %arg0 {sizes = array<i64: 2, 3>, starts = array<i64: 2, 0>
// CHECK: [[Y:%.*]] = graph.softmax [[X]] {axis = 1 : i64} : (tensor<2x3xf32>)
// CHECK: [[ALL:%.*]] = graph.all_gather [[Y]] {axis = 0 : i64, ranks = array<i64: 0, 1>}
// CHECK: return [[ALL]]
// KEPT-LABEL: @main
// KEPT-NEXT: graph.softmax %arg0
func.func @main(%x: tensor<4x3xf32> loc("x")) -> tensor<4x3xf32> {
  %0 = graph.softmax %x {axis = 1 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
