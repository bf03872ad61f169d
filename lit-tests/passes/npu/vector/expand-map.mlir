// RUN: atc-opt %s --npu-expand-map | FileCheck %s

// A constant becomes a scalar operand; both operands come through ub, no function is left.
// CHECK-NOT: func.func
// CHECK-LABEL: npu.program @scale_add
// CHECK: npu.move {{.*}} <ub, {{[0-9]+}}>, <gm, 2000>
// CHECK: npu.move {{.*}} <ub, {{[0-9]+}}>, <gm, 2000>
// CHECK: npu.vector "mul_scalar"
// CHECK: npu.vector "add"
// CHECK: npu.move {{.*}} <gm, 2000>, <ub, {{[0-9]+}}>
func.func private @scale_add(%x: memref<1000xf16>, %y: memref<1000xf16>, %z: memref<1000xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.map %x, %y outs %z : memref<1000xf16>, memref<1000xf16>, memref<1000xf16> {
  ^bb0(%a: f16, %b: f16):
    %c = arith.constant 3.0 : f16
    %p = arith.mulf %a, %c : f16
    %s = arith.addf %p, %b : f16
    kernel.yield %s : f16
  }
  return
}

// One operation in f32 between conversions has the same bits in f16, two have not.
// CHECK-LABEL: npu.program @difference
// CHECK-NOT: "cast"
// CHECK: npu.vector "sub"
// CHECK-NOT: "cast"
// CHECK-LABEL: npu.program @differences
// CHECK: npu.vector "cast"
func.func private @difference(%x: memref<1000xf16>, %y: memref<1000xf16>, %z: memref<1000xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.map %x, %y outs %z : memref<1000xf16>, memref<1000xf16>, memref<1000xf16> {
  ^bb0(%a: f16, %b: f16):
    %c = arith.extf %a : f16 to f32
    %d = arith.extf %b : f16 to f32
    %s = arith.subf %c, %d : f32
    %r = arith.truncf %s : f32 to f16
    kernel.yield %r : f16
  }
  return
}
func.func private @differences(%x: memref<1000xf16>, %y: memref<1000xf16>, %z: memref<1000xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.map %x, %y outs %z : memref<1000xf16>, memref<1000xf16>, memref<1000xf16> {
  ^bb0(%a: f16, %b: f16):
    %c = arith.extf %a : f16 to f32
    %d = arith.extf %b : f16 to f32
    %s = arith.subf %c, %d : f32
    %t = arith.subf %s, %d : f32
    %r = arith.truncf %t : f32 to f16
    kernel.yield %r : f16
  }
  return
}

// A channel's 16 values repeat over the plane: one block, stride 0.
// CHECK-LABEL: npu.program @bias
// CHECK: npu.vector "add"
// CHECK-SAME: b_block = 0
func.func private @bias(%x: memref<2x3x9x9x16xf16>, %y: memref<1x3x1x1x16xf16>,
                        %z: memref<2x3x9x9x16xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.map %x, %y outs %z
      : memref<2x3x9x9x16xf16>, memref<1x3x1x1x16xf16>, memref<2x3x9x9x16xf16> {
  ^bb0(%a: f16, %b: f16):
    %s = arith.addf %a, %b : f16
    kernel.yield %s : f16
  }
  return
}

// On split SoCs the program runs on vector cores.
// CHECK-LABEL: npu.program @relu
// CHECK-SAME: Ascend910B1
// CHECK-SAME: vector_core
// CHECK: npu.vector "relu"
func.func private @relu(%x: memref<1000xf16>, %z: memref<1000xf16>)
    attributes {npu.kernel, npu.soc = "Ascend910B1"} {
  kernel.map %x outs %z : memref<1000xf16>, memref<1000xf16> {
  ^bb0(%a: f16):
    %c = arith.constant 0.0 : f16
    %s = arith.maximumf %a, %c : f16
    kernel.yield %s : f16
  }
  return
}

// A remainder: what the floor of the quotient leaves, corrected where the quotient was rounded to
// another integer.
// CHECK-LABEL: npu.program @remainder
// CHECK: npu.vector "div"
// CHECK: npu.vector "floor"
// CHECK: npu.vector "less"
// CHECK: npu.vector "select"
// CHECK: npu.vector "less_equal"
// CHECK: npu.vector "select"
// CHECK: npu.vector "select"
func.func private @remainder(%x: memref<1000xf16>, %y: memref<1000xf16>, %z: memref<1000xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.map %x, %y outs %z : memref<1000xf16>, memref<1000xf16>, memref<1000xf16> {
  ^bb0(%a: f16, %b: f16):
    %s = arith.remf %a, %b : f16
    kernel.yield %s : f16
  }
  return
}

