// RUN: atc-opt %s --host-widen-floats --split-input-file | FileCheck %s

// Inputs are converted once, constants when compiling, results where they leave the model.
// CHECK-LABEL: func @computes
// CHECK: %[[X:.*]] = graph.host_call "Cast"(%arg0) {to = array<i64: 1>} : (tensor<?x4xf16>) -> tensor<?x4xf32>
// CHECK: %[[C:.*]] = graph.constant dense<5.000000e-01> : tensor<4xf32>
// CHECK: %[[S:.*]] = graph.host_call "Sigmoid"(%[[X]]) {} : (tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK: %[[M:.*]] = graph.host_call "Mul"(%[[X]], %[[S]])
// CHECK: %[[A:.*]] = graph.host_call "Add"(%[[M]], %[[C]])
// CHECK: %[[Y:.*]] = graph.host_call "Cast"(%[[A]]) {to = array<i64: 10>} : (tensor<?x4xf32>) -> tensor<?x4xf16>
// CHECK: graph.host_call "MatMul"(%[[A]], %[[C]])
// CHECK: return %[[Y]]
func.func @computes(%x: tensor<?x4xf16>) -> (tensor<?x4xf16>, tensor<?xf16>) {
  %c = graph.constant dense<0.5> : tensor<4xf16>
  %s = graph.host_call "Sigmoid"(%x) {} : (tensor<?x4xf16>) -> tensor<?x4xf16>
  %m = graph.host_call "Mul"(%x, %s) {} : (tensor<?x4xf16>, tensor<?x4xf16>) -> tensor<?x4xf16>
  %a = graph.host_call "Add"(%m, %c) {} : (tensor<?x4xf16>, tensor<4xf16>) -> tensor<?x4xf16>
  %p = graph.host_call "MatMul"(%a, %c) {} : (tensor<?x4xf16>, tensor<4xf16>) -> tensor<?xf16>
  return %a, %p : tensor<?x4xf16>, tensor<?xf16>
}

// -----

// Without products each step is rounded as the model says.
// CHECK-LABEL: func @formula
// CHECK: graph.host_call "Sigmoid"(%arg0) {} : (tensor<?x4xf16>) -> tensor<?x4xf16>
// CHECK-NOT: Cast
// CHECK: return
func.func @formula(%x: tensor<?x4xf16>, %a: tensor<?x4xf32>, %b: tensor<4x?xf32>) -> (tensor<?x4xf16>, tensor<?x?xf32>) {
  %s = graph.host_call "Sigmoid"(%x) {} : (tensor<?x4xf16>) -> tensor<?x4xf16>
  %m = graph.host_call "Mul"(%x, %s) {} : (tensor<?x4xf16>, tensor<?x4xf16>) -> tensor<?x4xf16>
  %p = graph.host_call "MatMul"(%a, %b) {} : (tensor<?x4xf32>, tensor<4x?xf32>) -> tensor<?x?xf32>
  return %m, %p : tensor<?x4xf16>, tensor<?x?xf32>
}

// -----

// Rows of a table are gathered in bf16; packed weights stay f16; a shape needs no conversion.
// CHECK-LABEL: func @moves
// CHECK: %[[R:.*]] = graph.host_call "Gather"(%{{.*}}, %arg0) {{.*}} -> tensor<?x64xbf16>
// CHECK: %[[W:.*]] = graph.host_call "Cast"(%[[R]]) {to = array<i64: 1>}
// CHECK: graph.host_call "Shape"(%[[R]])
// CHECK: %[[P:.*]] = graph.host_call "PackedMatMul"(%[[W]], %{{.*}}) {{.*}} : (tensor<?x64xf32>, tensor<4x64x16xbf16>) -> tensor<?x64xf32>
// CHECK: graph.host_call "Concat"(%[[P]], %[[W]]) {{.*}} -> tensor<?x128xf32>
func.func @moves(%ids: tensor<?xi64>) -> (tensor<2xi64>, tensor<?x128xbf16>) {
  %table = graph.constant dense<1.0> : tensor<100x64xbf16>
  %w = graph.constant dense<2.0> : tensor<4x64x16xbf16>
  %r = graph.host_call "Gather"(%table, %ids) {axis = array<i64: 0>} : (tensor<100x64xbf16>, tensor<?xi64>) -> tensor<?x64xbf16>
  %s = graph.host_call "Shape"(%r) {} : (tensor<?x64xbf16>) -> tensor<2xi64>
  %p = graph.host_call "PackedMatMul"(%r, %w) {n = array<i64: 64>} : (tensor<?x64xbf16>, tensor<4x64x16xbf16>) -> tensor<?x64xbf16>
  %c = graph.host_call "Concat"(%p, %r) {axis = array<i64: 1>} : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x128xbf16>
  return %s, %c : tensor<2xi64>, tensor<?x128xbf16>
}

