// RUN: atc-opt %s --host-narrow-gates --split-input-file | FileCheck %s
// RUN: atc-opt %s --split-input-file --host-narrow-gates --remarks-filter=host-narrow-gates --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARKS

// 64 weights of a row and a share of their scales take 34 words: two panels of 64 units take 68
// columns. An unknown number of steps changes nothing.
// CHECK-LABEL: func @rnn
// CHECK: %[[R:.*]] = graph.constant dense_resource<{{.*}}> : tensor<1x68x128xf32>
// CHECK: graph.host_call "RNN"(%arg0, %{{.*}}, %[[R]]) {packed = array<i64: 3>}
// REMARKS: weights of the state have 16 bits: the expected error of a gate is 5.0e-06
func.func @rnn(%x: tensor<?x1x4xf32>) -> tensor<*xf32> {
  %w = graph.constant dense<1.0> : tensor<1x128x4xf32>
  %r = graph.constant dense<0.05> : tensor<1x128x128xf32>
  %y:2 = graph.host_call "RNN"(%x, %w, %r) {packed = array<i64: 1>} : (tensor<?x1x4xf32>, tensor<1x128x4xf32>, tensor<1x128x128xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %y#0 : tensor<*xf32>
}

// -----

// The rounding of large weights to 16 bits would be too large: 64 of 24 bits take 48 words.
// CHECK-LABEL: func @large
// CHECK: %[[R:.*]] = graph.constant dense_resource<{{.*}}> : tensor<1x96x128xf32>
// CHECK: graph.host_call "RNN"(%arg0, %{{.*}}, %[[R]]) {packed = array<i64: 2>}
// REMARKS: weights of the state have 24 bits: with 16, the expected error of a gate would be 5.0e-05, above 3.0e-05
func.func @large(%x: tensor<?x1x4xf32>) -> tensor<*xf32> {
  %w = graph.constant dense<1.0> : tensor<1x128x4xf32>
  %r = graph.constant dense<0.5> : tensor<1x128x128xf32>
  %y:2 = graph.host_call "RNN"(%x, %w, %r) {packed = array<i64: 1>} : (tensor<?x1x4xf32>, tensor<1x128x4xf32>, tensor<1x128x128xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %y#0 : tensor<*xf32>
}

// -----

// Panels of 32 units of two gates, then of 64 units of the last: the last of 100 units have f32
// columns. 300 - 16 * (3 + 1) = 236 columns are left.
// CHECK-LABEL: func @gru
// CHECK: graph.constant dense_resource<{{.*}}> : tensor<2x236x100xf32>
// CHECK: graph.host_call "GRU"{{.*}} {layout = array<i64: 1>, packed = array<i64: 2>}
func.func @gru(%x: tensor<1x?x4xf32>) -> tensor<*xf32> {
  %w = graph.constant dense<1.0> : tensor<2x300x4xf32>
  %r = graph.constant dense<0.25> : tensor<2x300x100xf32>
  %y:2 = graph.host_call "GRU"(%x, %w, %r) {layout = array<i64: 1>, packed = array<i64: 1>} : (tensor<1x?x4xf32>, tensor<2x300x4xf32>, tensor<2x300x100xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %y#0 : tensor<*xf32>
}

// -----

// Several sequences; a number of them that is not known; weights that are not packed; few weights;
// weights that are not finite; tiny ones.
// CHECK-LABEL: func @stays
// CHECK-COUNT-2: {packed = array<i64: 1>}
// CHECK: "RNN"({{.*}}) {} :
// CHECK-COUNT-3: {packed = array<i64: 1>}
func.func @stays(%two: tensor<9x2x4xf32>, %some: tensor<9x?x4xf32>, %x: tensor<9x1x4xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %w = graph.constant dense<1.0> : tensor<1x128x4xf32>
  %r = graph.constant dense<0.5> : tensor<1x128x128xf32>
  %w_few = graph.constant dense<1.0> : tensor<1x64x4xf32>
  %r_few = graph.constant dense<0.5> : tensor<1x64x64xf32>
  %nan = graph.constant dense<0x7FC00000> : tensor<1x128x128xf32>
  %tiny = graph.constant dense<1.0e-30> : tensor<1x128x128xf32>
  %a:2 = graph.host_call "RNN"(%two, %w, %r) {packed = array<i64: 1>} : (tensor<9x2x4xf32>, tensor<1x128x4xf32>, tensor<1x128x128xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  %b:2 = graph.host_call "RNN"(%some, %w, %r) {packed = array<i64: 1>} : (tensor<9x?x4xf32>, tensor<1x128x4xf32>, tensor<1x128x128xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  %c:2 = graph.host_call "RNN"(%x, %w, %r) {} : (tensor<9x1x4xf32>, tensor<1x128x4xf32>, tensor<1x128x128xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  %d:2 = graph.host_call "RNN"(%x, %w_few, %r_few) {packed = array<i64: 1>} : (tensor<9x1x4xf32>, tensor<1x64x4xf32>, tensor<1x64x64xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  %e:2 = graph.host_call "RNN"(%x, %w, %nan) {packed = array<i64: 1>} : (tensor<9x1x4xf32>, tensor<1x128x4xf32>, tensor<1x128x128xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  %f:2 = graph.host_call "RNN"(%x, %w, %tiny) {packed = array<i64: 1>} : (tensor<9x1x4xf32>, tensor<1x128x4xf32>, tensor<1x128x128xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %a#0, %b#0, %c#0, %d#0, %e#0, %f#0 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}
