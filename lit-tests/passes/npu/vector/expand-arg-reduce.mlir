// RUN: atc-opt %s --npu-expand-arg-reduce | FileCheck %s

// Along rows: the maximum, the elements that equal it, and the maximum of numbers that count down.
// CHECK-LABEL: npu.program @largest
// CHECK: npu.vector "reduce_max"
// CHECK: npu.vector "equal"
// CHECK-NEXT: npu.vector "mul"
// CHECK: npu.vector "reduce_max"
// CHECK: npu.vector "cast"
// CHECK-NEXT: npu.move
func.func private @largest(%x: memref<5x300xf16>, %y: memref<5x1xi64>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.arg_reduce %x, %y {axis = 1 : i64} : memref<5x300xf16>, memref<5x1xi64>
  return
}

// Along another dim: runs of elements are compared with the best ones so far.
// CHECK-LABEL: npu.program @columns
// CHECK-NOT: npu.vector "reduce_max"
// CHECK: npu.vector "less"
// CHECK: npu.vector "select"
// CHECK: npu.vector "select"
// CHECK: npu.vector "cast"
// CHECK-NEXT: npu.move
func.func private @columns(%x: memref<3x40xf32>, %y: memref<1x40xi64>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.arg_reduce %x, %y {axis = 0 : i64, smallest} : memref<3x40xf32>, memref<1x40xi64>
  return
}

// What is no kernel of the NPU stays.
// CHECK-LABEL: func.func private @other
// CHECK: kernel.arg_reduce
func.func private @other(%x: memref<5x300xf16>, %y: memref<5x1xi64>) {
  kernel.arg_reduce %x, %y {axis = 1 : i64} : memref<5x300xf16>, memref<5x1xi64>
  return
}
