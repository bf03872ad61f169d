// RUN: atc-opt %s --shard-split-stages="ranks=0,2 index=0" | FileCheck %s --check-prefix=FIRST
// RUN: atc-opt %s --shard-split-stages="ranks=0,2 index=1" | FileCheck %s --check-prefix=SECOND
// RUN: not atc-opt %s --shard-split-stages="ranks=0,2 index=-1" 2>&1 | FileCheck %s --check-prefix=INDEX

// INDEX: index -1 is not in [0, 2), the ranks of the stages

// What each stage needs of the arguments and makes of the results is all that it has.
// FIRST-LABEL: func.func @main(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32>
// FIRST: [[A:%.*]] = graph.matmul %arg0
// FIRST: graph.send [[A]] {tag = 0 : i64, to = 2 : i64}
// FIRST: [[R:%.*]] = graph.relu [[A]]
// FIRST-NOT: graph.matmul
// FIRST: return [[R]]
// SECOND-LABEL: func.func @main(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32>
// SECOND: [[A:%.*]] = graph.receive {from = 0 : i64, tag = 0 : i64} : tensor<2x4xf32>
// SECOND: [[M:%.*]] = graph.matmul [[A]]
// SECOND: [[S:%.*]] = graph.add [[M]], %arg0
// SECOND: return [[S]]
func.func @main(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %w = graph.constant dense<1.5> : tensor<4x4xf32>
  %v = graph.constant dense<2.5> : tensor<4x4xf32>
  %0 = graph.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %1 = graph.relu %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = graph.matmul %0, %v : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %3 = graph.add %2, %y : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1, %3 : tensor<2x4xf32>, tensor<2x4xf32>
}
