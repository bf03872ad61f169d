// RUN: atc-opt %s | atc-opt | FileCheck %s

func.func private @k(memref<4x4xf32>, memref<4xf32>, memref<4x4xf32, strided<[8, 1]>>, index, index)

// CHECK-LABEL: func.func @main
func.func @main(%in: memref<4x4xf32>) {
  // CHECK: om.weight dense<1.000000e+00> : tensor<4xf32> : memref<4xf32>
  %w = om.weight dense<1.0> : tensor<4xf32> : memref<4xf32>
  // CHECK: om.alloc {offset = 128 : i64} : memref<4x8xf32>
  %a = om.alloc {offset = 128 : i64} : memref<4x8xf32>
  // CHECK: om.view %{{.*}}[16] : memref<4x8xf32> to memref<4x4xf32, strided<[8, 1]>>
  %v = om.view %a[16] : memref<4x8xf32> to memref<4x4xf32, strided<[8, 1]>>
  // A view without elements, whose stride is not known, has no bytes.
  // CHECK: om.view %{{.*}}[128] : memref<4x8xf32> to memref<3x0xf32>
  %none = om.view %a[128] : memref<4x8xf32> to memref<3x0xf32>
  // CHECK: om.launch @k(%{{.*}}, %{{.*}}, %{{.*}}) {cost = 16 : i64, in_place = array<i64: 0>, tensor = tensor<4x4xf32>}
  om.launch @k(%in, %w, %v) {cost = 16 : i64, in_place = array<i64: 0>, tensor = tensor<4x4xf32>}
    : memref<4x4xf32>, memref<4xf32>, memref<4x4xf32, strided<[8, 1]>>
  return
}
