// RUN: atc-opt %s --split-input-file --graph-fuse-elementwise --kernel-assign-layout --kernel-assign-halo --cpu-lower-graph --cpu-fuse-residuals | FileCheck %s
// RUN: atc-opt %s --split-input-file --graph-fuse-elementwise --kernel-assign-layout --kernel-assign-halo --cpu-lower-graph --cpu-fuse-residuals --remarks-filter=cpu-fuse-residuals --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @main
// CHECK-NOT: kernel.map
// CHECK: cpu.matmul %{{.*}}, %{{.*}} bias %{{.*}} residual %{{.*}} outs %{{.*}} {om.tensor = tensor<2x3x8xf32>, packed} : memref<1x6x4xf32>, memref<1x4x16xf32>, memref<16xf32>, memref<1x6x8xf32>, memref<1x6x8xf32>
// CHECK-NOT: kernel.map
// REMARK: [Passed] {{.*}}the addition becomes the residual
func.func @main(%x: tensor<2x3x4xf32>, %r: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %w = graph.constant dense<2.0> : tensor<8x4xf32>
  %b = graph.constant dense<3.0> : tensor<8xf32>
  %0 = graph.fully_connected %x, %w bias %b : (tensor<2x3x4xf32>, tensor<8x4xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  %1 = graph.add %r, %0 : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %1 : tensor<2x3x8xf32>
}

// -----

// The product is a result, too; an activation comes between; a row is added to all rows.

// CHECK-LABEL: func.func @main
// CHECK-NOT: residual
// REMARK: [Missed] {{.*}}the addition stays a kernel: something else reads the product
func.func @main(%x: tensor<3x4xf32>, %r: tensor<3x8xf32>, %row: tensor<1x8xf32>) -> (tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>) {
  %u = graph.constant dense<2.0> : tensor<8x4xf32>
  %v = graph.constant dense<3.0> : tensor<8x4xf32>
  %w = graph.constant dense<4.0> : tensor<8x4xf32>
  %0 = graph.fully_connected %x, %u : (tensor<3x4xf32>, tensor<8x4xf32>) -> tensor<3x8xf32>
  %1 = graph.add %0, %r : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %2 = graph.fully_connected %x, %v {activation = #graph.activation<relu>} : (tensor<3x4xf32>, tensor<8x4xf32>) -> tensor<3x8xf32>
  %3 = graph.add %2, %r : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %4 = graph.fully_connected %x, %w : (tensor<3x4xf32>, tensor<8x4xf32>) -> tensor<3x8xf32>
  %5 = graph.add %4, %row : (tensor<3x8xf32>, tensor<1x8xf32>) -> tensor<3x8xf32>
  return %0, %1, %3, %5 : tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>
}
