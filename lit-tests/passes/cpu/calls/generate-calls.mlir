// RUN: atc-opt %s -split-input-file -cpu-generate-calls | FileCheck %s

// The dims are operands; a row is a task. The element types, ranks and known lengths that the code is
// for are stated.
// CHECK-LABEL: func.func @main
// CHECK: graph.host_call "Softmax"(%arg0) {axis = array<i64: -1>, generated_for = array<i64: 1, 1, 2, -1, 1, 2, -1>} {om.body = @softmax_0}
// CHECK: func.func private @softmax_0(%[[DIMS:.*]]: memref<35xi64>, %{{.*}}: memref<1xf32>, %{{.*}}: memref<1xf32>, %[[BEGIN:.*]]: index, %[[END:.*]]: index) attributes {cpu.kernel, cpu.tasks = 0 : i64, om.called}
// CHECK: memref.load %[[DIMS]]
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK: arith.maximumf
// CHECK: math.exp
func.func @main(%x: tensor<?x?xf32>) -> tensor<*xf32> {
  %0 = graph.host_call "Softmax"(%x) {axis = array<i64: -1>} : (tensor<?x?xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// The rank of the second input follows from the call that computes it. Axes that are an operand have
// code where all dims are kept: without them, the rank of the result is not known.
// CHECK-LABEL: func.func @main
// CHECK: graph.host_call "ReduceSum"(%arg0, %arg1) {keepdims = array<i64: 0>} :
// CHECK: graph.host_call "ReduceMin"(%arg0, %arg1) {generated_for = array<i64: {{.*}}>} {om.body = @reducemin_0}
// CHECK: graph.host_call "ReduceMax"(%{{.*}}, %{{.*}}) {generated_for = array<i64: 1, 1, 2, -1, 7, 1, 1, 1, 1, -1>, keepdims = array<i64: 0>} {om.body = @reducemax_1}
func.func @main(%x: tensor<?x?xf32>, %axes: tensor<?xi64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %one = graph.constant dense<1> : tensor<1xi64>
  %3 = graph.host_call "ReduceSum"(%x, %axes) {keepdims = array<i64: 0>} : (tensor<?x?xf32>, tensor<?xi64>) -> tensor<*xf32>
  %0 = graph.host_call "ReduceMin"(%x, %axes) {} : (tensor<?x?xf32>, tensor<?xi64>) -> tensor<*xf32>
  %1 = graph.host_call "Transpose"(%x) {perm = array<i64: 1, 0>} : (tensor<?x?xf32>) -> tensor<*xf32>
  %2 = graph.host_call "ReduceMax"(%1, %one) {keepdims = array<i64: 0>} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
  return %0, %2, %3 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// A computed shape gives a rank by its length: of an image from blocks of channels, two dims and one
// more. Loops over rows keep ranks. A gather of rows has the length of a row, which is not known.
// CHECK-LABEL: func.func @main
// CHECK: graph.host_call "Softmax"({{.*}}generated_for = array<i64: 1, 1, 3, -1, 1, 3, -1>
// CHECK: graph.host_call "Softmax"({{.*}}generated_for = array<i64: 1, 1, 2, -1, 1, 2, -1>
// CHECK: graph.host_call "Softmax"(%{{[0-9]+}}) {axis = array<i64: -1>} :
func.func @main(%blocks: tensor<?x2x?x?x16xf32>, %matrix: tensor<?x?xi64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %zero = graph.constant dense<0> : tensor<1xi64>
  %two = graph.constant dense<2> : tensor<1xi64>
  %rest = graph.constant dense<-1> : tensor<1xi64>
  %first = graph.constant dense<0> : tensor<i64>
  %image = graph.host_call "UnblockChannels"(%blocks) {channels = array<i64: 32>} : (tensor<?x2x?x?x16xf32>) -> tensor<*xf32>
  %shape = graph.host_call "Shape"(%image) {} : (tensor<*xf32>) -> tensor<*xi64>
  %front = graph.host_call "Slice"(%shape, %zero, %two, %zero) {} : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %dims = graph.host_call "Concat"(%front, %rest) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %lines = graph.host_call "Reshape"(%image, %dims) {allowzero = array<i64: 0>} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  %rows = func.call @rows(%lines) : (tensor<*xf32>) -> tensor<*xf32>
  %0 = graph.host_call "Softmax"(%rows) {axis = array<i64: -1>} : (tensor<*xf32>) -> tensor<*xf32>
  %batch = graph.host_call "Gather"(%shape, %first) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %one = graph.host_call "Unsqueeze"(%batch, %zero) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %pair = graph.host_call "Concat"(%one, %rest) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %flat = graph.host_call "Reshape"(%image, %pair) {allowzero = array<i64: 0>} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  %1 = graph.host_call "Softmax"(%flat) {axis = array<i64: -1>} : (tensor<*xf32>) -> tensor<*xf32>
  %row = graph.host_call "Gather"(%matrix, %first) {axis = array<i64: 0>} : (tensor<?x?xi64>, tensor<i64>) -> tensor<*xi64>
  %any = graph.host_call "Reshape"(%image, %row) {allowzero = array<i64: 0>} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  %2 = graph.host_call "Softmax"(%any) {axis = array<i64: -1>} : (tensor<*xf32>) -> tensor<*xf32>
  return %0, %1, %2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}
func.func private @rows(tensor<*xf32>) -> tensor<*xf32> attributes {host.rows}
