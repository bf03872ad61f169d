// RUN: atc-opt %s --split-input-file --npu-compose-layer-norm | FileCheck %s
// RUN: atc-opt %s --split-input-file --npu-compose-layer-norm --remarks-filter=npu-compose-layer-norm --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:npu-compose-layer-norm{{.*}}means and maps become one layer norm

// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[X:.*]] = om.view %arg0[0] : memref<1x8x32xf16> to memref<8x32xf16>
// CHECK-DAG: %[[G:.*]] = om.weight dense<2.0{{.*}}> : tensor<32xf32>
// CHECK-DAG: %[[B:.*]] = om.weight dense<3.0{{.*}}> : tensor<32xf32>
// CHECK-DAG: %[[O:.*]] = om.view %arg1[0] : memref<1x8x32xf16> to memref<8x32xf16>
// CHECK: npu.layer_norm %[[X]] gamma %[[G]] beta %[[B]] outs %[[O]] {epsilon = 9.9{{.*}}E-13 : f64, om.tensor = tensor<1x8x32xf16>}
// CHECK-NEXT: return
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<1x8x32xf16>, %out: memref<1x8x32xf16> {om.output}) {
  %mean = om.alloc : memref<1x8x1xf16>
  kernel.reduce %x, %mean {axes = array<i64: 2>, kind = #graph<reduce_kind mean>} : memref<1x8x32xf16>, memref<1x8x1xf16>
  %squares = om.alloc : memref<1x8x32xf16>
  kernel.map %x, %mean outs %squares : memref<1x8x32xf16>, memref<1x8x1xf16>, memref<1x8x32xf16> {
  ^bb0(%a: f16, %m: f16):
    %aw = arith.extf %a : f16 to f32
    %mw = arith.extf %m : f16 to f32
    %d = arith.subf %aw, %mw : f32
    %s = arith.mulf %d, %d : f32
    %n = arith.truncf %s : f32 to f16
    kernel.yield %n : f16
  }
  %variance = om.alloc : memref<1x8x1xf16>
  kernel.reduce %squares, %variance {axes = array<i64: 2>, kind = #graph<reduce_kind mean>} : memref<1x8x32xf16>, memref<1x8x1xf16>
  %deviation = om.alloc : memref<1x8x1xf16>
  kernel.map %variance outs %deviation : memref<1x8x1xf16>, memref<1x8x1xf16> {
  ^bb0(%v: f16):
    %vw = arith.extf %v : f16 to f32
    %e = arith.constant 1.0e-12 : f32
    %s = arith.addf %vw, %e : f32
    %r = math.sqrt %s : f32
    %n = arith.truncf %r : f32 to f16
    kernel.yield %n : f16
  }
  %gamma = om.weight dense<2.0> : tensor<32xf16> : memref<32xf16>
  %beta = om.weight dense<3.0> : tensor<32xf16> : memref<32xf16>
  %g = om.view %gamma[0] : memref<32xf16> to memref<1x1x32xf16>
  %b = om.view %beta[0] : memref<32xf16> to memref<1x1x32xf16>
  kernel.map %x, %mean, %deviation, %g, %b outs %out {om.tensor = tensor<1x8x32xf16>} : memref<1x8x32xf16>, memref<1x8x1xf16>, memref<1x8x1xf16>, memref<1x1x32xf16>, memref<1x1x32xf16>, memref<1x8x32xf16> {
  ^bb0(%a: f16, %m: f16, %s: f16, %gw: f16, %bw: f16):
    %d = arith.subf %a, %m : f16
    %q = arith.divf %d, %s : f16
    %p = arith.mulf %q, %gw : f16
    %r = arith.addf %p, %bw : f16
    kernel.yield %r : f16
  }
  return
}
}

// -----

// By the reciprocal of the deviation, and without a shift.
// CHECK-LABEL: func.func @main
// CHECK: npu.layer_norm %arg0 gamma %{{.*}} outs %arg1 {epsilon = 1.000000e+00 : f64}
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<8x32xf16>, %out: memref<8x32xf16> {om.output}) {
  %mean = om.alloc : memref<8x1xf16>
  kernel.reduce %x, %mean {axes = array<i64: 1>, kind = #graph<reduce_kind mean>} : memref<8x32xf16>, memref<8x1xf16>
  %centered = om.alloc : memref<8x32xf16>
  kernel.map %x, %mean outs %centered : memref<8x32xf16>, memref<8x1xf16>, memref<8x32xf16> {
  ^bb0(%a: f16, %m: f16):
    %d = arith.subf %a, %m : f16
    kernel.yield %d : f16
  }
  %squares = om.alloc : memref<8x32xf16>
  kernel.map %centered outs %squares : memref<8x32xf16>, memref<8x32xf16> {
  ^bb0(%d: f16):
    %s = arith.mulf %d, %d : f16
    kernel.yield %s : f16
  }
  %variance = om.alloc : memref<8x1xf16>
  kernel.reduce %squares, %variance {axes = array<i64: 1>, kind = #graph<reduce_kind mean>} : memref<8x32xf16>, memref<8x1xf16>
  %gamma = om.weight dense<2.0> : tensor<32xf16> : memref<32xf16>
  %g = om.view %gamma[0] : memref<32xf16> to memref<1x32xf16>
  kernel.map %g, %centered, %variance outs %out : memref<1x32xf16>, memref<8x32xf16>, memref<8x1xf16>, memref<8x32xf16> {
  ^bb0(%gw: f16, %d: f16, %v: f16):
    %e = arith.constant 1.0 : f16
    %s = arith.addf %e, %v : f16
    %i = math.rsqrt %s : f16
    %p = arith.mulf %d, %i : f16
    %q = arith.mulf %gw, %p : f16
    kernel.yield %q : f16
  }
  return
}
}

// -----

// Not the mean of the same rows: what is left is the RMS norm of the differences.
// CHECK-LABEL: func.func @main
// CHECK: %[[CENTERED:.*]] = om.alloc : memref<8x32xf16>
// CHECK: kernel.map %arg0, %{{.*}} outs %[[CENTERED]]
// CHECK: npu.layer_norm %[[CENTERED]] outs %arg2 {epsilon = 1.000000e+00 : f64, uncentered}
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<8x32xf16>, %y: memref<8x32xf16>, %out: memref<8x32xf16> {om.output}) {
  %mean = om.alloc : memref<8x1xf16>
  kernel.reduce %y, %mean {axes = array<i64: 1>, kind = #graph<reduce_kind mean>} : memref<8x32xf16>, memref<8x1xf16>
  %centered = om.alloc : memref<8x32xf16>
  kernel.map %x, %mean outs %centered : memref<8x32xf16>, memref<8x1xf16>, memref<8x32xf16> {
  ^bb0(%a: f16, %m: f16):
    %d = arith.subf %a, %m : f16
    kernel.yield %d : f16
  }
  %squares = om.alloc : memref<8x32xf16>
  kernel.map %centered outs %squares : memref<8x32xf16>, memref<8x32xf16> {
  ^bb0(%d: f16):
    %s = arith.mulf %d, %d : f16
    kernel.yield %s : f16
  }
  %variance = om.alloc : memref<8x1xf16>
  kernel.reduce %squares, %variance {axes = array<i64: 1>, kind = #graph<reduce_kind mean>} : memref<8x32xf16>, memref<8x1xf16>
  kernel.map %centered, %variance outs %out : memref<8x32xf16>, memref<8x1xf16>, memref<8x32xf16> {
  ^bb0(%d: f16, %v: f16):
    %e = arith.constant 1.0 : f16
    %s = arith.addf %e, %v : f16
    %i = math.rsqrt %s : f16
    %p = arith.mulf %d, %i : f16
    kernel.yield %p : f16
  }
  return
}
}

// -----

// An RMS norm: squares in f32 of a sum of f16, and no mean is subtracted.
// CHECK-LABEL: func.func @main
// CHECK: %[[X:.*]] = om.alloc
// CHECK: kernel.map
// CHECK: npu.layer_norm %[[X]] gamma %{{.*}} outs %arg2 {epsilon = 9.9{{.*}}E-7 : f64, uncentered}
// CHECK-NEXT: return
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%a: memref<8x32xf16>, %b: memref<8x32xf16>, %out: memref<8x32xf16> {om.output}) {
  %x = om.alloc : memref<8x32xf16>
  kernel.map %a, %b outs %x : memref<8x32xf16>, memref<8x32xf16>, memref<8x32xf16> {
  ^bb0(%l: f16, %r: f16):
    %s = arith.mulf %l, %r : f16
    kernel.yield %s : f16
  }
  %squares = om.alloc : memref<8x32xf32>
  kernel.map %x outs %squares : memref<8x32xf16>, memref<8x32xf32> {
  ^bb0(%l: f16):
    %w = arith.extf %l : f16 to f32
    %s = arith.mulf %w, %w : f32
    kernel.yield %s : f32
  }
  %mean = om.alloc : memref<8x1xf32>
  kernel.reduce %squares, %mean {axes = array<i64: 1>, kind = #graph<reduce_kind mean>} : memref<8x32xf32>, memref<8x1xf32>
  %gamma = om.weight dense<2.0> : tensor<32xf16> : memref<32xf16>
  %g = om.view %gamma[0] : memref<32xf16> to memref<1x32xf16>
  kernel.map %x, %mean, %g outs %out : memref<8x32xf16>, memref<8x1xf32>, memref<1x32xf16>, memref<8x32xf16> {
  ^bb0(%l: f16, %m: f32, %gw: f16):
    %e = arith.constant 1.0e-6 : f32
    %v = arith.addf %m, %e : f32
    %i = math.rsqrt %v : f32
    %w = arith.extf %l : f16 to f32
    %p = arith.mulf %w, %i : f32
    %wg = arith.extf %gw : f16 to f32
    %q = arith.mulf %wg, %p : f32
    %n = arith.truncf %q : f32 to f16
    kernel.yield %n : f16
  }
  return
}
}

