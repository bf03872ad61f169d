// RUN: atc-opt %s --npu-split-borders | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: %[[TOP:.*]] = om.view %arg0[0] : memref<1x8x9x9xf16> to memref<1x8x1x9xf16
// CHECK: kernel.fill %[[TOP]] {value = 1.0{{.*}} : f64}
// CHECK: %[[RIGHT:.*]] = om.view %arg0[32] : memref<1x8x9x9xf16> to memref<1x8x8x2xf16
// CHECK: kernel.fill %[[RIGHT]] {value = 1.0{{.*}} : f64}
// The whole buffer has no sides.
// CHECK: kernel.fill %arg1 {value = 2.0
// Elements that the vector unit cannot fill stay, without leftovers.
// CHECK-NOT: om.view
// CHECK: kernel.fill %arg2 {border = array<i64: 1, 1, 1, 1>
// CHECK: return
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<1x8x9x9xf16> {om.output}, %y: memref<1x8x9x9xf16> {om.output}, %z: memref<1x8x9x9xi64> {om.output}) {
  kernel.fill %x {border = array<i64: 1, 0, 0, 2>, value = 1.0 : f64} : memref<1x8x9x9xf16>
  kernel.fill %y {value = 2.0 : f64} : memref<1x8x9x9xf16>
  kernel.fill %z {border = array<i64: 1, 1, 1, 1>, value = 0.0 : f64} : memref<1x8x9x9xi64>
  return
}
}
