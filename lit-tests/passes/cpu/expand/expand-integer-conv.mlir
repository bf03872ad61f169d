// RUN: atc-opt %s --cpu-select-tiles --cpu-expand-integer-conv --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: func private @avx2
// CHECK: llvm.x86.avx2.pmadd.ub.sw
// CHECK: arith.addi {{.*}} vector<16xi16>
// CHECK: llvm.x86.avx2.pmadd.wd
// CHECK: scf.yield
// CHECK: llvm.arithmetic.fence
// CHECK: vector.store {{.*}} vector<16xi8>
module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 524288, dot = "maddubs">} {
  func.func private @avx2(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %m: memref<16xf32>, %y: memref<1x1x4x4x16xi8>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_conv2d %x, %w, %s, %t, %b inputs %m outs %y {strides = array<i64: 1, 1>, groups = array<i64: 2>, by_magnitude = array<i1: false>, products = 36864 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<16xf32>, memref<1x1x4x4x16xi8> {
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
  func.func private @vnni(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 2>, by_magnitude = array<i1: false>, products = 36864 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
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
  func.func private @magnitude(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: true>, products = 36864 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
    return
  }
}

// -----

// A run goes from its start to the next one, a group of steps at a time. Groups of several
// steps would need more registers than there are: what is left by the sums holds the weights
// of the first step, the others are loaded for each pixel, at places that the compiler cannot
// know to be the same.
// CHECK-LABEL: func private @memory
// CHECK-SAME: %{{[^:]*}}: memref<1x1x6x6x16xi8>, %{{[^:]*}}: memref<36x16x4xi8>, %{{[^:]*}}: memref<36xi32>, %[[STARTS:[^:]*]]: memref<2xi32>
// CHECK-DAG: %[[FILTER:.*]] = memref.reinterpret_cast {{.*}} to memref<2304xi8>
// CHECK: %[[BEGIN32:.*]] = memref.load %[[STARTS]][%c0{{.*}}] : memref<2xi32>
// CHECK-NEXT: %[[BEGIN:.*]] = arith.index_cast %[[BEGIN32]]
// CHECK-NEXT: %[[END32:.*]] = memref.load %[[STARTS]][%c1{{.*}}] : memref<2xi32>
// CHECK-NEXT: %[[END:.*]] = arith.index_cast %[[END32]]
// CHECK-COUNT-4: llvm.inline_asm has_side_effects "", "=r,0" %{{.*}} : (i64) -> i64
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c2{{.*}} iter_args
// CHECK: %[[AT:.*]] = arith.muli %{{.*}}, %c64
// Two vectors of 16 registers less eight sums and four others, halved.
// CHECK: %[[HELD0:.*]] = vector.load %[[FILTER]][%[[AT]]] {{.*}} vector<32xi8>
// CHECK: %[[HELD1:.*]] = vector.load %[[FILTER]]{{.*}} vector<32xi8>
// CHECK: %[[APART:.*]] = arith.addi %{{.*}}, %[[AT]]
// CHECK: arith.addi %[[APART]], %c64
// CHECK-NEXT: %[[OWN0:.*]] = vector.load %[[FILTER]]{{.*}} vector<32xi8>
// CHECK: arith.addi %[[APART]], %c96
// CHECK-NEXT: %[[OWN1:.*]] = vector.load %[[FILTER]]{{.*}} vector<32xi8>
// All vectors of a pixel meet a step's bytes before any meets the next one's.
// CHECK: "llvm.x86.avx2.pmadd.ub.sw"(%[[X0:.*]], %[[HELD0]])
// CHECK-NEXT: "llvm.x86.avx2.pmadd.ub.sw"(%[[X0]], %[[HELD1]])
// CHECK-NEXT: "llvm.x86.avx2.pmadd.ub.sw"(%[[X1:.*]], %[[OWN0]])
// CHECK: "llvm.x86.avx2.pmadd.ub.sw"(%[[X1]], %[[OWN1]])
// Two vectors for each of the other three pixels.
// CHECK-COUNT-6: vector.load %[[FILTER]]{{.*}} vector<32xi8>
// CHECK-NOT: vector.load %[[FILTER]]
// CHECK: "llvm.x86.avx2.pmadd.ub.sw"(%{{.*}}, %[[HELD0]])
// CHECK: scf.yield
module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 524288, dot = "maddubs">} {
  func.func private @memory(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 2>, by_magnitude = array<i1: false>, products = 36864 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
    return
  }
}

// -----

// Single steps share the weights of all pixels.
// CHECK-LABEL: func private @registers
// CHECK-NOT: llvm.inline_asm
// CHECK: %[[FILTER:.*]] = memref.reinterpret_cast {{.*}} to memref<2304xi8>
// CHECK-NOT: llvm.inline_asm
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-2: vector.load %[[FILTER]]{{.*}} vector<32xi8>
// CHECK-NOT: vector.load %[[FILTER]]
// CHECK: scf.yield
module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 524288, dot = "maddubs">} {
  func.func private @registers(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 36864 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
    return
  }
}

// -----

// So do levels with more registers.
// CHECK-LABEL: func private @many_registers
// CHECK-NOT: llvm.inline_asm
// CHECK: llvm.x86.avx512.pmaddubs.w.512
module attributes {cpu.level = #cpu.level<name = "v4", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 2097152, dot = "maddubs">} {
  func.func private @many_registers(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 4>, by_magnitude = array<i1: false>, products = 36864 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
    return
  }
}

// -----

// A loop for each run on the same sums, here once for either vector of channels: a start is
// the end of the run before.
// CHECK-LABEL: func private @runs
// CHECK-SAME: %[[STARTS:[^:]*]]: memref<3xi32>
// CHECK-NOT: llvm.inline_asm
// CHECK: memref.load %[[STARTS]][%c0{{.*}}]
// CHECK-NEXT: %[[PLAIN:.*]] = arith.index_cast
// CHECK-NEXT: memref.load %[[STARTS]][%c1{{.*}}]
// CHECK-NEXT: %[[PLAIN_END:.*]] = arith.index_cast
// CHECK: %[[SUMS:.*]]:8 = scf.for %{{.*}} = %[[PLAIN]] to %[[PLAIN_END]] step %c2
// CHECK-NOT: math.absi
// CHECK: scf.yield
// CHECK: memref.load %[[STARTS]][%c1{{.*}}]
// CHECK-NEXT: %[[MAGNITUDE:.*]] = arith.index_cast
// CHECK-NEXT: memref.load %[[STARTS]][%c2{{.*}}]
// CHECK-NEXT: %[[MAGNITUDE_END:.*]] = arith.index_cast
// CHECK: scf.for %{{.*}} = %[[MAGNITUDE]] to %[[MAGNITUDE_END]] step %c1{{.*}} iter_args(%{{.*}} = %[[SUMS]]#0,
// CHECK: math.absi
// CHECK: scf.yield
// CHECK: scf.for {{.*}} step %c2{{.*}} iter_args
// CHECK: scf.for {{.*}} step %c1{{.*}} iter_args
// CHECK-NOT: iter_args
// CHECK: return
module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 524288, dot = "maddubs">} {
  func.func private @runs(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<3xi32>, %b: memref<16xi32>, %y: memref<1x1x4x4x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 2, 1>, by_magnitude = array<i1: false, true>, products = 36864 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<3xi32>, memref<16xi32>, memref<1x1x4x4x16xi32>
    return
  }
}

// -----

// Each block has three starts, and the next one's first is its end.
// CHECK-LABEL: func private @blocks
// CHECK-SAME: %[[STARTS:[^:]*]]: memref<7xi32>
// CHECK: %[[AT:.*]] = arith.muli %{{.*}}, %c3{{.*}} : index
// CHECK-NEXT: memref.load %[[STARTS]][%[[AT]]]
// CHECK: %[[AT1:.*]] = arith.addi %[[AT]], %c1{{.*}} : index
// CHECK-NEXT: memref.load %[[STARTS]][%[[AT1]]]
// CHECK: scf.for {{.*}} step %c4{{.*}} iter_args
// CHECK: %[[AT:.*]] = arith.muli %{{.*}}, %c3{{.*}} : index
// CHECK-NEXT: %[[AT1:.*]] = arith.addi %[[AT]], %c1{{.*}} : index
// CHECK-NEXT: memref.load %[[STARTS]][%[[AT1]]]
// CHECK: %[[AT2:.*]] = arith.addi %[[AT]], %c2{{.*}} : index
// CHECK-NEXT: memref.load %[[STARTS]][%[[AT2]]]
// CHECK: scf.for {{.*}} step %c2{{.*}} iter_args
// CHECK: %[[AT:.*]] = arith.muli %{{.*}}, %c3{{.*}} : index
// CHECK-NEXT: %[[AT2:.*]] = arith.addi %[[AT]], %c2{{.*}} : index
// CHECK-NEXT: memref.load %[[STARTS]][%[[AT2]]]
// CHECK: %[[AT3:.*]] = arith.addi %[[AT]], %c3{{.*}} : index
// CHECK-NEXT: memref.load %[[STARTS]][%[[AT3]]]
// CHECK: scf.for {{.*}} step %c1{{.*}} iter_args
// CHECK: return
module attributes {cpu.level = #cpu.level<name = "v3", lanes = 8, registers = 16, fma = true, l1 = 32768, l2 = 524288, dot = "maddubs">} {
  func.func private @blocks(%x: memref<1x1x6x6x16xi8>, %w: memref<36x16x4xi8>, %s: memref<36xi32>, %t: memref<7xi32>, %b: memref<32xi32>, %y: memref<1x2x4x4x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 4, 2, 1>, by_magnitude = array<i1: false, false, false>, products = 36864 : i64} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<7xi32>, memref<32xi32>, memref<1x2x4x4x16xi32>
    return
  }
}

