// RUN: atc-opt %s --train-expand-gradient --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @square
// CHECK-NOT: graph.gradient
// CHECK: %[[Y:.*]] = graph.mul %arg0, %arg0
// CHECK: %[[ONES:.*]] = graph.constant dense<1.0
// CHECK: %[[A:.*]] = graph.mul %[[ONES]], %arg0
// CHECK: %[[B:.*]] = graph.mul %[[ONES]], %arg0
// CHECK: %[[SUM:.*]] = graph.add %[[A]], %[[B]]
// CHECK: return %[[Y]], %[[SUM]]
func.func @square(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %y = graph.mul %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %g = graph.gradient %y of %x at %x : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %y, %g : tensor<3xf32>, tensor<3xf32>
}

// -----

// At another value, and by the first of two variables: the function is computed again.
// CHECK-LABEL: func.func @elsewhere
// CHECK: graph.mul %arg0, %arg1
// CHECK: graph.mul %arg2, %arg3
// CHECK: %[[ONES:.*]] = graph.constant dense<1.0
// CHECK: %[[G:.*]] = graph.mul %[[ONES]], %arg3
// CHECK: return %[[G]]
func.func @elsewhere(%x: tensor<3xf32>, %z: tensor<3xf32>, %a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %y = graph.mul %x, %z : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %g = graph.gradient %y of %x, %z at %a, %b
      : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %g : tensor<3xf32>
}

// -----

func.func @unknown(%x: tensor<1xf32>) -> tensor<1xf32> {
  %y = graph.host_call "Hardmax"(%x) {} : (tensor<1xf32>) -> tensor<1xf32> loc("h")
  // expected-error @+1 {{E15003: no gradient is known for these nodes between a variable and the target: 'h' (Hardmax)}}
  %g = graph.gradient %y of %x at %x : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  return %g : tensor<1xf32>
}

// -----

func.func @integer(%x: tensor<1xi32>) -> tensor<1xi32> {
  // expected-error @+1 {{E15001: a gradient of 'tensor<1xi32>' by 'tensor<1xi32>' is asked for}}
  %g = graph.gradient %x of %x at %x : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  return %g : tensor<1xi32>
}

// -----

func.func @types(%x: tensor<1xf32>, %z: tensor<2xf32>) -> tensor<1xf32> {
  // expected-error @+1 {{evaluates a variable of 'tensor<1xf32>' at a value of 'tensor<2xf32>'}}
  %g = graph.gradient %x of %x at %z : (tensor<1xf32>, tensor<1xf32>, tensor<2xf32>) -> tensor<1xf32>
  return %g : tensor<1xf32>
}
