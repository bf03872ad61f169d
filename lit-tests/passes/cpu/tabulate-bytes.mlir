// RUN: atc-opt %s --split-input-file --cpu-tabulate-bytes | FileCheck %s
// RUN: atc-opt %s --split-input-file --cpu-tabulate-bytes --remarks-filter=cpu-tabulate-bytes --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// x * sigmoid(x) of what an accumulator was rounded to, with a quantized sigmoid in between.
// CHECK-LABEL: func @swish
// CHECK: ^bb0(%[[SUM:.*]]: i32, %[[SCALE:.*]]: f32):
// CHECK: %[[X:.*]] = arith.minimumf
// CHECK-NEXT: %[[BYTE:.*]] = arith.fptoui %[[X]] : f32 to i8
// CHECK-NEXT: %[[FOUND:.*]] = cpu.lookup %[[BYTE]] in [10, 9,
// CHECK-SAME: -4, -2] : i8
// CHECK-NEXT: cpu.integer_yield %[[FOUND]] : i8
// REMARK: a function of a byte, {{[0-9]+}} operations, becomes a table
func.func @swish(%x: memref<1x1x6x6x16xi8>, %w: memref<4x16x4xi8>, %s: memref<4xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %m: memref<16xf32>, %y: memref<1x1x6x6x16xi8>) {
  cpu.integer_conv2d %x, %w, %s, %t, %b inputs %m outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<4x16x4xi8>, memref<4xi32>, memref<2xi32>, memref<16xi32>, memref<16xf32>, memref<1x1x6x6x16xi8> {
  ^bb0(%sum: i32, %scale: f32):
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %high = arith.constant 255.0 : f32
    %z = arith.constant 100.0 : f32
    %step = arith.constant 0.0625 : f32
    %inverse = arith.constant 256.0 : f32
    %part = arith.constant 0.00390625 : f32
    %out = arith.constant 25.25 : f32
    %zout = arith.constant 10.0 : f32
    %0 = arith.sitofp %sum : i32 to f32
    %1 = arith.mulf %0, %scale : f32
    %2 = math.roundeven %1 : f32
    %3 = arith.addf %2, %z : f32
    %4 = arith.maximumf %3, %zero fastmath<nnan,nsz> : f32
    %5 = arith.minimumf %4, %high fastmath<nnan,nsz> : f32
    %6 = arith.subf %5, %z : f32
    %7 = arith.mulf %6, %step : f32
    %8 = arith.negf %7 : f32
    %9 = math.exp %8 : f32
    %10 = arith.addf %9, %one : f32
    %11 = arith.divf %one, %10 : f32
    %12 = arith.mulf %11, %inverse : f32
    %13 = math.roundeven %12 : f32
    %14 = arith.maximumf %13, %zero : f32
    %15 = arith.minimumf %14, %high : f32
    %16 = arith.mulf %15, %part : f32
    %17 = arith.mulf %7, %16 : f32
    %18 = arith.mulf %17, %out : f32
    %19 = math.roundeven %18 : f32
    %20 = arith.addf %19, %zout : f32
    %21 = arith.maximumf %20, %zero : f32
    %22 = arith.minimumf %21, %high : f32
    %23 = arith.fptoui %22 : f32 to i8
    cpu.integer_yield %23 : i8
  }
  return
}

// -----

// Where the result goes on as a float, the byte becomes one again. Bytes with sign.
// CHECK-LABEL: func @dequantized
// CHECK: ^bb0(%[[IN:.*]]: i8):
// CHECK: %[[FOUND:.*]] = cpu.lookup %[[IN]] in [0,
// CHECK: %[[REAL:.*]] = arith.sitofp %[[FOUND]] : i8 to f32
// CHECK: %[[RESULT:.*]] = arith.mulf %[[REAL]]
// CHECK-NOT: math.tanh
// CHECK: kernel.yield %[[RESULT]]
func.func @dequantized(%x: memref<8x32xi8>, %y: memref<8x32xf32>) {
  kernel.map %x outs %y : memref<8x32xi8>, memref<8x32xf32> {
  ^bb0(%in: i8):
    %low = arith.constant -128.0 : f32
    %high = arith.constant 127.0 : f32
    %step = arith.constant 0.03125 : f32
    %inverse = arith.constant 128.0 : f32
    %part = arith.constant 0.0078125 : f32
    %0 = arith.sitofp %in : i8 to f32
    %1 = arith.mulf %0, %step : f32
    %2 = math.tanh %1 : f32
    %3 = arith.mulf %2, %inverse : f32
    %4 = math.roundeven %3 : f32
    %5 = arith.maximumf %4, %low : f32
    %6 = arith.minimumf %5, %high : f32
    %7 = arith.mulf %6, %part : f32
    kernel.yield %7 : f32
  }
  return
}