// A power of two operands: e^(b ln |a|), with a sign for odd exponents below 0, NaN for fractions
// there, and 1 where the exponent is 0.
// CHECK-LABEL: npu.program @power
// CHECK: npu.vector "abs"
// CHECK: npu.vector "ln"
// CHECK: npu.vector "exp"
// CHECK: npu.vector "floor"
// CHECK: npu.vector "floor"
// CHECK: npu.vector "less"
// CHECK: npu.vector "select"
// CHECK: npu.vector "equal"
// CHECK: npu.vector "select"
func.func private @power(%x: memref<1000xf16>, %y: memref<1000xf16>, %z: memref<1000xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.map %x, %y outs %z : memref<1000xf16>, memref<1000xf16>, memref<1000xf16> {
  ^bb0(%a: f16, %b: f16):
    %s = math.powf %a, %b : f16
    kernel.yield %s : f16
  }
  return
}

// Small whole exponents are products, and 0 is 1.
// CHECK-LABEL: npu.program @cube
// CHECK-NOT: npu.vector "ln"
// CHECK-COUNT-2: npu.vector "mul"
// CHECK-NOT: npu.vector
// CHECK-LABEL: npu.program @one
// CHECK: npu.vector "fill"
func.func private @cube(%x: memref<1000xf16>, %z: memref<1000xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.map %x outs %z : memref<1000xf16>, memref<1000xf16> {
  ^bb0(%a: f16):
    %c = arith.constant 3.0 : f16
    %s = math.powf %a, %c : f16
    kernel.yield %s : f16
  }
  return
}
func.func private @one(%x: memref<1000xf16>, %z: memref<1000xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.map %x outs %z : memref<1000xf16>, memref<1000xf16> {
  ^bb0(%a: f16):
    %c = arith.constant 0.0 : f16
    %s = math.powf %a, %c : f16
    kernel.yield %s : f16
  }
  return
}

// Bools are bytes that are 0 or 1: masks are cast, comparisons stored as bytes.
// CHECK-LABEL: npu.program @masked
// CHECK: npu.vector "cast"
// CHECK-SAME: dst_type = f16
// CHECK-SAME: type = ui8
// CHECK: npu.vector "select"
func.func private @masked(%m: memref<1000xi1>, %x: memref<1000xf16>, %z: memref<1000xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.map %m, %x outs %z : memref<1000xi1>, memref<1000xf16>, memref<1000xf16> {
  ^bb0(%b: i1, %a: f16):
    %c = arith.constant -6.5e4 : f16
    %s = arith.select %b, %a, %c : f16
    kernel.yield %s : f16
  }
  return
}

// CHECK-LABEL: npu.program @compared
// CHECK: npu.vector "less"
// CHECK: npu.vector "cast"
// CHECK-SAME: dst_type = ui8
func.func private @compared(%x: memref<1000xf16>, %y: memref<1000xf16>, %z: memref<1000xi1>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.map %x, %y outs %z : memref<1000xf16>, memref<1000xf16>, memref<1000xi1> {
  ^bb0(%a: f16, %b: f16):
    %s = arith.cmpf olt, %a, %b : f16
    kernel.yield %s : i1
  }
  return
}

// Rows of 64 bits that repeat are copied as words of 32, which is all that the vector unit copies.
// CHECK-LABEL: npu.program @rows_of_integers
// CHECK: npu.vector "copy"
// CHECK-SAME: lanes = #npu.range<{{[0-9]*}}>
// CHECK-SAME: type = i32
// CHECK-NOT: npu.vector "copy"{{.*}}type = i64
// CHECK: npu.vector "cast"
func.func private @rows_of_integers(%x: memref<160x16xi64>, %row: memref<1x16xi64>,
                                    %z: memref<160x16xi64>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.map %x, %row outs %z : memref<160x16xi64>, memref<1x16xi64>, memref<160x16xi64> {
  ^bb0(%a: i64, %b: i64):
    %f = arith.sitofp %a : i64 to f32
    %g = arith.sitofp %b : i64 to f32
    %s = arith.addf %f, %g : f32
    %i = arith.fptosi %s : f32 to i64
    kernel.yield %i : i64
  }
  return
}

// A byte between float ops whose number a kernel before has rounded: the conversion drops a fraction,
// which only the kernel before can have left out. A negative one is rounded up, as the conversion does.
// CHECK-LABEL: npu.program @rounded_before
// CHECK: npu.vector "min_scalar"
// CHECK: npu.vector "ceil"
// CHECK: npu.vector "floor"
// CHECK: npu.vector "select"
// CHECK: npu.vector "cast_scaled"
func.func private @rounded_before(%x: memref<1000xf16>, %z: memref<1000xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310"} {
  kernel.map %x outs %z : memref<1000xf16>, memref<1000xf16> {
  ^bb0(%a: f16):
    %least = arith.constant 0.0 : f32
    %most = arith.constant 255.0 : f32
    %scale = arith.constant 0.03 : f32
    %0 = arith.extf %a : f16 to f32
    %1 = arith.maximumf %0, %least : f32
    %2 = arith.minimumf %1, %most : f32
    %3 = arith.fptoui %2 : f32 to i8
    %4 = arith.uitofp %3 : i8 to f32
    %5 = arith.mulf %4, %scale : f32
    %6 = arith.truncf %5 : f32 to f16
    kernel.yield %6 : f16
  }
  return
}
