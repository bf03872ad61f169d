// RUN: atc-opt %s --cpu-select-tiles --cpu-expand-integer-conv --split-input-file | FileCheck %s

// CHECK-LABEL: func private @avx2
// CHECK: llvm.x86.avx2.pmadd.ub.sw
// CHECK: arith.addi {{.*}} vector<16xi16>
// CHECK: llvm.x86.avx2.pmadd.wd
// CHECK: scf.yield
// CHECK: llvm.arithmetic.fence
// CHECK: vector.store {{.*}} vector<16xi8>
module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 524288, dot = "maddubs">} {
  func.func private @avx2(%x: memref<1x1x6x6x16xi8>, %w: memref<1x36x16x4xi8>, %s: memref<1x36xi32>, %b: memref<16xi32>, %m: memref<16xf32>, %y: memref<1x1x4x4x16xi8>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_conv2d %x, %w, %s, %b inputs %m outs %y {strides = array<i64: 1, 1>, group = 2 : i64, products = 36864 : i64} : memref<1x1x6x6x16xi8>, memref<1x36x16x4xi8>, memref<1x36xi32>, memref<16xi32>, memref<16xf32>, memref<1x1x4x4x16xi8> {
    ^bb0(%sum: i32, %scale: f32):
      %0 = arith.sitofp %sum : i32 to f32
      %1 = arith.mulf %0, %scale : f32
      %2 = arith.fptoui %1 : f32 to i8
      cpu.integer_yield %2 : i8
    }
    return
  }
}

// -----

// CHECK-LABEL: func private @vnni
// CHECK-NOT: pmadd
// CHECK: llvm.x86.avx512.vpdpbusd.512
module attributes {cpu.level = #cpu.level<name = "vnni", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 1048576, dot = "vnni">} {
  func.func private @vnni(%x: memref<1x1x6x6x16xi8>, %w: memref<1x36x16x4xi8>, %s: memref<1x36xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_conv2d %x, %w, %s, %b outs %y {strides = array<i64: 1, 1>, group = 2 : i64, products = 36864 : i64} : memref<1x1x6x6x16xi8>, memref<1x36x16x4xi8>, memref<1x36xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
    return
  }
}

// -----

// Without such an instruction there are multiplications.
// CHECK-LABEL: func private @plain
// CHECK-NOT: llvm.x86
// CHECK: arith.muli
module attributes {cpu.level = #cpu.level<name = "neon", lanes = 4, registers = 32, fma = true, l1 = 32768, l2 = 524288>} {
  func.func private @plain(%x: memref<1x1x6x6x16xi8>, %w: memref<1x3x3x16xi16>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_depthwise %x, %w, %b outs %y {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : memref<1x1x6x6x16xi8>, memref<1x3x3x16xi16>, memref<16xi32>, memref<1x1x4x4x16xi32>
    return
  }
}

// -----

// By magnitude: bits are inverted where the weight is negative (and 128 is taken from bytes
// without a sign), the side without a sign are the magnitudes, and vectors take turns.
// CHECK-LABEL: func private @magnitude
// CHECK-COUNT-2: scf.for {{.*}} iter_args
// CHECK: %[[FLIP:.*]] = arith.shrsi
// CHECK: %[[INVERT:.*]] = arith.xori %[[FLIP]], %{{.*}} : vector<32xi8>
// CHECK: %[[ABS:.*]] = math.absi
// CHECK: %[[X:.*]] = arith.xori %{{.*}}, %[[INVERT]] : vector<32xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"(%[[ABS]], %[[X]])
module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 524288, dot = "maddubs">} {
  func.func private @magnitude(%x: memref<1x1x6x6x16xi8>, %w: memref<1x36x16x4xi8>, %s: memref<1x36xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_conv2d %x, %w, %s, %b outs %y {strides = array<i64: 1, 1>, group = 1 : i64, by_magnitude, products = 36864 : i64} : memref<1x1x6x6x16xi8>, memref<1x36x16x4xi8>, memref<1x36xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
    return
  }
}
