// RUN: atc-opt %s --graph-fold-constants --host-narrow-gates --split-input-file | FileCheck %s
// RUN: atc-opt %s --split-input-file --graph-fold-constants --host-narrow-gates --remarks-filter=host-narrow-gates --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARKS

// 64 weights of a row and a share of their scales take 34 words: two panels of 64 units take 68
// columns. An unknown number of steps changes nothing.
// CHECK-LABEL: func @rnn
// CHECK: %[[R:.*]] = graph.constant dense_resource<{{.*}}> : tensor<1x68x128xf32>
// CHECK: graph.host_call "RNN"(%arg0, %{{.*}}, %[[R]]) {packed = array<i64: 3>}
// REMARKS: weights of the state have 16 bits: the expected error of a gate is 5.0e-06
func.func @rnn(%x: tensor<?x1x4xf32>) -> tensor<*xf32> {
  %w = graph.constant dense<1.0> : tensor<1x128x4xf32>
  %most = graph.constant dense<0.05> : tensor<1x127x128xf32>
  %few = graph.constant dense<0.0353553> : tensor<1x1x128xf32>
  %r = graph.concat %most, %few {axis = 1 : i64} : (tensor<1x127x128xf32>, tensor<1x1x128xf32>) -> tensor<1x128x128xf32>
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
  %most = graph.constant dense<0.5> : tensor<1x127x128xf32>
  %few = graph.constant dense<0.353553> : tensor<1x1x128xf32>
  %r = graph.concat %most, %few {axis = 1 : i64} : (tensor<1x127x128xf32>, tensor<1x1x128xf32>) -> tensor<1x128x128xf32>
  %y:2 = graph.host_call "RNN"(%x, %w, %r) {packed = array<i64: 1>} : (tensor<?x1x4xf32>, tensor<1x128x4xf32>, tensor<1x128x128xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %y#0 : tensor<*xf32>
}

// -----

// Panels of 32 units of two gates, then of 64 units of the last: the last of 102 units have f32
// columns. 306 - 16 * (3 + 1) = 242 columns are left.
// CHECK-LABEL: func @gru
// CHECK: graph.constant dense_resource<{{.*}}> : tensor<2x242x102xf32>
// CHECK: graph.host_call "GRU"{{.*}} {layout = array<i64: 1>, packed = array<i64: 2>}
func.func @gru(%x: tensor<1x?x4xf32>) -> tensor<*xf32> {
  %w = graph.constant dense<1.0> : tensor<2x306x4xf32>
  %r = graph.constant dense<0.25> : tensor<2x306x102xf32>
  %y:2 = graph.host_call "GRU"(%x, %w, %r) {layout = array<i64: 1>, packed = array<i64: 1>} : (tensor<1x?x4xf32>, tensor<2x306x4xf32>, tensor<2x306x102xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %y#0 : tensor<*xf32>
}

// -----

// Multiples of a scale are exact in 8 bits, for any number of sequences: two panels of 64 units
// take 17 words per row of 128 weights. Those of 6 inputs stay as they are, those of 8 do not.
// CHECK-LABEL: func @bytes
// CHECK-DAG: %[[R:.*]] = graph.constant dense_resource<{{.*}}> : tensor<1x34x128xf32>
// CHECK-DAG: %[[W:.*]] = graph.constant dense_resource<{{.*}}> : tensor<1x1x512xf32>
// CHECK: graph.host_call "RNN"(%arg0, %{{.*}}, %{{.*}}) {packed = array<i64: 4>}
// CHECK: graph.host_call "RNN"(%arg1, %[[W]], %{{.*}}) {packed = array<i64: 5>}
// REMARKS-DAG: weights of the state are exact in 8 bits
// REMARKS-DAG: weights of the state and of the data are exact in 8 bits
func.func @bytes(%x: tensor<?x?x6xf32>, %y: tensor<?x?x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %six = graph.constant dense<1.0> : tensor<1x128x6xf32>
  %eight = graph.constant dense<1.0> : tensor<1x128x8xf32>
  %r = graph.constant dense<0.05> : tensor<1x128x128xf32>
  %a:2 = graph.host_call "RNN"(%x, %six, %r) {packed = array<i64: 1>} : (tensor<?x?x6xf32>, tensor<1x128x6xf32>, tensor<1x128x128xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  %b:2 = graph.host_call "RNN"(%y, %eight, %r) {packed = array<i64: 1>} : (tensor<?x?x8xf32>, tensor<1x128x8xf32>, tensor<1x128x128xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %a#0, %b#0 : tensor<*xf32>, tensor<*xf32>
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
  %most = graph.constant dense<0.5> : tensor<1x127x128xf32>
  %few = graph.constant dense<0.353553> : tensor<1x1x128xf32>
  %r = graph.concat %most, %few {axis = 1 : i64} : (tensor<1x127x128xf32>, tensor<1x1x128xf32>) -> tensor<1x128x128xf32>
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
