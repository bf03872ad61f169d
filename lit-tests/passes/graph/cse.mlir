// RUN: atc-opt %s --graph-cse --split-input-file | FileCheck %s
// RUN: atc-opt %s --graph-cse --split-input-file --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LOC

// Ops of one kind, operands and attributes become the first of them, also where only that makes
// operands equal; another attribute or order of operands is another op.
// CHECK-LABEL: func @ops
// CHECK: %[[A:.*]] = graph.sub %arg0, %arg1
// CHECK: %[[B:.*]] = graph.sub %arg1, %arg0
// CHECK: %[[C:.*]] = graph.relu %[[A]]
// CHECK: %[[D:.*]] = graph.leaky_relu %[[A]] {alpha = 1.000000e-01 : f64}
// CHECK: %[[E:.*]] = graph.leaky_relu %[[A]] {alpha = 2.000000e-01 : f64}
// CHECK-NOT: graph
// CHECK: return %[[A]], %[[A]], %[[B]], %[[C]], %[[C]], %[[D]], %[[E]]
func.func @ops(%x: tensor<2xf32>, %y: tensor<2xf32>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>,
        tensor<2xf32>) {
  %0 = graph.sub %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.sub %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = graph.sub %y, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = graph.relu %0 : (tensor<2xf32>) -> tensor<2xf32>
  %4 = graph.relu %1 : (tensor<2xf32>) -> tensor<2xf32>
  %5 = graph.leaky_relu %1 {alpha = 0.1 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  %6 = graph.leaky_relu %1 {alpha = 0.2 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>,
      tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// Operands of a commutative op may come in any order.
// CHECK-LABEL: func @commutative
// CHECK: %[[A:.*]] = graph.add
// CHECK-NOT: graph.add
// CHECK: return %[[A]], %[[A]]
func.func @commutative(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = graph.add %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.add %y, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// -----

// Maps are equal when their bodies are; inside of a body equal ops become one, too.
// CHECK-LABEL: func @maps
// CHECK: %[[A:.*]] = graph.map %arg0
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[S:.*]] = arith.addf %{{.*}}, %[[ONE]]
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[S]], %[[S]]
// CHECK-NEXT: graph.yield %[[P]]
// CHECK: %[[B:.*]] = graph.map %arg0
// CHECK: arith.constant 2.000000e+00 : f32
// CHECK-NOT: graph.map
// CHECK: return %[[A]], %[[A]], %[[B]]
func.func @maps(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = graph.map %x : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%e: f32):
    %one = arith.constant 1.0 : f32
    %a = arith.addf %e, %one : f32
    %same = arith.constant 1.0 : f32
    %b = arith.addf %e, %same : f32
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  %1 = graph.map %x : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%e: f32):
    %one = arith.constant 1.0 : f32
    %a = arith.addf %e, %one : f32
    %same = arith.constant 1.0 : f32
    %b = arith.addf %e, %same : f32
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  %2 = graph.map %x : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%e: f32):
    %two = arith.constant 2.0 : f32
    %a = arith.addf %e, %two : f32
    graph.yield %a : f32
  }
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// A branch uses what stands before it, and not what stands in the other one.
// CHECK-LABEL: func @branches
// CHECK: %[[A:.*]] = graph.relu %arg0
// CHECK: graph.if
// CHECK-NEXT: graph.leave %[[A]]
// CHECK: %[[T:.*]] = graph.tanh
// CHECK-NEXT: graph.leave %[[T]]
// CHECK: %[[U:.*]] = graph.tanh
// CHECK: return %{{.*}}, %[[U]], %[[A]]
func.func @branches(%x: tensor<2xf32>, %c: tensor<i1>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = graph.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.if %c : (tensor<i1>) -> tensor<2xf32> {
    %3 = graph.relu %x : (tensor<2xf32>) -> tensor<2xf32>
    graph.leave %3 : tensor<2xf32>
  } else {
    %4 = graph.tanh %x : (tensor<2xf32>) -> tensor<2xf32>
    graph.leave %4 : tensor<2xf32>
  }
  %2 = graph.tanh %x : (tensor<2xf32>) -> tensor<2xf32>
  return %1, %2, %0 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// What nobody reads goes; a name is kept where the first op has none.
// LOC-LABEL: func @names
// LOC-NOT: graph.tanh
// LOC: graph.relu {{.*}} loc("named")
// LOC-NOT: graph.relu
// LOC: return
func.func @names(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = graph.tanh %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.relu %x : (tensor<2xf32>) -> tensor<2xf32> loc(unknown)
  %2 = graph.relu %x : (tensor<2xf32>) -> tensor<2xf32> loc("named")
  return %1, %2 : tensor<2xf32>, tensor<2xf32>
}