// -----

// Scaled by the root of another buffer's mean square.
// CHECK-LABEL: func.func @main
// CHECK-NOT: npu.layer_norm
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<8x32xf16>, %y: memref<8x32xf16>, %out: memref<8x32xf16> {om.output}) {
  %squares = om.alloc : memref<8x32xf32>
  kernel.map %y outs %squares : memref<8x32xf16>, memref<8x32xf32> {
  ^bb0(%l: f16):
    %w = arith.extf %l : f16 to f32
    %s = arith.mulf %w, %w : f32
    kernel.yield %s : f32
  }
  %mean = om.alloc : memref<8x1xf32>
  kernel.reduce %squares, %mean {axes = array<i64: 1>, kind = #graph<reduce_kind mean>} : memref<8x32xf32>, memref<8x1xf32>
  kernel.map %x, %mean outs %out : memref<8x32xf16>, memref<8x1xf32>, memref<8x32xf16> {
  ^bb0(%l: f16, %m: f32):
    %e = arith.constant 1.0e-6 : f32
    %v = arith.addf %m, %e : f32
    %i = math.rsqrt %v : f32
    %w = arith.extf %l : f16 to f32
    %p = arith.mulf %w, %i : f32
    %n = arith.truncf %p : f32 to f16
    kernel.yield %n : f16
  }
  return
}
}
