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

// -----

// The form of PyTorch's scaled_dot_product_attention for any rank: half of the scale on either
// side, keys as matrices, rows without a visible key become 0.
// CHECK-LABEL: func @any_rank
// CHECK: %[[Y:.*]]:3 = graph.host_call "KvAttention"(%arg0, %arg1, %arg2, %arg3) {mask_broadcast = array<i64: 1>, scale = array<f64: 2.500000e-01>}
// CHECK-NEXT: return %[[Y]]#0
func.func @any_rank(%q: tensor<*xf32>, %k: tensor<?x?x?x16xf32>, %v: tensor<*xf32>, %mask: tensor<*xf32>) -> tensor<*xf32> {
  %zero = graph.constant dense<-9223372036854775808> : tensor<1xi64>
  %first = graph.constant dense<-2> : tensor<1xi64>
  %second = graph.constant dense<-1> : tensor<1xi64>
  %end = graph.constant dense<9223372036854775807> : tensor<1xi64>
  %half = graph.constant dense<0.5> : tensor<f32>
  %none = graph.constant dense<0.0> : tensor<f32>
  %shape = graph.host_call "Shape"(%k) {} : (tensor<?x?x?x16xf32>) -> tensor<*xi64>
  %size = graph.host_call "Slice"(%shape, %second, %end) {} : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %length = graph.host_call "Slice"(%shape, %first, %second) {} : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %front = graph.host_call "Slice"(%shape, %zero, %first) {} : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %flat = graph.host_call "Concat"(%second, %length, %size) {axis = array<i64: 0>} : (tensor<1xi64>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %full = graph.host_call "Concat"(%front, %size, %length) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %k1 = graph.host_call "Reshape"(%k, %flat) {} : (tensor<?x?x?x16xf32>, tensor<*xi64>) -> tensor<*xf32>
  %k2 = graph.host_call "Transpose"(%k1) {perm = array<i64: 0, 2, 1>} : (tensor<*xf32>) -> tensor<*xf32>
  %k3 = graph.host_call "Reshape"(%k2, %full) {} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  %k4 = graph.host_call "Mul"(%k3, %half) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %q1 = graph.host_call "Mul"(%q, %half) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %s = graph.host_call "MatMul"(%q1, %k4) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %masked = graph.host_call "Add"(%s, %mask) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %p = graph.host_call "Softmax"(%masked) {axis = array<i64: -1>} : (tensor<*xf32>) -> tensor<*xf32>
  %nan = graph.host_call "IsNaN"(%p) {} : (tensor<*xf32>) -> tensor<*xi1>
  %p1 = graph.host_call "Where"(%nan, %none, %p) {} : (tensor<*xi1>, tensor<f32>, tensor<*xf32>) -> tensor<*xf32>
  %y = graph.host_call "MatMul"(%p1, %v) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Matrices whose dims are not those of the keys stay.
// CHECK-LABEL: func @other_dims
// CHECK-NOT: KvAttention
func.func @other_dims(%q: tensor<*xf32>, %k: tensor<?x?x?x16xf32>, %v: tensor<*xf32>, %mask: tensor<*xf32>) -> tensor<*xf32> {
  %zero = graph.constant dense<0> : tensor<1xi64>
  %first = graph.constant dense<-2> : tensor<1xi64>
  %second = graph.constant dense<-1> : tensor<1xi64>
  %end = graph.constant dense<9223372036854775807> : tensor<1xi64>
  %half = graph.constant dense<0.5> : tensor<f32>
  %none = graph.constant dense<0.0> : tensor<f32>
  %shape = graph.host_call "Shape"(%v) {} : (tensor<*xf32>) -> tensor<*xi64>
  %size = graph.host_call "Slice"(%shape, %second, %end) {} : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %length = graph.host_call "Slice"(%shape, %first, %second) {} : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %front = graph.host_call "Slice"(%shape, %zero, %first) {} : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %flat = graph.host_call "Concat"(%second, %length, %size) {axis = array<i64: 0>} : (tensor<1xi64>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %full = graph.host_call "Concat"(%front, %size, %length) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %k1 = graph.host_call "Reshape"(%k, %flat) {} : (tensor<?x?x?x16xf32>, tensor<*xi64>) -> tensor<*xf32>
  %k2 = graph.host_call "Transpose"(%k1) {perm = array<i64: 0, 2, 1>} : (tensor<*xf32>) -> tensor<*xf32>
  %k3 = graph.host_call "Reshape"(%k2, %full) {} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  %k4 = graph.host_call "Mul"(%k3, %half) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %q1 = graph.host_call "Mul"(%q, %half) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %s = graph.host_call "MatMul"(%q1, %k4) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %masked = graph.host_call "Add"(%s, %mask) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %p = graph.host_call "Softmax"(%masked) {axis = array<i64: -1>} : (tensor<*xf32>) -> tensor<*xf32>
  %nan = graph.host_call "IsNaN"(%p) {} : (tensor<*xf32>) -> tensor<*xi1>
  %p1 = graph.host_call "Where"(%nan, %none, %p) {} : (tensor<*xi1>, tensor<f32>, tensor<*xf32>) -> tensor<*xf32>
  %y = graph.host_call "MatMul"(%p1, %v) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Three dims stay.
// CHECK-LABEL: func @other_rank
// CHECK-NOT: KvAttention
func.func @other_rank(%q: tensor<*xf32>, %k: tensor<?x?x16xf32>, %v: tensor<*xf32>, %mask: tensor<*xf32>) -> tensor<*xf32> {
  %zero = graph.constant dense<0> : tensor<1xi64>
  %first = graph.constant dense<-2> : tensor<1xi64>
  %second = graph.constant dense<-1> : tensor<1xi64>
  %end = graph.constant dense<9223372036854775807> : tensor<1xi64>
  %half = graph.constant dense<0.5> : tensor<f32>
  %none = graph.constant dense<0.0> : tensor<f32>
  %shape = graph.host_call "Shape"(%k) {} : (tensor<?x?x16xf32>) -> tensor<*xi64>
  %size = graph.host_call "Slice"(%shape, %second, %end) {} : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %length = graph.host_call "Slice"(%shape, %first, %second) {} : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %front = graph.host_call "Slice"(%shape, %zero, %first) {} : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %flat = graph.host_call "Concat"(%second, %length, %size) {axis = array<i64: 0>} : (tensor<1xi64>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %full = graph.host_call "Concat"(%front, %size, %length) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %k1 = graph.host_call "Reshape"(%k, %flat) {} : (tensor<?x?x16xf32>, tensor<*xi64>) -> tensor<*xf32>
  %k2 = graph.host_call "Transpose"(%k1) {perm = array<i64: 0, 2, 1>} : (tensor<*xf32>) -> tensor<*xf32>
  %k3 = graph.host_call "Reshape"(%k2, %full) {} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  %k4 = graph.host_call "Mul"(%k3, %half) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %q1 = graph.host_call "Mul"(%q, %half) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %s = graph.host_call "MatMul"(%q1, %k4) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %masked = graph.host_call "Add"(%s, %mask) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %p = graph.host_call "Softmax"(%masked) {axis = array<i64: -1>} : (tensor<*xf32>) -> tensor<*xf32>
  %nan = graph.host_call "IsNaN"(%p) {} : (tensor<*xf32>) -> tensor<*xi1>
  %p1 = graph.host_call "Where"(%nan, %none, %p) {} : (tensor<*xi1>, tensor<f32>, tensor<*xf32>) -> tensor<*xf32>
  %y = graph.host_call "MatMul"(%p1, %v) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// One Transpose makes the heads and transposes the keys; the scores are limited.
// CHECK-LABEL: func @limited
// CHECK: %[[K:.*]] = graph.host_call "Transpose"(%arg1) {perm = array<i64: 0, 2, 1, 3>}
// CHECK: %[[Y:.*]]:3 = graph.host_call "KvAttention"(%arg0, %[[K]], %arg2, %arg3) {mask_broadcast = array<i64: 1>, scale = array<f64: 5.000000e-01>, softcap = array<f64: 4.000000e+00>}
// CHECK-NEXT: return %[[Y]]#0
func.func @limited(%q: tensor<*xf32>, %k: tensor<*xf32>, %v: tensor<*xf32>, %mask: tensor<*xf32>) -> tensor<*xf32> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %cap = graph.constant dense<4.0> : tensor<f32>
  %t = graph.host_call "Transpose"(%k) {perm = array<i64: 0, 2, 3, 1>} : (tensor<*xf32>) -> tensor<*xf32>
  %s = graph.host_call "MatMul"(%q, %t) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %s1 = graph.host_call "Mul"(%s, %half) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %s2 = graph.host_call "Div"(%s1, %cap) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %s3 = graph.host_call "Tanh"(%s2) {} : (tensor<*xf32>) -> tensor<*xf32>
  %s4 = graph.host_call "Mul"(%s3, %cap) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %masked = graph.host_call "Add"(%s4, %mask) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %p = graph.host_call "Softmax"(%masked) {axis = array<i64: -1>} : (tensor<*xf32>) -> tensor<*xf32>
  %y = graph.host_call "MatMul"(%p, %v) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Attention of opset 23 with a cache that Concat joins and heads that are repeated.
// CHECK-LABEL: func @opset_23
// CHECK: %[[Y:.*]]:3 = graph.host_call "KvAttention"(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5) {is_causal = array<i64: 0>, scale = array<f64: 2.500000e-01>}
// CHECK: return %[[Y]]#0, %[[Y]]#1, %[[Y]]#2
func.func @opset_23(%q: tensor<*xf32>, %k: tensor<*xf32>, %v: tensor<*xf32>, %mask: tensor<*xi1>, %pk: tensor<?x4x?x16xf32>, %pv: tensor<?x4x?x16xf32>, %five: tensor<*xi64>, %four: tensor<*xi64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %two = graph.constant dense<2> : tensor<1xi64>
  %keys = graph.host_call "Concat"(%pk, %k) {axis = array<i64: -2>} : (tensor<?x4x?x16xf32>, tensor<*xf32>) -> tensor<*xf32>
  %values = graph.host_call "Concat"(%pv, %v) {axis = array<i64: 2>} : (tensor<?x4x?x16xf32>, tensor<*xf32>) -> tensor<*xf32>
  %k1 = graph.host_call "Unsqueeze"(%keys, %two) {} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
  %k2 = graph.host_call "Expand"(%k1, %five) {} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  %k3 = graph.host_call "Reshape"(%k2, %four) {} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  %v1 = graph.host_call "Unsqueeze"(%values, %two) {} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
  %v2 = graph.host_call "Expand"(%v1, %five) {} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  %v3 = graph.host_call "Reshape"(%v2, %four) {} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  %y = graph.host_call "Attention"(%q, %k3, %v3, %mask) {is_causal = array<i64: 0>, qk_matmul_output_mode = array<i64: 0>, scale = array<f64: 2.500000e-01>} : (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xi1>) -> tensor<*xf32>
  return %y, %keys, %values : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Attention with a cache of its own, and three that stay: the scores are a result, positions per
// batch, a window.
// CHECK-LABEL: func @own_cache
// CHECK-NEXT: %{{.*}}:3 = graph.host_call "KvAttention"(%arg0, %arg1, %arg1, %arg2, %arg2) at [0, 1, 2, 4, 5] {is_causal = array<i64: 1>, kv_num_heads = array<i64: 4>, q_num_heads = array<i64: 4>}
// CHECK-COUNT-3: graph.host_call "Attention"
func.func @own_cache(%q: tensor<?x?x64xf32>, %k: tensor<?x?x64xf32>, %past: tensor<?x4x?x16xf32>, %lengths: tensor<?xi64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %y:3 = graph.host_call "Attention"(%q, %k, %k, %past, %past) at [0, 1, 2, 4, 5] {is_causal = array<i64: 1>, kv_num_heads = array<i64: 4>, q_num_heads = array<i64: 4>} : (tensor<?x?x64xf32>, tensor<?x?x64xf32>, tensor<?x?x64xf32>, tensor<?x4x?x16xf32>, tensor<?x4x?x16xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  %a:4 = graph.host_call "Attention"(%q, %k, %k) {kv_num_heads = array<i64: 4>, q_num_heads = array<i64: 4>} : (tensor<?x?x64xf32>, tensor<?x?x64xf32>, tensor<?x?x64xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  %b = graph.host_call "Attention"(%q, %k, %k, %lengths) at [0, 1, 2, 6] {kv_num_heads = array<i64: 4>, q_num_heads = array<i64: 4>} : (tensor<?x?x64xf32>, tensor<?x?x64xf32>, tensor<?x?x64xf32>, tensor<?xi64>) -> tensor<*xf32>
  %c = graph.host_call "Attention"(%q, %k, %k) {kv_num_heads = array<i64: 4>, left_window_size = array<i64: 2>, q_num_heads = array<i64: 4>} : (tensor<?x?x64xf32>, tensor<?x?x64xf32>, tensor<?x?x64xf32>) -> tensor<*xf32>
  return %y#0, %y#1, %y#2, %a#3, %b, %c : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// A copy of another type: calls read what it copies, the return needs the copy.
// CHECK-LABEL: func @copy_is_returned
// CHECK-SAME: (%[[X:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: %[[C:.*]] = graph.host_call "Identity"(%[[X]])
// CHECK-NEXT: %[[Y:.*]] = graph.host_call "Erf"(%[[X]])
// CHECK-NEXT: return %[[C]], %[[Y]]
func.func @copy_is_returned(%x: tensor<?x?xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %copy = graph.host_call "Identity"(%x) {} : (tensor<?x?xf32>) -> tensor<*xf32>
  %y = graph.host_call "Erf"(%copy) {} : (tensor<*xf32>) -> tensor<*xf32>
  return %copy, %y : tensor<*xf32>, tensor<*xf32>
}

// -----

// What the model returns of the cache is converted in front of the attention: behind it, it is its
// result. Keys that are converted for a reader in front of it stay joined.
// CHECK-LABEL: func @converted
// CHECK: %[[K:.*]] = graph.host_call "Concat"(%arg3, %arg1)
// CHECK-NEXT: %[[N:.*]] = graph.host_call "Cast"(%[[K]])
// CHECK-NEXT: %[[S:.*]] = graph.host_call "Size"(%[[N]])
// CHECK: %[[Y:.*]]:3 = graph.host_call "KvAttention"(%arg0, %arg1, %arg2, %arg3, %arg4)
// CHECK-NEXT: %[[V:.*]] = graph.host_call "Cast"(%[[Y]]#2)
// CHECK-NEXT: return %[[Y]]#0, %[[N]], %[[V]], %[[S]]
func.func @converted(%q: tensor<*xf32>, %k: tensor<*xf32>, %v: tensor<*xf32>, %pk: tensor<?x4x?x16xf32>, %pv: tensor<?x4x?x16xf32>) -> (tensor<*xf32>, tensor<*xf16>, tensor<*xf16>, tensor<i64>) {
  %keys = graph.host_call "Concat"(%pk, %k) {axis = array<i64: -2>} : (tensor<?x4x?x16xf32>, tensor<*xf32>) -> tensor<*xf32>
  %nk = graph.host_call "Cast"(%keys) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
  %size = graph.host_call "Size"(%nk) {} : (tensor<*xf16>) -> tensor<i64>
  %values = graph.host_call "Concat"(%pv, %v) {axis = array<i64: -2>} : (tensor<?x4x?x16xf32>, tensor<*xf32>) -> tensor<*xf32>
  %nv = graph.host_call "Cast"(%values) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
  %t = graph.host_call "Transpose"(%keys) {perm = array<i64: 0, 1, 3, 2>} : (tensor<*xf32>) -> tensor<*xf32>
  %s = graph.host_call "MatMul"(%q, %t) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %p = graph.host_call "Softmax"(%s) {axis = array<i64: -1>} : (tensor<*xf32>) -> tensor<*xf32>
  %y = graph.host_call "MatMul"(%p, %values) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %y, %nk, %nv, %size : tensor<*xf32>, tensor<*xf16>, tensor<*xf16>, tensor<i64>
}

// -----

// Transposes in front of and behind the call go; what else reads one keeps it.
// CHECK-LABEL: func @transposes
// CHECK-NEXT: %[[T:.*]] = graph.host_call "Transpose"(%arg0)
// CHECK-NEXT: %[[Y:.*]]:3 = graph.host_call "KvAttention"(%arg0, %arg1, %arg2) {{.*}}swapped = array<i64: 7>
// CHECK-NEXT: return %[[Y]]#0, %[[T]]
func.func @transposes(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>) -> (tensor<?x?x4x16xf32>, tensor<?x4x?x16xf32>) {
  %qt = graph.host_call "Transpose"(%q) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x4x16xf32>) -> tensor<?x4x?x16xf32>
  %kt = graph.host_call "Transpose"(%k) {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x?x4x16xf32>) -> tensor<?x4x16x?xf32>
  %vt = graph.host_call "Transpose"(%v) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x4x16xf32>) -> tensor<?x4x?x16xf32>
  %s = graph.host_call "MatMul"(%qt, %kt) {} : (tensor<?x4x?x16xf32>, tensor<?x4x16x?xf32>) -> tensor<*xf32>
  %p = graph.host_call "Softmax"(%s) {axis = array<i64: -1>} : (tensor<*xf32>) -> tensor<*xf32>
  %y = graph.host_call "MatMul"(%p, %vt) {} : (tensor<*xf32>, tensor<?x4x?x16xf32>) -> tensor<?x4x?x16xf32>
  %yt = graph.host_call "Transpose"(%y) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x4x?x16xf32>) -> tensor<?x?x4x16xf32>
  return %yt, %qt : tensor<?x?x4x16xf32>, tensor<?x4x?x16xf32>
}

// -----

// A result that something else reads, and keys behind those of a cache, stay as they are.
// CHECK-LABEL: func @cache
// CHECK: %[[K:.*]] = graph.host_call "Transpose"(%arg1)
// CHECK: %[[V:.*]] = graph.host_call "Transpose"(%arg2)
// CHECK: %[[Y:.*]]:3 = graph.host_call "KvAttention"(%arg0, %[[K]], %[[V]], %arg3, %arg4) {{.*}}swapped = array<i64: 1>
// CHECK: %[[T:.*]] = graph.host_call "Transpose"(%[[Y]]#0)
// CHECK: return %[[Y]]#0, %[[T]]
func.func @cache(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>, %pk: tensor<?x4x?x16xf32>, %pv: tensor<?x4x?x16xf32>) -> (tensor<*xf32>, tensor<?x?x4x16xf32>) {
  %qt = graph.host_call "Transpose"(%q) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x4x16xf32>) -> tensor<?x4x?x16xf32>
  %kt = graph.host_call "Transpose"(%k) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x4x16xf32>) -> tensor<?x4x?x16xf32>
  %vt = graph.host_call "Transpose"(%v) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x4x16xf32>) -> tensor<?x4x?x16xf32>
  %keys = graph.host_call "Concat"(%pk, %kt) {axis = array<i64: 2>} : (tensor<?x4x?x16xf32>, tensor<?x4x?x16xf32>) -> tensor<?x4x?x16xf32>
  %values = graph.host_call "Concat"(%pv, %vt) {axis = array<i64: 2>} : (tensor<?x4x?x16xf32>, tensor<?x4x?x16xf32>) -> tensor<?x4x?x16xf32>
  %t = graph.host_call "Transpose"(%keys) {perm = array<i64: 0, 1, 3, 2>} : (tensor<?x4x?x16xf32>) -> tensor<?x4x16x?xf32>
  %s = graph.host_call "MatMul"(%qt, %t) {} : (tensor<?x4x?x16xf32>, tensor<?x4x16x?xf32>) -> tensor<*xf32>
  %p = graph.host_call "Softmax"(%s) {axis = array<i64: -1>} : (tensor<*xf32>) -> tensor<*xf32>
  %y = graph.host_call "MatMul"(%p, %values) {} : (tensor<*xf32>, tensor<?x4x?x16xf32>) -> tensor<*xf32>
  %yt = graph.host_call "Transpose"(%y) {perm = array<i64: 0, 2, 1, 3>} : (tensor<*xf32>) -> tensor<?x?x4x16xf32>
  return %y, %yt : tensor<*xf32>, tensor<?x?x4x16xf32>
}
