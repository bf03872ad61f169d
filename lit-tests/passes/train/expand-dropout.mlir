// RUN: atc-opt %s --split-input-file --train-expand-dropout --verify-diagnostics | FileCheck %s

// The mask is a comparison of a hash, and the state counts the runs.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>, %[[STATE:.*]]: tensor<3xf32> {om.name = "train.random", train.statistic = "train.random.next"})
// CHECK-SAME: tensor<3xf32> {om.name = "train.random.next"})
// CHECK: %[[NEXT:.*]] = graph.add %[[STATE]]
// CHECK: %[[T:.*]] = graph.constant dense<1073741824> : tensor<ui32>
// CHECK: %[[KEEP:.*]] = graph.compare %{{.*}}, %[[T]] {predicate = #graph<compare_predicate ge>} : (tensor<2x3xui32>, tensor<ui32>)
// CHECK: %[[SCALED:.*]] = graph.mul %[[X]]
// CHECK: %[[Y:.*]] = graph.where %[[KEEP]], %[[SCALED]]
// CHECK: return %[[Y]], %[[KEEP]]
func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi1>) {
  %ratio = graph.constant dense<0.25> : tensor<f32>
  %true = graph.constant dense<true> : tensor<i1>
  %y:2 = graph.host_call "Dropout"(%x, %ratio, %true) {} : (tensor<2x3xf32>, tensor<f32>, tensor<i1>) -> (tensor<2x3xf32>, tensor<2x3xi1>)
  return %y#0, %y#1 : tensor<2x3xf32>, tensor<2x3xi1>
}

// -----

// Without dropouts there is no state.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>) -> tensor<2xf32>
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %ratio = graph.constant dense<1.0> : tensor<f32>
  %true = graph.constant dense<true> : tensor<i1>
  // expected-error @+1 {{E15006: the ratio of a dropout is 1}}
  %y = graph.host_call "Dropout"(%x, %ratio, %true) {} : (tensor<2xf32>, tensor<f32>, tensor<i1>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