// -----

// What goes from f16 to f32 and comes back is not rounded there; what comes from an input in f32 is.
// CHECK-LABEL: func @casts
// CHECK: %[[X:.*]] = graph.host_call "Cast"(%arg0) {to = array<i64: 1>} : (tensor<?xf16>) -> tensor<?xf32>
// CHECK: %[[E:.*]] = graph.host_call "Exp"(%[[X]])
// CHECK: %[[W:.*]] = graph.host_call "Cast"(%[[E]]) {to = array<i64: 1>} : (tensor<?xf32>) -> tensor<?xf32>
// CHECK: %[[N:.*]] = graph.host_call "Softmax"(%[[W]])
// CHECK: %[[B:.*]] = graph.host_call "Cast"(%[[N]]) {to = array<i64: 1>} : (tensor<?xf32>) -> tensor<?xf32>
// CHECK: %[[H:.*]] = graph.host_call "Cast"(%arg1) {to = array<i64: 10>} : (tensor<?xf32>) -> tensor<?xf16>
// CHECK: %[[V:.*]] = graph.host_call "Cast"(%[[H]]) {to = array<i64: 1>} : (tensor<?xf16>) -> tensor<?xf32>
// CHECK: graph.host_call "Add"(%[[B]], %[[V]])
func.func @casts(%x: tensor<?xf16>, %y: tensor<?xf32>) -> tensor<?xf16> {
  %e = graph.host_call "Exp"(%x) {} : (tensor<?xf16>) -> tensor<?xf16>
  %w = graph.host_call "Cast"(%e) {to = array<i64: 1>} : (tensor<?xf16>) -> tensor<?xf32>
  %n = graph.host_call "Softmax"(%w) {axis = array<i64: -1>} : (tensor<?xf32>) -> tensor<?xf32>
  %b = graph.host_call "Cast"(%n) {to = array<i64: 10>} : (tensor<?xf32>) -> tensor<?xf16>
  %h = graph.host_call "Cast"(%y) {to = array<i64: 10>} : (tensor<?xf32>) -> tensor<?xf16>
  %a = graph.host_call "Add"(%b, %h) {} : (tensor<?xf16>, tensor<?xf16>) -> tensor<?xf16>
  %p = graph.host_call "MatMul"(%a, %a) {} : (tensor<?xf16>, tensor<?xf16>) -> tensor<f16>
  return %a : tensor<?xf16>
}

// -----

// Quantization, sequences and branches get what they had.
// CHECK-LABEL: func @keeps
// CHECK: %[[E:.*]] = graph.host_call "Exp"({{.*}}) {} : (tensor<?xf32>) -> tensor<?xf32>
// CHECK: %[[H:.*]] = graph.host_call "Cast"(%[[E]]) {to = array<i64: 10>}
// CHECK: graph.host_call "SequenceConstruct"(%[[H]])
// CHECK: graph.host_call "QuantizeLinear"(%[[H]], %arg1)
// CHECK: graph.if
// CHECK: graph.leave %[[H]]
// CHECK: graph.host_call "Neg"(%[[E]])
func.func @keeps(%x: tensor<?xf16>, %s: tensor<f16>, %c: tensor<i1>) -> (!graph.sequence<tensor<?xf16>>, tensor<?xui8>, tensor<?xf16>) {
  %e = graph.host_call "Exp"(%x) {} : (tensor<?xf16>) -> tensor<?xf16>
  %p = graph.host_call "MatMul"(%e, %e) {} : (tensor<?xf16>, tensor<?xf16>) -> tensor<f16>
  %l = graph.host_call "SequenceConstruct"(%e) {} : (tensor<?xf16>) -> !graph.sequence<tensor<?xf16>>
  %q = graph.host_call "QuantizeLinear"(%e, %s) {} : (tensor<?xf16>, tensor<f16>) -> tensor<?xui8>
  %r = graph.if %c : (tensor<i1>) -> tensor<?xf16> {
    graph.leave %e : tensor<?xf16>
  } else {
    %n = graph.host_call "Neg"(%e) {} : (tensor<?xf16>) -> tensor<?xf16>
    graph.leave %n : tensor<?xf16>
  }
  return %l, %q, %r : !graph.sequence<tensor<?xf16>>, tensor<?xui8>, tensor<?xf16>
}
