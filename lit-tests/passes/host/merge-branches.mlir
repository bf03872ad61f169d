// RUN: atc-opt %s --host-merge-branches --split-input-file | FileCheck %s

// Branches with the same ops on the same values are one, whatever the names of their nodes; their
// results may be values from around them.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.if
// CHECK: %[[A:.*]] = graph.exp %arg1
// CHECK-NEXT: %[[B:.*]] = graph.host_call "Unique"(%[[A]])
// CHECK-NEXT: return %[[B]], %arg1
func.func @main(%c: tensor<i1>, %x: tensor<4xf32>) -> (tensor<*xf32>, tensor<4xf32>) {
  %r:2 = graph.if %c : (tensor<i1>) -> (tensor<*xf32>, tensor<4xf32>) {
    %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32> loc("first")
    %b = graph.host_call "Unique"(%a) {} : (tensor<4xf32>) -> tensor<*xf32>
    graph.leave %b, %x : tensor<*xf32>, tensor<4xf32>
  } else {
    %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32> loc("second")
    %b = graph.host_call "Unique"(%a) {} : (tensor<4xf32>) -> tensor<*xf32>
    graph.leave %b, %x : tensor<*xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<*xf32>, tensor<4xf32>
}

// -----

// Ifs around others are equal when those are merged.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.if
// CHECK: %[[A:.*]] = graph.exp %arg2
// CHECK-NEXT: return %[[A]]
func.func @main(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = graph.if %c : (tensor<i1>) -> tensor<4xf32> {
    %s = graph.if %d : (tensor<i1>) -> tensor<4xf32> {
      %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      graph.leave %a : tensor<4xf32>
    } else {
      %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      graph.leave %a : tensor<4xf32>
    }
    graph.leave %s : tensor<4xf32>
  } else {
    %s = graph.if %c : (tensor<i1>) -> tensor<4xf32> {
      %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      graph.leave %a : tensor<4xf32>
    } else {
      %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      graph.leave %a : tensor<4xf32>
    }
    graph.leave %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Another attribute, operand, order of results or type of a result is another branch.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-4: graph.if
func.func @main(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<*xf32>) {
  %0 = graph.if %c : (tensor<i1>) -> tensor<4xf32> {
    %a = graph.leaky_relu %x {alpha = 0.1 : f64} : (tensor<4xf32>) -> tensor<4xf32>
    graph.leave %a : tensor<4xf32>
  } else {
    %a = graph.leaky_relu %x {alpha = 0.2 : f64} : (tensor<4xf32>) -> tensor<4xf32>
    graph.leave %a : tensor<4xf32>
  }
  %1 = graph.if %c : (tensor<i1>) -> tensor<4xf32> {
    %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    graph.leave %a : tensor<4xf32>
  } else {
    %a = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
    graph.leave %a : tensor<4xf32>
  }
  %2:2 = graph.if %c : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
    graph.leave %x, %y : tensor<4xf32>, tensor<4xf32>
  } else {
    graph.leave %y, %x : tensor<4xf32>, tensor<4xf32>
  }
  %3 = graph.if %c : (tensor<i1>) -> tensor<*xf32> {
    graph.leave %x : tensor<4xf32>
  } else {
    graph.leave %x : tensor<4xf32>
  }
  return %0, %1, %2#0, %2#1, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<*xf32>
}
