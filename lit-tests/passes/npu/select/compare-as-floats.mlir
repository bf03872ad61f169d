// RUN: atc-opt %s --npu-compare-as-floats --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: kernel.map %arg0 outs %arg2
// CHECK: %[[M:.*]] = arith.sitofp %{{.*}} : i64 to f32
// CHECK: arith.cmpf une, %[[M]], %{{.*}} : f32
// CHECK: %[[POSITIONS:.*]] = om.weight
// CHECK: kernel.map %{{.*}}, %[[POSITIONS]] outs %arg3
// CHECK: arith.cmpf olt
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%mask: memref<64xi64>, %length: memref<1xi32>, %y: memref<64xi1> {om.output}, %z: memref<4xi1> {om.output}) {
  kernel.map %mask outs %y : memref<64xi64>, memref<64xi1> {
  ^bb0(%m: i64):
    %zero = arith.constant 0 : i64
    %c = arith.cmpi ne, %m, %zero : i64
    kernel.yield %c : i1
  }
  %positions = om.weight dense<[0, 1, 2, 16777215]> : tensor<4xi32> : memref<4xi32>
  %wide = om.view %length[0] : memref<1xi32> to memref<4xi32, strided<[0]>>
  kernel.map %wide, %positions outs %z : memref<4xi32, strided<[0]>>, memref<4xi32>, memref<4xi1> {
  ^bb0(%l: i32, %p: i32):
    %c = arith.cmpi slt, %p, %l : i32
    kernel.yield %c : i1
  }
  return
}
}

// -----

// 2^24 + 1 is no number of f32, and what a run brings may be as large. Sums of integers, and
// comparisons without sign, are no floats either.
// CHECK-LABEL: func.func @main
// CHECK-NOT: arith.cmpf
// CHECK: return
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%a: memref<64xi64>, %b: memref<64xi64>, %y: memref<64xi1> {om.output}) {
  kernel.map %a outs %y : memref<64xi64>, memref<64xi1> {
  ^bb0(%l: i64):
    %large = arith.constant 16777216 : i64
    %c = arith.cmpi eq, %l, %large : i64
    kernel.yield %c : i1
  }
  kernel.map %a, %b outs %y : memref<64xi64>, memref<64xi64>, memref<64xi1> {
  ^bb0(%l: i64, %r: i64):
    %c = arith.cmpi eq, %l, %r : i64
    kernel.yield %c : i1
  }
  kernel.map %a, %b outs %y : memref<64xi64>, memref<64xi64>, memref<64xi1> {
  ^bb0(%l: i64, %r: i64):
    %zero = arith.constant 0 : i64
    %s = arith.addi %l, %r : i64
    %c = arith.cmpi eq, %s, %zero : i64
    kernel.yield %c : i1
  }
  kernel.map %a outs %y : memref<64xi64>, memref<64xi1> {
  ^bb0(%l: i64):
    %one = arith.constant 1 : i64
    %c = arith.cmpi ult, %l, %one : i64
    kernel.yield %c : i1
  }
  return
}
}
