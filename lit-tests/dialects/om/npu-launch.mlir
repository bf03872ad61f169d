// RUN: atc-opt %s | atc-opt | FileCheck %s

npu.program @p(%a: !npu.buffer<gm, 16>, %b: !npu.buffer<gm, 16>) grid(%x = 1) soc "Ascend310P3" {
}

// CHECK-LABEL: func.func @main
func.func @main(%in: memref<4xf32>, %out: memref<4xf32> {om.output}) {
  %w = om.weight dense<1.0> : tensor<4xf32> : memref<4xf32>
  %v = om.weight dense<2.0> : tensor<8xf16> : memref<8xf16>
  %a = om.alloc : memref<8xf32>
  %h = om.view %a[16] : memref<8xf32> to memref<4xf32>
  // CHECK: om.launch @p(%{{.*}}, %{{.*}}) prefetch(%{{.*}}, %{{.*}} : memref<4xf32>, memref<8xf16>) {cost = 8 : i64} : memref<4xf32>, memref<4xf32>
  om.launch @p(%in, %h) prefetch(%w, %v : memref<4xf32>, memref<8xf16>) {cost = 8 : i64}
    : memref<4xf32>, memref<4xf32>
  // CHECK: om.launch @p(%{{.*}}, %{{.*}}) {chained, cost = 8 : i64} : memref<4xf32>, memref<4xf32>
  om.launch @p(%h, %out) {chained, cost = 8 : i64} : memref<4xf32>, memref<4xf32>
  return
}
