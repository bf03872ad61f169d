// RUN: atc-opt %s -split-input-file -cpu-fuse-element-calls | FileCheck %s

// Calls whose results only the next one reads are one map, also where its other operand may
// broadcast: an addition is cheaper than to store its result. Scalars become part of the code. The
// element types that the code is for are stated.
// CHECK-LABEL: func.func @main
// The call knows its nodes, as operands of the first one may not broadcast.
// CHECK: %[[R:.*]] = graph.host_call "Map"(%arg0, %arg1) {generated_for = array<i64: 1, 1, -1, -1, 1, -1, -1, -1, -1, -1>, nodes = ["", ""], operands = array<i64: 2, 0, 1, 1, -1>, to = array<i64: 1>} {om.body = @map_0}
// CHECK-NEXT: return %[[R]]
// CHECK: func.func private @map_0(%[[X:.*]]: memref<1024xf32> {llvm.noalias, llvm.readonly}, %[[Y:.*]]: memref<1024xf32> {llvm.noalias, llvm.readonly}, %[[TO:.*]]: memref<1024xf32> {llvm.noalias}, %{{.*}}: index, %{{.*}}: index) attributes {cpu.kernel, om.called}
// CHECK: kernel.map %[[X]], %[[Y]] outs %[[TO]]
// CHECK: arith.addf
// CHECK: arith.mulf
// CHECK: kernel.yield
func.func @main(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<*xf32> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.host_call "Add"(%x, %y) {} : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Mul"(%0, %half) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// An exponential is not computed again for each index of a dim that only the other operand has.
// x * sigmoid(x) has no such dim.
// CHECK-LABEL: func.func @main
// CHECK: %[[E:.*]] = graph.host_call "Map"(%arg0)
// CHECK: graph.host_call "Map"(%[[E]], %arg1)
// CHECK: graph.host_call "Map"(%arg1) {{.*}} {om.body = @map_2}
func.func @main(%x: tensor<?xf32>, %y: tensor<?x?xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = graph.host_call "Exp"(%x) {} : (tensor<?xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Add"(%0, %y) {} : (tensor<*xf32>, tensor<?x?xf32>) -> tensor<*xf32>
  %2 = graph.host_call "Sigmoid"(%y) {} : (tensor<?x?xf32>) -> tensor<*xf32>
  %3 = graph.host_call "Mul"(%2, %y) {} : (tensor<*xf32>, tensor<?x?xf32>) -> tensor<*xf32>
  return %1, %3 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Calls on integers compute shapes and stay. Equal code is there once.
// CHECK-LABEL: func.func @main
// CHECK: graph.host_call "Add"(%arg1, %arg1)
// CHECK: graph.host_call "Map"(%arg0) {{.*}} {om.body = @map_0}
// CHECK: graph.host_call "Map"(%{{.*}}) {{.*}} {om.body = @map_0}
// CHECK-NOT: @map_1
func.func @main(%x: tensor<?xf32>, %n: tensor<?xi64>) -> (tensor<*xi64>, tensor<*xf32>, tensor<*xf32>) {
  %0 = graph.host_call "Add"(%n, %n) {} : (tensor<?xi64>, tensor<?xi64>) -> tensor<*xi64>
  %1 = graph.host_call "Tanh"(%x) {} : (tensor<?xf32>) -> tensor<*xf32>
  %2 = graph.host_call "Tanh"(%1) {} : (tensor<*xf32>) -> tensor<*xf32>
  return %0, %1, %2 : tensor<*xi64>, tensor<*xf32>, tensor<*xf32>
}

// -----

// The second operand of CastLike does not broadcast: the call stays.
// CHECK-LABEL: func.func @main
// CHECK: graph.host_call "CastLike"(%arg0, %arg1)
// CHECK-NEXT: graph.host_call "{{.*}}"({{.*}}) {{.*}}om.body
// CHECK-NOT: CastLike
func.func @main(%x: tensor<?xi32>, %y: tensor<?x?xf32>) -> tensor<*xf32> {
  %0 = graph.host_call "CastLike"(%x, %y) {} : (tensor<?xi32>, tensor<?x?xf32>) -> tensor<?xf32>
  %1 = graph.host_call "Exp"(%0) {} : (tensor<?xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}
