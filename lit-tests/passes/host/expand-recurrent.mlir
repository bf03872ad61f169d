// RUN: atc-opt %s --host-expand-recurrent --split-input-file | FileCheck %s
// RUN: atc-opt %s --host-expand-recurrent=max-steps=1 --split-input-file | FileCheck %s --check-prefix=LIMIT
// RUN: atc-opt %s --host-expand-recurrent --split-input-file --remarks-filter=host-expand-recurrent --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:host-expand-recurrent{{.*}}2 steps become graph ops
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-recurrent{{.*}}its weights are no constants
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-recurrent{{.*}}the lengths of its sequences have another shape or type

// The data of all steps is multiplied at once. The first step has no state to multiply.
// CHECK-LABEL: func @rnn
// CHECK-DAG: %[[W:.*]] = graph.constant dense<5.000000e-01> : tensor<4x3xf32>
// CHECK-DAG: %[[R:.*]] = graph.constant dense<2.500000e-01> : tensor<4x4xf32>
// CHECK-DAG: %[[X:.*]] = graph.reshape %arg0 : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
// CHECK-DAG: %[[D:.*]] = graph.fully_connected %[[X]], %[[W]]
// CHECK: %[[D0:.*]] = graph.slice %[[D]] {sizes = array<i64: 1, 4>, starts = array<i64: 0, 0>
// CHECK: %[[H0:.*]] = graph.tanh %[[D0]]
// CHECK: %[[D1:.*]] = graph.slice %[[D]] {sizes = array<i64: 1, 4>, starts = array<i64: 1, 0>
// CHECK: %[[P:.*]] = graph.fully_connected %[[H0]], %[[R]]
// CHECK: %[[S:.*]] = graph.add %[[P]], %[[D1]]
// CHECK: %[[H1:.*]] = graph.tanh %[[S]]
// CHECK: graph.concat {{.*}} {axis = 0 : i64} : (tensor<1x1x1x4xf32>, tensor<1x1x1x4xf32>) -> tensor<2x1x1x4xf32>
// CHECK-NOT: host_call
// LIMIT-LABEL: func @rnn
// LIMIT: graph.host_call "RNN"
func.func @rnn(%x: tensor<2x1x3xf32>) -> (tensor<2x1x1x4xf32>, tensor<1x1x4xf32>) {
  %w = graph.constant dense<0.5> : tensor<1x4x3xf32>
  %r = graph.constant dense<0.25> : tensor<1x4x4xf32>
  %y:2 = graph.host_call "RNN"(%x, %w, %r) {} : (tensor<2x1x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<2x1x1x4xf32>, tensor<1x1x4xf32>)
  return %y#0, %y#1 : tensor<2x1x1x4xf32>, tensor<1x1x4xf32>
}

// -----

