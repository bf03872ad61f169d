// RUN: atc-opt %s --host-fuse-attention --split-input-file | FileCheck %s

// The form of GPT-2: scale and mask behind the product, a cache that Concat joins. The copy of the
// past goes; the results of the model are those of the fused call.
// CHECK-LABEL: func @cached
// CHECK-SAME: (%[[Q:.*]]: tensor<*xf32>, %[[K:.*]]: tensor<*xf32>, %[[V:.*]]: tensor<*xf32>, %[[M:.*]]: tensor<*xf32>, %[[PK:.*]]: tensor<?x4x?x16xf32>, %[[PV:.*]]: tensor<?x4x?x16xf32>)
// CHECK-NEXT: %[[Y:.*]]:3 = graph.host_call "KvAttention"(%[[Q]], %[[K]], %[[V]], %[[M]], %[[PK]], %[[PV]]) {mask_broadcast = array<i64: 1>, scale = array<f64: 2.500000e-01>}
// CHECK-NEXT: return %[[Y]]#0, %[[Y]]#1, %[[Y]]#2
func.func @cached(%q: tensor<*xf32>, %k: tensor<*xf32>, %v: tensor<*xf32>, %mask: tensor<*xf32>, %pk: tensor<?x4x?x16xf32>, %pv: tensor<?x4x?x16xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %scale = graph.constant dense<0.25> : tensor<f32>
  %copy = graph.host_call "Concat"(%pk) {axis = array<i64: -2>} : (tensor<?x4x?x16xf32>) -> tensor<*xf32>
  %keys = graph.host_call "Concat"(%copy, %k) {axis = array<i64: -2>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %values = graph.host_call "Concat"(%pv, %v) {axis = array<i64: 2>} : (tensor<?x4x?x16xf32>, tensor<*xf32>) -> tensor<*xf32>
  %t = graph.host_call "Transpose"(%keys) {perm = array<i64: 0, 1, 3, 2>} : (tensor<*xf32>) -> tensor<*xf32>
  %s = graph.host_call "MatMul"(%q, %t) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %scaled = graph.host_call "Mul"(%s, %scale) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %masked = graph.host_call "Add"(%scaled, %mask) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %p = graph.host_call "Softmax"(%masked) {axis = array<i64: -1>} : (tensor<*xf32>) -> tensor<*xf32>
  %cast = graph.host_call "Cast"(%p) {to = array<i64: 1>} : (tensor<*xf32>) -> tensor<*xf32>
  %y = graph.host_call "MatMul"(%cast, %values) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %y, %keys, %values : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Groups of heads that share keys, scales of both factors, no mask and no cache.
// CHECK-LABEL: func @groups
// CHECK-NEXT: %[[Y:.*]]:3 = graph.host_call "KvAttention"(%arg0, %arg1, %arg2) {mask_broadcast = array<i64: 1>, scale = array<f64: 1.250000e-01>}
// CHECK-NEXT: return %[[Y]]#0
func.func @groups(%q: tensor<*xf32>, %k: tensor<*xf32>, %v: tensor<*xf32>, %five: tensor<*xi64>, %four: tensor<*xi64>) -> tensor<*xf32> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %four_number = graph.constant dense<4.0> : tensor<1xf32>
  %two = graph.constant dense<2> : tensor<1xi64>
  %k1 = graph.host_call "Unsqueeze"(%k, %two) {} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
  %k2 = graph.host_call "Expand"(%k1, %five) {} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  %k3 = graph.host_call "Reshape"(%k2, %four) {} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  %v1 = graph.host_call "Unsqueeze"(%v, %two) {} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
  %v2 = graph.host_call "Expand"(%v1, %five) {} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  %v3 = graph.host_call "Reshape"(%v2, %four) {} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  %q1 = graph.host_call "Mul"(%half, %q) {} : (tensor<f32>, tensor<*xf32>) -> tensor<*xf32>
  %t = graph.host_call "Transpose"(%k3) {perm = array<i64: 0, 1, 3, 2>} : (tensor<*xf32>) -> tensor<*xf32>
  %t1 = graph.host_call "Div"(%t, %four_number) {} : (tensor<*xf32>, tensor<1xf32>) -> tensor<*xf32>
  %s = graph.host_call "MatMul"(%q1, %t1) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %p = graph.host_call "Softmax"(%s) {axis = array<i64: -1>} : (tensor<*xf32>) -> tensor<*xf32>
  %y = graph.host_call "MatMul"(%p, %v3) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// A reader in front of the attention still needs what is joined.
// CHECK-LABEL: func @early
// CHECK: %[[C:.*]] = graph.host_call "Concat"(%arg3, %arg1)
// CHECK: graph.host_call "Shape"(%[[C]])
// CHECK: %[[Y:.*]]:3 = graph.host_call "KvAttention"
// CHECK: return %[[Y]]#0, %[[Y]]#1
func.func @early(%q: tensor<*xf32>, %k: tensor<*xf32>, %v: tensor<*xf32>, %pk: tensor<?x4x?x16xf32>, %pv: tensor<?x4x?x16xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %keys = graph.host_call "Concat"(%pk, %k) {axis = array<i64: -2>} : (tensor<?x4x?x16xf32>, tensor<*xf32>) -> tensor<*xf32>
  %values = graph.host_call "Concat"(%pv, %v) {axis = array<i64: -2>} : (tensor<?x4x?x16xf32>, tensor<*xf32>) -> tensor<*xf32>
  %shape = graph.host_call "Shape"(%keys) {} : (tensor<*xf32>) -> tensor<*xi64>
  %mask = graph.host_call "ConstantOfShape"(%shape) {} : (tensor<*xi64>) -> tensor<*xf32>
  %t = graph.host_call "Transpose"(%keys) {perm = array<i64: 0, 1, 3, 2>} : (tensor<*xf32>) -> tensor<*xf32>
  %s = graph.host_call "MatMul"(%q, %t) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %masked = graph.host_call "Add"(%mask, %s) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %p = graph.host_call "Softmax"(%masked) {axis = array<i64: -1>} : (tensor<*xf32>) -> tensor<*xf32>
  %y = graph.host_call "MatMul"(%p, %values) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %y, %keys : tensor<*xf32>, tensor<*xf32>
}

// -----

// Softmax along another axis, keys that are not transposed, a mask that is scaled, f16.
// CHECK-LABEL: func @stays
// CHECK-NOT: KvAttention
func.func @stays(%q: tensor<*xf32>, %k: tensor<*xf32>, %v: tensor<*xf32>, %h: tensor<*xf16>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf16>) {
  %half = graph.constant dense<0.5> : tensor<f32>
  %t = graph.host_call "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} : (tensor<*xf32>) -> tensor<*xf32>
  %s = graph.host_call "MatMul"(%q, %t) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %p = graph.host_call "Softmax"(%s) {axis = array<i64: 1>} : (tensor<*xf32>) -> tensor<*xf32>
  %a = graph.host_call "MatMul"(%p, %v) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %s1 = graph.host_call "MatMul"(%q, %k) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %p1 = graph.host_call "Softmax"(%s1) {axis = array<i64: -1>} : (tensor<*xf32>) -> tensor<*xf32>
  %b = graph.host_call "MatMul"(%p1, %v) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %sum = graph.host_call "Add"(%s, %v) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %scaled = graph.host_call "Mul"(%sum, %half) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %p2 = graph.host_call "Softmax"(%scaled) {axis = array<i64: -1>} : (tensor<*xf32>) -> tensor<*xf32>
  %c = graph.host_call "MatMul"(%p2, %v) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %th = graph.host_call "Transpose"(%h) {perm = array<i64: 0, 1, 3, 2>} : (tensor<*xf16>) -> tensor<*xf16>
  %sh = graph.host_call "MatMul"(%h, %th) {} : (tensor<*xf16>, tensor<*xf16>) -> tensor<*xf16>
  %ph = graph.host_call "Softmax"(%sh) {axis = array<i64: -1>} : (tensor<*xf16>) -> tensor<*xf16>
  %d = graph.host_call "MatMul"(%ph, %h) {} : (tensor<*xf16>, tensor<*xf16>) -> tensor<*xf16>
  return %a, %b, %c, %d : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf16>
}
