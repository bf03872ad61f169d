// RUN: atc-opt %s -split-input-file --kernel-assign-layout --kernel-assign-halo --cpu-lower-graph | FileCheck %s

// The rows that a register tile reads together would be in one set of the cache: they are padded by a
// line, from the first product through the map, which can run in place, to the second.

// CHECK-LABEL: func.func @main
// CHECK: %[[H:.*]] = om.alloc : memref<20x1040xf32>
// CHECK: cpu.matmul {{.*}}memref<1x20x1024xf32, strided<[20800, 1040, 1]>>
// CHECK: %[[FROM:.*]] = om.view %[[H]][0] : memref<20x1040xf32> to memref<20x1024xf32, strided<[1040, 1]>>
// CHECK: om.alloc : memref<20x1040xf32>
// CHECK: kernel.map %[[FROM]] {{.*}}memref<20x1024xf32, strided<[1040, 1]>>
// CHECK-NOT: kernel.copy
// CHECK: cpu.matmul {{.*}} : memref<1x20x1024xf32, strided<[20800, 1040, 1]>>
func.func @main(%x: tensor<20x16xf32>) -> tensor<20x32xf32> {
  %v = graph.constant dense<1.0> : tensor<1024x16xf32>
  %w = graph.constant dense<1.0> : tensor<32x1024xf32>
  %0 = graph.fully_connected %x, %v : (tensor<20x16xf32>, tensor<1024x16xf32>) -> tensor<20x1024xf32>
  %1 = graph.tanh %0 : (tensor<20x1024xf32>) -> tensor<20x1024xf32>
  %2 = graph.fully_connected %1, %w : (tensor<20x1024xf32>, tensor<32x1024xf32>) -> tensor<20x32xf32>
  return %2 : tensor<20x32xf32>
}

// -----

// Rows that are in different sets, and a tensor that something else reads, too.

// CHECK-LABEL: func.func @main
// CHECK-NOT: memref<{{.*}}784
// CHECK-NOT: memref<{{.*}}1040
func.func @main(%x: tensor<20x16xf32>) -> (tensor<20x32xf32>, tensor<20x32xf32>, tensor<20x1xf32>) {
  %v = graph.constant dense<1.0> : tensor<768x16xf32>
  %w = graph.constant dense<1.0> : tensor<32x768xf32>
  %0 = graph.fully_connected %x, %v : (tensor<20x16xf32>, tensor<768x16xf32>) -> tensor<20x768xf32>
  %1 = graph.fully_connected %0, %w : (tensor<20x768xf32>, tensor<32x768xf32>) -> tensor<20x32xf32>
  %t = graph.constant dense<1.0> : tensor<1024x16xf32>
  %u = graph.constant dense<1.0> : tensor<32x1024xf32>
  %2 = graph.fully_connected %x, %t : (tensor<20x16xf32>, tensor<1024x16xf32>) -> tensor<20x1024xf32>
  %3 = graph.fully_connected %2, %u : (tensor<20x1024xf32>, tensor<32x1024xf32>) -> tensor<20x32xf32>
  %4 = graph.reduce %2 {kind = #graph<reduce_kind max>, axes = array<i64: 1>, keepdims = true} : (tensor<20x1024xf32>) -> tensor<20x1xf32>
  return %1, %3, %4 : tensor<20x32xf32>, tensor<20x32xf32>, tensor<20x1xf32>
}