// Weights that a model computes, lengths of other sequences, and nodes that a user pinned to the CPU
// or wants in f32 stay.
module attributes {graph.host_nodes = ["pinned"], graph.float32_nodes = ["exact"]} {
// CHECK-LABEL: func @stays
// CHECK-COUNT-4: graph.host_call "RNN"
func.func @stays(%x: tensor<2x1x3xf32>, %v: tensor<1x4x3xf32>, %length: tensor<2xi32>) -> (tensor<2x1x1x4xf32>, tensor<2x1x1x4xf32>, tensor<2x1x1x4xf32>, tensor<2x1x1x4xf32>) {
  %w = graph.constant dense<0.5> : tensor<1x4x3xf32>
  %r = graph.constant dense<0.25> : tensor<1x4x4xf32>
  %a = graph.host_call "RNN"(%x, %v, %r) {} : (tensor<2x1x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> tensor<2x1x1x4xf32>
  %b = graph.host_call "RNN"(%x, %w, %r, %length) at [0, 1, 2, 4] {} : (tensor<2x1x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>, tensor<2xi32>) -> tensor<2x1x1x4xf32>
  %c = graph.host_call "RNN"(%x, %w, %r) {} : (tensor<2x1x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> tensor<2x1x1x4xf32> loc("c"("pinned"))
  %d = graph.host_call "RNN"(%x, %w, %r) {} : (tensor<2x1x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> tensor<2x1x1x4xf32> loc("d"("exact"))
  return %a, %b, %c, %d : tensor<2x1x1x4xf32>, tensor<2x1x1x4xf32>, tensor<2x1x1x4xf32>, tensor<2x1x1x4xf32>
}
}

// -----

// Sequences that end early: their outputs are zeros from there on, and their states stay.
// CHECK-LABEL: func @lengths
// CHECK: %[[L:.*]] = graph.cast %arg1 : (tensor<2xi32>) -> tensor<2xf32>
// CHECK: %[[N:.*]] = graph.reshape %[[L]] : (tensor<2xf32>) -> tensor<2x1xf32>
// CHECK: %[[LEFT:.*]] = graph.sub %[[N]]
// CHECK: %[[ABOVE:.*]] = graph.max %[[LEFT]]
// CHECK: %[[IN0:.*]] = graph.min %[[ABOVE]]
// CHECK: %[[H0:.*]] = graph.mul %[[IN0]]
// CHECK: graph.fully_connected %[[H0]]
// CHECK: %[[IN1:.*]] = graph.min
// CHECK: %[[Y1:.*]] = graph.mul %[[IN1]]
// CHECK: %[[OUT1:.*]] = graph.sub %{{.*}}, %[[IN1]]
// CHECK: %[[OLD:.*]] = graph.mul %[[OUT1]], %[[H0]]
// CHECK: graph.add %[[Y1]], %[[OLD]]
// CHECK-NOT: host_call
// CHECK: return
func.func @lengths(%x: tensor<2x2x3xf32>, %length: tensor<2xi32>) -> (tensor<2x1x2x4xf32>, tensor<1x2x4xf32>) {
  %w = graph.constant dense<0.5> : tensor<1x4x3xf32>
  %r = graph.constant dense<0.25> : tensor<1x4x4xf32>
  %y:2 = graph.host_call "RNN"(%x, %w, %r, %length) at [0, 1, 2, 4] {} : (tensor<2x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>, tensor<2xi32>) -> (tensor<2x1x2x4xf32>, tensor<1x2x4xf32>)
  return %y#0, %y#1 : tensor<2x1x2x4xf32>, tensor<1x2x4xf32>
}

// -----

// Both states of an LSTM are rows of one tensor, which one kernel computes.
// CHECK-LABEL: func @lstm
// CHECK: %[[ZEROS:.*]] = graph.constant dense<0.000000e+00> : tensor<2x1x1xf32>
// CHECK: graph.add %{{.*}}, %[[ZEROS]] : (tensor<1x1x4xf32>, tensor<2x1x1xf32>) -> tensor<2x1x4xf32>
// CHECK: %[[TANH:.*]] = graph.tanh %{{.*}} : (tensor<2x1x4xf32>)
// CHECK: %[[BOTH:.*]] = graph.add {{.*}} : (tensor<2x1x4xf32>, tensor<2x1x4xf32>) -> tensor<2x1x4xf32>
// CHECK: %[[SECOND:.*]] = graph.slice %[[BOTH]] {sizes = array<i64: 1, 1, 4>, starts = array<i64: 1, 0, 0>
// CHECK: %[[H:.*]] = graph.reshape %[[SECOND]]
// CHECK: %[[FIRST:.*]] = graph.slice %[[BOTH]] {sizes = array<i64: 1, 1, 4>, starts = array<i64: 0, 0, 0>
// CHECK: graph.fully_connected %[[H]]
// CHECK: %[[ALL:.*]] = graph.concat {{.*}} {axis = 0 : i64} : (tensor<1x2x1x4xf32>, tensor<1x2x1x4xf32>) -> tensor<2x2x1x4xf32>
// CHECK: graph.slice %[[ALL]] {sizes = array<i64: 2, 1, 1, 4>, starts = array<i64: 0, 1, 0, 0>
func.func @lstm(%x: tensor<2x1x3xf32>) -> (tensor<2x1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>) {
  %w = graph.constant dense<0.5> : tensor<1x16x3xf32>
  %r = graph.constant dense<0.25> : tensor<1x16x4xf32>
  %y:3 = graph.host_call "LSTM"(%x, %w, %r) {} : (tensor<2x1x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>) -> (tensor<2x1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>)
  return %y#0, %y#1, %y#2 : tensor<2x1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>
}

// -----

// Large states are computed by a kernel each: computing everything twice would take longer than a launch.
// So are states that may be infinite.
// CHECK-LABEL: func @unbounded
// CHECK-NOT: 2x1x4
// CHECK-LABEL: func @given
// CHECK-NOT: 2x1x4
func.func @unbounded(%x: tensor<2x1x3xf32>) -> tensor<2x1x1x4xf32> {
  %w = graph.constant dense<0.5> : tensor<1x16x3xf32>
  %r = graph.constant dense<0.25> : tensor<1x16x4xf32>
  %y = graph.host_call "LSTM"(%x, %w, %r) {activations = ["Sigmoid", "Relu", "Tanh"]} : (tensor<2x1x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>) -> tensor<2x1x1x4xf32>
  return %y : tensor<2x1x1x4xf32>
}
func.func @given(%x: tensor<2x1x3xf32>, %c: tensor<1x1x4xf32>) -> tensor<2x1x1x4xf32> {
  %w = graph.constant dense<0.5> : tensor<1x16x3xf32>
  %r = graph.constant dense<0.25> : tensor<1x16x4xf32>
  %y = graph.host_call "LSTM"(%x, %w, %r, %c) at [0, 1, 2, 6] {} : (tensor<2x1x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>, tensor<1x1x4xf32>) -> tensor<2x1x1x4xf32>
  return %y : tensor<2x1x1x4xf32>
}
// CHECK-LABEL: func @large
// CHECK-NOT: 2x2049x4
func.func @large(%x: tensor<2x2049x3xf32>) -> tensor<2x1x2049x4xf32> {
  %w = graph.constant dense<0.5> : tensor<1x16x3xf32>
  %r = graph.constant dense<0.25> : tensor<1x16x4xf32>
  %y = graph.host_call "LSTM"(%x, %w, %r) {} : (tensor<2x2049x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>) -> tensor<2x1x2049x4xf32>
  return %y : tensor<2x1x2049x4xf32>
}

// clip bounds the four gates of the step, and not its state.
// CHECK-LABEL: func.func @lstm_clip(
// CHECK-COUNT-4: graph.clip
// CHECK-NOT: graph.clip
// CHECK: return
func.func @lstm_clip(%x: tensor<1x1x3xf32>) -> tensor<1x1x1x4xf32> {
  %w = graph.constant dense<0.5> : tensor<1x16x3xf32>
  %r = graph.constant dense<0.25> : tensor<1x16x4xf32>
  %y = graph.host_call "LSTM"(%x, %w, %r) {clip = array<f64: 0.5>} : (tensor<1x1x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>) -> tensor<1x1x1x4xf32>
  return %y : tensor<1x1x1x4xf32>
}
