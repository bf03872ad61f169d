// RUN: atc-opt --kernel-outline %s | FileCheck %s

// Weights that code computes addresses from are marked, also behind a view; others are not.
// CHECK: om.weight dense<1> : tensor<36x16x4xi8>
// CHECK: om.weight {om.addresses} dense<2> : tensor<36xi32>
// CHECK: om.weight {om.addresses} dense<[0, 0, 36]> : tensor<3xi32>
// CHECK: om.weight dense<3> : tensor<16xi32>
// CHECK: om.launch @integer_conv2d(
func.func @main(%x: memref<1x1x6x6x16xi8>, %y: memref<1x1x4x4x16xi32>) {
  %w = om.weight dense<1> : tensor<36x16x4xi8> : memref<36x16x4xi8>
  %s = om.weight dense<2> : tensor<36xi32> : memref<36xi32>
  %all = om.weight dense<[0, 0, 36]> : tensor<3xi32> : memref<3xi32>
  %t = om.view %all[4] : memref<3xi32> to memref<2xi32>
  %b = om.weight dense<3> : tensor<16xi32> : memref<16xi32>
  cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 2>, by_magnitude = array<i1: false>, products = 36864 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
  return
}