// -----

// Two bytes have 65536 results, few operations take no longer, a NaN is no byte, and what does not
// fold has no known results.
// CHECK-NOT: cpu.lookup
func.func @gate(%x: memref<8x32xi8>, %g: memref<8x32xi8>, %y: memref<8x32xi8>) {
  kernel.map %x, %g outs %y : memref<8x32xi8>, memref<8x32xi8>, memref<8x32xi8> {
  ^bb0(%in: i8, %gate: i8):
    %low = arith.constant 0.0 : f32
    %high = arith.constant 255.0 : f32
    %0 = arith.uitofp %in : i8 to f32
    %1 = arith.uitofp %gate : i8 to f32
    %2 = math.exp %1 : f32
    %3 = arith.mulf %2, %0 : f32
    %4 = math.roundeven %3 : f32
    %5 = arith.maximumf %4, %low : f32
    %6 = arith.minimumf %5, %high : f32
    %7 = arith.fptoui %6 : f32 to i8
    kernel.yield %7 : i8
  }
  return
}
func.func @relu(%x: memref<8x32xi8>, %y: memref<8x32xi8>) {
  kernel.map %x outs %y : memref<8x32xi8>, memref<8x32xi8> {
  ^bb0(%in: i8):
    %low = arith.constant 0.0 : f32
    %high = arith.constant 127.0 : f32
    %scale = arith.constant 0.5 : f32
    %0 = arith.sitofp %in : i8 to f32
    %1 = arith.mulf %0, %scale : f32
    %2 = math.roundeven %1 : f32
    %3 = arith.maximumf %2, %low : f32
    %4 = arith.minimumf %3, %high : f32
    %5 = arith.fptosi %4 : f32 to i8
    kernel.yield %5 : i8
  }
  return
}
// REMARK: a function of a byte has an operation that does not fold for -128: math.log
func.func @logarithm(%x: memref<8x32xi8>, %y: memref<8x32xi8>) {
  kernel.map %x outs %y : memref<8x32xi8>, memref<8x32xi8> {
  ^bb0(%in: i8):
    %low = arith.constant 0.0 : f32
    %high = arith.constant 127.0 : f32
    %0 = arith.sitofp %in : i8 to f32
    %1 = math.log %0 : f32
    %2 = math.roundeven %1 : f32
    %3 = arith.maximumf %2, %low : f32
    %4 = arith.minimumf %3, %high : f32
    %5 = arith.fptosi %4 : f32 to i8
    kernel.yield %5 : i8
  }
  return
}
// REMARK: a function of a byte has a result that is no number for 0
func.func @quotient(%x: memref<8x32xi8>, %y: memref<8x32xi8>) {
  kernel.map %x outs %y : memref<8x32xi8>, memref<8x32xi8> {
  ^bb0(%in: i8):
    %low = arith.constant 0.0 : f32
    %high = arith.constant 127.0 : f32
    %0 = arith.uitofp %in : i8 to f32
    %1 = arith.divf %0, %0 : f32
    %2 = math.exp %1 : f32
    %3 = math.roundeven %2 : f32
    %4 = arith.maximumf %3, %low : f32
    %5 = arith.minimumf %4, %high : f32
    %6 = arith.fptosi %5 : f32 to i8
    kernel.yield %6 : i8
  }
  return
}

// -----

// A formula in f64 is folded in f64: exp(200) is infinite in f32 only.
// CHECK-LABEL: func @doubles
// CHECK: cpu.lookup %{{.*}} in [0, 1, 2, {{.*}}, 88, 89, 90, {{.*}}, -2, -1] : i8
func.func @doubles(%x: memref<8x32xi8>, %y: memref<8x32xi8>) {
  kernel.map %x outs %y : memref<8x32xi8>, memref<8x32xi8> {
  ^bb0(%in: i8):
    %low = arith.constant 0.0 : f32
    %high = arith.constant 255.0 : f32
    %0 = arith.uitofp %in : i8 to f64
    %1 = math.exp %0 : f64
    %2 = math.log %1 : f64
    %3 = arith.truncf %2 : f64 to f32
    %4 = math.roundeven %3 : f32
    %5 = arith.maximumf %4, %low : f32
    %6 = arith.minimumf %5, %high : f32
    %7 = arith.fptoui %6 : f32 to i8
    kernel.yield %7 : i8
  }
  return
}
