// RUN: atc-opt --kernel-outline --mlir-print-debuginfo %s | FileCheck %s


// CHECK-LABEL: func.func @main
func.func @main(%in: memref<1x4x8x8xf32>, %out: memref<1x4x8x8xf32>) {
  %a = om.alloc : memref<1x4x8x8xf32>
  %b = om.alloc : memref<1x4x8x8xf32>
  %c = om.alloc : memref<1x2x8x8xf32>
  %view = om.view %a[512] : memref<1x4x8x8xf32> to memref<1x2x8x8xf32, strided<[256, 64, 8, 1]>>

  // The same body twice is one kernel; locations and om.tensor do not count.
  // CHECK: om.launch @map_addf(%arg0, %arg0, %[[A:[0-9]+]]) {cost = 256 : i64, in_place = array<i64: 0, 1>, macs = 0 : i64, tensor = tensor<1x4x8x8xf32>}
  // CHECK-SAME: loc(#[[FIRST:.*]])
  kernel.map %in, %in outs %a {om.tensor = tensor<1x4x8x8xf32>} : memref<1x4x8x8xf32>, memref<1x4x8x8xf32>, memref<1x4x8x8xf32> {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    kernel.yield %s : f32
  } loc("first")
  // CHECK: om.launch @map_addf(%[[A]], %arg0, %[[B:[0-9]+]]) {cost = 256 : i64, in_place = array<i64: 0, 1>, macs = 0 : i64}
  kernel.map %a, %in outs %b : memref<1x4x8x8xf32>, memref<1x4x8x8xf32>, memref<1x4x8x8xf32> {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    kernel.yield %s : f32
  } loc("second")

  // Another order of operands, other types or another attribute is another kernel.
  // CHECK: om.launch @map_addf_1(
  kernel.map %a, %in outs %b : memref<1x4x8x8xf32>, memref<1x4x8x8xf32>, memref<1x4x8x8xf32> {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %y, %x : f32
    kernel.yield %s : f32
  }
  // CHECK: om.launch @copy(
  kernel.copy %view, %c : memref<1x2x8x8xf32, strided<[256, 64, 8, 1]>>, memref<1x2x8x8xf32>
  // CHECK: om.launch @fill_border(%{{[0-9]+}}) {cost = 112 : i64, macs = 0 : i64}
  kernel.fill %a {value = 0.0 : f64, border = array<i64: 1, 1, 1, 1>} : memref<1x4x8x8xf32>
  // CHECK: om.launch @fill_border_1(
  kernel.fill %a {value = 1.0 : f64, border = array<i64: 1, 1, 1, 1>} : memref<1x4x8x8xf32>
  // CHECK: om.launch @fill_border(%[[B]])
  kernel.fill %b {value = 0.0 : f64, border = array<i64: 1, 1, 1, 1>} : memref<1x4x8x8xf32>
  return
}

// Where the result may take an operand's place the two may overlap.
// CHECK: func.func private @map_addf(
// CHECK-SAME: memref<1x4x8x8xf32> {llvm.readonly}
// CHECK-SAME: memref<1x4x8x8xf32> {llvm.readonly}
// CHECK-SAME: memref<1x4x8x8xf32> loc(
// CHECK-SAME: index
// CHECK-SAME: index
// CHECK-SAME: attributes {cpu.kernel}
// CHECK-NEXT: kernel.map %arg0, %arg1 outs %arg2 :
// CHECK: func.func private @copy(
// CHECK-SAME: strided<[256, 64, 8, 1]>> {llvm.noalias, llvm.readonly}
// CHECK-SAME: memref<1x2x8x8xf32> {llvm.noalias}
// CHECK: #[[FIRST]] = loc("first")
