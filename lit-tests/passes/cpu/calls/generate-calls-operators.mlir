// RUN: atc-opt %s -split-input-file -cpu-generate-calls | FileCheck %s

// Four rows of a product are summed up at once, four steps of the summed dim at a time; what is
// left of both is computed one by one. Rows are tasks.
// CHECK-LABEL: func.func @main
// CHECK: graph.host_call "MatMul"(%arg0, %arg1) {generated_for = {{[^}]*}}} {om.body = @matmul_0}
// CHECK: func.func private @matmul_0
// CHECK-COUNT-4: memref.alloca() : memref<256xf32>
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c4
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c4
// CHECK: scf.for
// CHECK-COUNT-16: arith.addf {{.*}} fastmath<contract> : f32
// CHECK: }
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<*xf32> {
  %0 = graph.host_call "MatMul"(%a, %b) {} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Columns of a transposed matrix are contiguous: sums are kept in registers. Factors and the bias
// are applied to each sum.
// CHECK-LABEL: func.func @main
// CHECK: graph.host_call "Gemm"({{.*}} {om.body = @gemm_0}
// CHECK: func.func private @gemm_0
// CHECK-NOT: memref.alloca
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (f32, f32, f32, f32)
// CHECK: arith.mulf %{{.*}}, %cst
// CHECK: memref.store
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?xf32>) -> tensor<*xf32> {
  %0 = graph.host_call "Gemm"(%a, %b, %c) {alpha = array<f64: 0.5>, transB = array<i64: 1>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Few rows of a matrix of this fixed size are more products than code is used for.
// CHECK-LABEL: func.func @main
// CHECK: graph.host_call "MatMul"(%arg0, %arg1) {} :
// CHECK: graph.host_call "MatMul"(%arg0, %arg2) {generated_for = {{[^}]*}}} {om.body = @matmul_0}
func.func @main(%a: tensor<?x?xf32>, %b: tensor<16x17xf32>, %c: tensor<16x16xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = graph.host_call "MatMul"(%a, %b) {} : (tensor<?x?xf32>, tensor<16x17xf32>) -> tensor<*xf32>
  %1 = graph.host_call "MatMul"(%a, %c) {} : (tensor<?x?xf32>, tensor<16x16xf32>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// All taps of a row of the kernel are added at once, for four channels of the result; planes are
// tasks, which the attribute states.
// CHECK-LABEL: func.func @main
// CHECK: graph.host_call "Conv"(%arg0, %arg1) {generated_for = array<i64: 2, {{.*}}>, kernel_shape = array<i64: 3, 3>} {om.body = @conv_0}
// CHECK: func.func private @conv_0
// CHECK-COUNT-12: arith.addf {{.*}} fastmath<contract> : f32
func.func @main(%x: tensor<?x?x?x?xf32>, %w: tensor<?x?x?x?xf32>) -> tensor<*xf32> {
  %0 = graph.host_call "Conv"(%x, %w) {kernel_shape = array<i64: 3, 3>} : (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Copies of neighbours and interpolation of floats have code. That of integers is left to the host
// kernel, as is that of images in blocks of channels, whose last dim stays as it is.
// CHECK-LABEL: func.func @main
// CHECK: graph.host_call "Resize"({{.*}}mode = "linear"} {om.body = @resize_
// CHECK: graph.host_call "Resize"(%arg1{{.*}}mode = "cubic"} :
// CHECK: graph.host_call "Resize"(%arg0{{.*}} {om.body = @resize_
// CHECK: graph.host_call "Resize"({{.*}}mode = "linear"} :
func.func @main(%x: tensor<?x?xf32>, %i: tensor<?x?xui8>, %s: tensor<2xf32>) -> (tensor<*xf32>, tensor<*xui8>, tensor<*xf32>, tensor<*xf32>) {
  %0 = graph.host_call "Resize"(%x, %s) at [0, 2] {mode = "linear"} : (tensor<?x?xf32>, tensor<2xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Resize"(%i, %s) at [0, 2] {mode = "cubic"} : (tensor<?x?xui8>, tensor<2xf32>) -> tensor<*xui8>
  %2 = graph.host_call "Resize"(%x, %s) at [0, 2] {mode = "nearest"} : (tensor<?x?xf32>, tensor<2xf32>) -> tensor<*xf32>
  %rows = graph.constant dense<[2.0, 1.0]> : tensor<2xf32>
  %3 = graph.host_call "Resize"(%x, %rows) at [0, 2] {mode = "linear"} : (tensor<?x?xf32>, tensor<2xf32>) -> tensor<*xf32>
  return %0, %1, %2, %3 : tensor<*xf32>, tensor<*xui8>, tensor<*xf32>, tensor<*xf32>
}

// -----

// One scale may serve all elements, which is known at run time. Blocks of scales have no code, and
// bytes have it only where each element of a row has a scale of its own.
// CHECK-LABEL: func.func @main
// CHECK: graph.host_call "QuantizeLinear"({{.*}}block_size{{[^@]*}} :
// CHECK: graph.host_call "QuantizeLinear"(%arg0, %arg1, %arg2) {axis = array<i64: 1>, generated_for = {{[^}]*}}} {om.body = @quantizelinear_
// CHECK: graph.host_call "QuantizeLinear"(%arg0, %arg1, %arg2) {axis = array<i64: 0>} :
// CHECK: func.func private @quantizelinear_
// CHECK: math.roundeven
func.func @main(%x: tensor<?x?xf32>, %s: tensor<?xf32>, %z: tensor<?xui8>, %t: tensor<?x?xf32>, %y: tensor<?x?xui8>) -> (tensor<*xui8>, tensor<*xui8>, tensor<*xui8>) {
  %0 = graph.host_call "QuantizeLinear"(%x, %t, %y) {axis = array<i64: 1>, block_size = array<i64: 2>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xui8>) -> tensor<*xui8>
  %1 = graph.host_call "QuantizeLinear"(%x, %s, %z) {axis = array<i64: 1>} : (tensor<?x?xf32>, tensor<?xf32>, tensor<?xui8>) -> tensor<*xui8>
  %2 = graph.host_call "QuantizeLinear"(%x, %s, %z) {axis = array<i64: 0>} : (tensor<?x?xf32>, tensor<?xf32>, tensor<?xui8>) -> tensor<*xui8>
  return %0, %1, %2 : tensor<*xui8>, tensor<*xui8>, tensor<*xui8>
}

// -----

// The rank of an Einsum follows from its equation, the length of tuples from the ranks.
// CHECK-LABEL: func.func @main
// CHECK: graph.host_call "Einsum"({{.*}} {om.body = @einsum_
// CHECK: graph.host_call "ScatterND"({{.*}} {om.body = @scatternd_
func.func @main(%x: tensor<?x?x?xf32>, %i: tensor<?x?xi64>, %u: tensor<?xf32>) -> tensor<*xf32> {
  %0 = graph.host_call "Einsum"(%x) {equation = "...ij->...ji"} : (tensor<?x?x?xf32>) -> tensor<*xf32>
  %1 = graph.host_call "ScatterND"(%0, %i, %u) {} : (tensor<*xf32>, tensor<?x?xi64>, tensor<?xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// Where lines become columns, the host kernel transposes squares. Lines that stay are copied.
// CHECK-LABEL: func.func @main
// CHECK: graph.host_call "Transpose"(%arg0) {perm = array<i64: 0, 2, 1>} :
// CHECK: graph.host_call "Transpose"(%arg0) {{.*}} {om.body = @[[LINES:.*]]}
// CHECK: func.func private @[[LINES]]
func.func @main(%x: tensor<?x?x?xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = graph.host_call "Transpose"(%x) {perm = array<i64: 0, 2, 1>} : (tensor<?x?x?xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Transpose"(%x) {perm = array<i64: 1, 0, 2>} : (tensor<?x?x?xf32>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// The results of a call without code have a rank, too.
// CHECK-LABEL: func.func @main
// CHECK: graph.host_call "TopK"(%arg0, %arg1) {} :
// CHECK: graph.host_call "ReduceSum"({{.*}} {om.body = @reducesum_
func.func @main(%x: tensor<?x?xf32>, %k: tensor<1xi64>) -> (tensor<*xf32>, tensor<*xi64>) {
  %one = graph.constant dense<1> : tensor<1xi64>
  %0:2 = graph.host_call "TopK"(%x, %k) {} : (tensor<?x?xf32>, tensor<1xi64>) -> (tensor<*xf32>, tensor<*xi64>)
  %1 = graph.host_call "ReduceSum"(%0#0, %one) {} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
  return %1, %0#1 : tensor<*xf32>, tensor<*xi64>
}

// -----

// Samples of regions have code where their number is known, norms where p is 1 or 2, tuples where
// their length is known.
// CHECK-LABEL: func.func @main
// CHECK: graph.host_call "RoiAlign"({{.*}}sampling_ratio = array<i64: 2>} {om.body = @roialign_
// CHECK: graph.host_call "RoiAlign"(%arg0, %arg1, %arg2) {} :
// CHECK: graph.host_call "LpNormalization"({{.*}} {om.body = @lpnormalization_
// CHECK: graph.host_call "LpNormalization"(%arg1) {p = array<i64: 3>} :
// CHECK: graph.host_call "GatherND"({{.*}} {om.body = @gathernd_
// CHECK: graph.host_call "GatherND"(%arg1, %arg4) {} :
func.func @main(%x: tensor<?x?x?x?xf32>, %r: tensor<?x?xf32>, %n: tensor<?xi64>, %i: tensor<?x2xi64>, %j: tensor<?x?xi64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %0 = graph.host_call "RoiAlign"(%x, %r, %n) {sampling_ratio = array<i64: 2>} : (tensor<?x?x?x?xf32>, tensor<?x?xf32>, tensor<?xi64>) -> tensor<*xf32>
  %1 = graph.host_call "RoiAlign"(%x, %r, %n) {} : (tensor<?x?x?x?xf32>, tensor<?x?xf32>, tensor<?xi64>) -> tensor<*xf32>
  %2 = graph.host_call "LpNormalization"(%r) {} : (tensor<?x?xf32>) -> tensor<*xf32>
  %3 = graph.host_call "LpNormalization"(%r) {p = array<i64: 3>} : (tensor<?x?xf32>) -> tensor<*xf32>
  %4 = graph.host_call "GatherND"(%r, %i) {} : (tensor<?x?xf32>, tensor<?x2xi64>) -> tensor<*xf32>
  %5 = graph.host_call "GatherND"(%r, %j) {} : (tensor<?x?xf32>, tensor<?x?xi64>) -> tensor<*xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Triangles, ranges and chosen slices: their ranks follow from the operator.
// CHECK-LABEL: func.func @main
// CHECK: graph.host_call "Trilu"({{.*}} {om.body = @trilu_
// CHECK: graph.host_call "Compress"({{.*}} {om.body = @compress_
// CHECK: graph.host_call "Range"({{.*}} {om.body = @range_
// CHECK: graph.host_call "Range"(%arg3, %arg3, %arg3) {} :
func.func @main(%x: tensor<?x?xf32>, %c: tensor<?xi1>, %f: tensor<f32>, %i: tensor<i64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xi64>) {
  %0 = graph.host_call "Trilu"(%x) {} : (tensor<?x?xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Compress"(%0, %c) {} : (tensor<*xf32>, tensor<?xi1>) -> tensor<*xf32>
  %2 = graph.host_call "Range"(%f, %f, %f) {} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  %3 = graph.host_call "Range"(%i, %i, %i) {} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  return %1, %2, %3 : tensor<*xf32>, tensor<*xf32>, tensor<*xi64>
}

// -----

// Cells of 16 units from their gates: the state of the cell, which is advanced in place, and from it
// the next state, each with a single division. Sizes do not matter; dims that are known neither.
// CHECK-LABEL: func.func @main
// CHECK: graph.host_call "LSTM"({{.*}}generated_for = array<i64: 1, 1, -1, -1, {{.*}} {om.body = @lstm_0}
// CHECK: graph.host_call "RNN"({{.*}} {om.body = @rnn_1}
// CHECK: func.func private @lstm_0(%[[IN:.*]]: memref<32xf32> {llvm.noalias}, %[[OUT:.*]]: memref<32xf32> {{.*}}, %[[FORGET:.*]]: memref<32xf32> {{.*}}, %[[FRESH:.*]]: memref<32xf32> {{.*}}, %[[C:.*]]: memref<32xf32> {{.*}}, %[[H:.*]]: memref<32xf32>
// CHECK: kernel.map %[[IN]], %[[FRESH]], %[[FORGET]], %[[C]] outs %[[C]]
// CHECK-COUNT-2: arith.divf
// CHECK-NOT: arith.divf
// CHECK: kernel.map %[[OUT]], %[[C]] outs %[[H]]
// CHECK-COUNT-1: arith.divf
// CHECK-NOT: arith.divf
// CHECK: func.func private @rnn_1(%{{.*}}: memref<32xf32>
// CHECK: kernel.map
func.func @main(%x: tensor<?x?x?xf32>, %w: tensor<*xf32>, %r: tensor<?x?x?xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = graph.host_call "LSTM"(%x, %w, %r) {hidden_size = array<i64: 8>} : (tensor<?x?x?xf32>, tensor<*xf32>, tensor<?x?x?xf32>) -> tensor<*xf32>
  %1 = graph.host_call "RNN"(%x, %w, %r) {activations = ["Relu"], hidden_size = array<i64: 8>} : (tensor<?x?x?xf32>, tensor<*xf32>, tensor<?x?x?xf32>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Directions with functions of their own have no code.
// CHECK-LABEL: func.func @main
// CHECK-NOT: om.body
func.func @main(%x: tensor<?x?x?xf32>, %w: tensor<?x?x?xf32>, %r: tensor<?x?x?xf32>) -> tensor<*xf32> {
  %0 = graph.host_call "RNN"(%x, %w, %r) {activations = ["Relu", "Tanh"], direction = "bidirectional", hidden_size = array<i64: 8>} : (tensor<?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
