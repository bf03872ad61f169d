// RUN: atc-opt %s --host-narrow-caches --split-input-file | FileCheck %s

// The cache is an input and an output of the model; its shape may be read.
// CHECK-LABEL: func @cached
// CHECK-SAME: %[[PK:[a-z0-9]+]]: tensor<?x2x?x8xf16>, %[[PV:[a-z0-9]+]]: tensor<?x2x?x8xf16>)
// CHECK-NEXT: %[[Y:.*]]:3 = graph.host_call "KvAttention"(%arg0, %arg1, %arg2, %[[PK]], %[[PV]]) at {{\[0, 1, 2, 4, 5\]}} {scale = array<f64: 5.000000e-01>}
// CHECK-SAME: -> (tensor<*xf32>, tensor<?x2x?x8xf16>, tensor<?x2x?x8xf16>)
// CHECK-NEXT: %[[S:.*]] = graph.host_call "Shape"(%[[Y]]#1)
// CHECK-NEXT: return %[[Y]]#0, %[[Y]]#1, %[[Y]]#2, %[[S]]
func.func @cached(%q: tensor<*xf32>, %k: tensor<*xf32>, %v: tensor<*xf32>, %pk: tensor<?x2x?x8xf16>, %pv: tensor<?x2x?x8xf16>) -> (tensor<*xf32>, tensor<?x2x?x8xf16>, tensor<?x2x?x8xf16>, tensor<*xi64>) {
  %wk = graph.host_call "Cast"(%pk) {to = array<i64: 1>} : (tensor<?x2x?x8xf16>) -> tensor<?x2x?x8xf32>
  %wv = graph.host_call "Cast"(%pv) {to = array<i64: 1>} : (tensor<?x2x?x8xf16>) -> tensor<?x2x?x8xf32>
  %y:3 = graph.host_call "KvAttention"(%q, %k, %v, %wk, %wv) at [0, 1, 2, 4, 5] {scale = array<f64: 0.5>} : (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  %nk = graph.host_call "Cast"(%y#1) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<?x2x?x8xf16>
  %nv = graph.host_call "Cast"(%y#2) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<?x2x?x8xf16>
  %s = graph.host_call "Shape"(%y#1) {} : (tensor<*xf32>) -> tensor<*xi64>
  return %y#0, %nk, %nv, %s : tensor<*xf32>, tensor<?x2x?x8xf16>, tensor<?x2x?x8xf16>, tensor<*xi64>
}

// -----

// Heads that share keys, in bf16.
// CHECK-LABEL: func @group
// CHECK-NEXT: %[[Y:.*]]:3 = graph.host_call "GroupQueryAttention"(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6)
// CHECK-SAME: -> (tensor<*xf32>, tensor<*xbf16>, tensor<*xbf16>)
// CHECK-NEXT: return %[[Y]]#0, %[[Y]]#1, %[[Y]]#2
func.func @group(%q: tensor<*xf32>, %k: tensor<*xf32>, %v: tensor<*xf32>, %pk: tensor<*xbf16>, %pv: tensor<*xbf16>, %lengths: tensor<?xi32>, %total: tensor<i32>) -> (tensor<*xf32>, tensor<*xbf16>, tensor<*xbf16>) {
  %wk = graph.host_call "Cast"(%pk) {to = array<i64: 1>} : (tensor<*xbf16>) -> tensor<*xf32>
  %wv = graph.host_call "Cast"(%pv) {to = array<i64: 1>} : (tensor<*xbf16>) -> tensor<*xf32>
  %y:3 = graph.host_call "GroupQueryAttention"(%q, %k, %v, %wk, %wv, %lengths, %total) {kv_num_heads = array<i64: 2>, num_heads = array<i64: 4>} : (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<?xi32>, tensor<i32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  %nk = graph.host_call "Cast"(%y#1) {to = array<i64: 16>} : (tensor<*xf32>) -> tensor<*xbf16>
  %nv = graph.host_call "Cast"(%y#2) {to = array<i64: 16>} : (tensor<*xf32>) -> tensor<*xbf16>
  return %y#0, %nk, %nv : tensor<*xf32>, tensor<*xbf16>, tensor<*xbf16>
}

// -----

// Keys in f32 that something else reads stay, and so does the whole cache.
// CHECK-LABEL: func @read_as_f32
// CHECK: %[[WK:.*]] = graph.host_call "Cast"(%arg3)
// CHECK: %[[WV:.*]] = graph.host_call "Cast"(%arg4)
// CHECK: graph.host_call "KvAttention"(%arg0, %arg1, %arg2, %[[WK]], %[[WV]])
func.func @read_as_f32(%q: tensor<*xf32>, %k: tensor<*xf32>, %v: tensor<*xf32>, %pk: tensor<*xf16>, %pv: tensor<*xf16>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf16>) {
  %wk = graph.host_call "Cast"(%pk) {to = array<i64: 1>} : (tensor<*xf16>) -> tensor<*xf32>
  %wv = graph.host_call "Cast"(%pv) {to = array<i64: 1>} : (tensor<*xf16>) -> tensor<*xf32>
  %y:3 = graph.host_call "KvAttention"(%q, %k, %v, %wk, %wv) at [0, 1, 2, 4, 5] {} : (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  %nv = graph.host_call "Cast"(%y#2) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
  return %y#0, %y#1, %nv : tensor<*xf32>, tensor<*xf32>, tensor<*xf16>
}