// -----

// While two blocks are multiplied, the panels of the next two are requested: each step of each of the 16 tiles of a
// task has its share of the 8 lines.
// CHECK-LABEL: func private @ahead
// CHECK: scf.for
// CHECK: scf.for %[[STEP:.*]] = %c0{{.*}} iter_args
// CHECK: %[[DONE:.*]] = arith.addi %{{.*}}, %[[STEP]]
// CHECK: %[[TWICE:.*]] = arith.muli %[[DONE]], %c2{{.*}}
// CHECK: arith.divui %[[TWICE]], %c{{.*}}
// CHECK: memref.prefetch %{{.*}}, read, locality<2>, data : memref<768xi8>
// A plane of two tiles reads its weights too seldom.
// CHECK-LABEL: func private @few_tiles
// CHECK-NOT: memref.prefetch
module attributes {cpu.level = #cpu.level<name = "vnni", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 1048576, dot = "vnni">} {
  func.func private @ahead(%x: memref<1x1x56x56x16xi8>, %w: memref<12x16x4xi8>, %s: memref<4xi32>, %t: memref<4xi32>, %b: memref<48xi32>, %y: memref<1x3x56x56x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1000 : i64}
      : memref<1x1x56x56x16xi8>, memref<12x16x4xi8>, memref<4xi32>, memref<4xi32>, memref<48xi32>, memref<1x3x56x56x16xi32>
    return
  }
  func.func private @few_tiles(%x: memref<1x1x4x4x16xi8>, %w: memref<12x16x4xi8>, %s: memref<4xi32>, %t: memref<4xi32>, %b: memref<48xi32>, %y: memref<1x3x4x4x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
    cpu.integer_conv2d %x, %w, %s, %t, %b outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1000 : i64}
      : memref<1x1x4x4x16xi8>, memref<12x16x4xi8>, memref<4xi32>, memref<4xi32>, memref<48xi32>, memref<1x3x4x4x16xi32>
    return
  }
}
