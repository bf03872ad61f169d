// RUN: atc-opt %s -split-input-file -host-tile-rows=sizes=8 | FileCheck %s
// RUN: atc-opt %s -split-input-file -host-tile-rows | FileCheck %s --check-prefix=SIZES

// A product, its bias and activation and what follows them are one loop, whatever the dims in front
// of the rows are; a sum of two values of the region is part of it.
// CHECK-LABEL: func.func @main
// CHECK: %[[Y:.*]] = call @rows_0(%arg0) : (tensor<?x?x64xf32>) -> tensor<*xf32>
// CHECK-NEXT: return %[[Y]]
// CHECK: func.func private @rows_0_8(%[[X:.*]]: tensor<8x64xf32>) -> tensor<8x64xf32> attributes {host.part}
// CHECK: %[[A:.*]] = graph.matmul %[[X]], %{{.*}} : (tensor<8x64xf32>, tensor<64x96xf32>) -> tensor<8x96xf32>
// CHECK: %[[B:.*]] = graph.add %{{.*}}, %[[A]] : (tensor<96xf32>, tensor<8x96xf32>) -> tensor<8x96xf32>
// CHECK: %[[C:.*]] = graph.gelu %[[B]]
// CHECK: %[[D:.*]] = graph.matmul %[[C]]
// CHECK: graph.add %[[D]], %[[X]]
// CHECK: func.func private @rows_0_1(%{{.*}}: tensor<1x64xf32>) -> tensor<1x64xf32> attributes {host.part}
// SIZES: host.tile_sizes = array<i64: 128, 72, 32, 16, 8, 1>
// CHECK: func.func private @rows_0(tensor<?x?x64xf32>) -> tensor<*xf32> attributes {host.input_dims = array<i64: 0>, host.output_dims = array<i64: 0>, host.rows, host.tile_sizes = array<i64: 8, 1>, host.tiles = [@rows_0_8, @rows_0_1]}
func.func @main(%x: tensor<?x?x64xf32>) -> tensor<*xf32> {
  %v = graph.constant dense<1.0> : tensor<64x96xf32>
  %b = graph.constant dense<1.0> : tensor<96xf32>
  %w = graph.constant dense<1.0> : tensor<96x64xf32>
  %0 = graph.host_call "MatMul"(%x, %v) {} : (tensor<?x?x64xf32>, tensor<64x96xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Add"(%b, %0) {} : (tensor<96xf32>, tensor<*xf32>) -> tensor<*xf32>
  %2 = graph.host_call "Gelu"(%1) {} : (tensor<*xf32>) -> tensor<*xf32>
  %3 = graph.host_call "MatMul"(%2, %w) {} : (tensor<*xf32>, tensor<96x64xf32>) -> tensor<*xf32>
  %4 = graph.host_call "Add"(%3, %x) {} : (tensor<*xf32>, tensor<?x?x64xf32>) -> tensor<*xf32>
  return %4 : tensor<*xf32>
}

// -----

// Normalization of rows joins, as one call or as its parts. The width of the sum, which nothing
// states, is that of the product that reads it.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = graph.host_call "Add"(%arg0, %arg1)
// CHECK-NEXT: %[[R:.*]]:2 = call @rows_0(%[[S]])
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1
// CHECK: func.func private @rows_0_8
// CHECK: graph.reduce {{.*}}axes = array<i64: 1>
// CHECK: graph.matmul
// CHECK: graph.rsqrt
// CHECK: graph.matmul
func.func @main(%x: tensor<*xf32>, %y: tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %w = graph.constant dense<1.0> : tensor<64x64xf32>
  %g = graph.constant dense<1.0> : tensor<64xf32>
  %a = graph.constant dense<-1> : tensor<1xi64>
  %s = graph.host_call "Add"(%x, %y) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %q = graph.host_call "MatMul"(%s, %w) {} : (tensor<*xf32>, tensor<64x64xf32>) -> tensor<*xf32>
  %m = graph.host_call "ReduceMean"(%s, %a) {} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
  %c = graph.host_call "Sub"(%s, %m) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %k = graph.host_call "MatMul"(%c, %w) {} : (tensor<*xf32>, tensor<64x64xf32>) -> tensor<*xf32>
  %l = graph.host_call "LayerNormalization"(%k, %g, %g) {} : (tensor<*xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<*xf32>
  %n = graph.host_call "MatMul"(%l, %w) {} : (tensor<*xf32>, tensor<64x64xf32>) -> tensor<*xf32>
  return %q, %n : tensor<*xf32>, tensor<*xf32>
}

// -----

// What has no product, products of two values, a mean over a dim counted from the front, small
// matrices, integers and a bias of more dims stay calls.
// CHECK-LABEL: func.func @main
// CHECK-NOT: call @rows
// CHECK: return
func.func @main(%x: tensor<?x64xf32>, %i: tensor<?x64xi32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xi32>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %w = graph.constant dense<1.0> : tensor<64x8xf32>
  %j = graph.constant dense<1> : tensor<64x64xi32>
  %r = graph.host_call "Relu"(%x) {} : (tensor<?x64xf32>) -> tensor<*xf32>
  %p = graph.host_call "MatMul"(%x, %r) {} : (tensor<?x64xf32>, tensor<*xf32>) -> tensor<*xf32>
  %m = graph.host_call "ReduceMean"(%x, %a) {} : (tensor<?x64xf32>, tensor<1xi64>) -> tensor<*xf32>
  %s = graph.host_call "MatMul"(%x, %w) {} : (tensor<?x64xf32>, tensor<64x8xf32>) -> tensor<*xf32>
  %t = graph.host_call "MatMul"(%i, %j) {} : (tensor<?x64xi32>, tensor<64x64xi32>) -> tensor<*xi32>
  return %r, %p, %m, %s, %t : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xi32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK: call @rows_0(%arg0)
// CHECK: func.func private @rows_0_8
// CHECK: %[[W:.*]] = graph.transpose %{{.*}} -> tensor<64x96xf32>
// CHECK: %[[P:.*]] = graph.matmul %{{.*}}, %[[W]]
// CHECK: graph.add %[[P]]
func.func @main(%x: tensor<?x?xf32>) -> tensor<*xf32> {
  %w = graph.constant dense<1.0> : tensor<96x64xf32>
  %b = graph.constant dense<1.0> : tensor<96xf32>
  %0 = graph.host_call "Gemm"(%x, %w, %b) {transB = array<i64: 1>} : (tensor<?x?xf32>, tensor<96x64xf32>, tensor<96xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// The rows of a bias [6, 64] are not all the same: the add stays, the product does not.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = call @rows_0
// CHECK: graph.host_call "Add"(%[[A]]
func.func @main(%x: tensor<?x6x64xf32>) -> tensor<*xf32> {
  %w = graph.constant dense<1.0> : tensor<64x64xf32>
  %b = graph.constant dense<1.0> : tensor<6x64xf32>
  %0 = graph.host_call "MatMul"(%x, %w) {} : (tensor<?x6x64xf32>, tensor<64x64xf32>) -> tensor<*xf32>
  %1 = graph.host_call "Add"(%0, %b) {} : (tensor<*xf32>, tensor<6x64xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}
