// RUN: atc-opt %s --split-input-file --cpu-fold-byte-sums | FileCheck %s
// RUN: atc-opt %s --split-input-file --cpu-fold-byte-sums --remarks-filter=cpu-fold-byte-sums --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// A residual: five operations become two, on the integers that were there before.
// CHECK-LABEL: func @residual
// CHECK: ^bb0(%[[SUM:.*]]: i32, %[[SCALE:.*]]: f32, %[[BYTE:.*]]: i8):
// CHECK-NOT: 1.330000e+02
// CHECK: %[[Y:.*]] = arith.uitofp %[[BYTE]]
// CHECK: arith.mulf %{{.*}}, %[[SCALE]]
// CHECK: %[[X:.*]] = arith.subf
// CHECK-NOT: arith.mulf
// CHECK-NOT: arith.divf
// CHECK: %[[REST:.*]] = math.fma %[[Y]], %{{.*}}, %{{.*}} : f32
// CHECK: %[[FACTOR:.*]] = arith.constant 0.80{{.*}} : f32
// CHECK-NEXT: %[[ALL:.*]] = math.fma %[[X]], %[[FACTOR]], %[[REST]] : f32
// CHECK-NEXT: math.roundeven %[[ALL]]
// REMARK: a quantized sum of bytes takes 3 operations less
func.func @residual(%x: memref<1x1x6x6x16xi8>, %w: memref<4x16x4xi8>, %s: memref<4xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %m: memref<16xf32>, %r: memref<1x1x6x6x16xi8>, %y: memref<1x1x6x6x16xi8>) {
  cpu.integer_conv2d %x, %w, %s, %t, %b inputs %m, %r outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<4x16x4xi8>, memref<4xi32>, memref<2xi32>, memref<16xi32>, memref<16xf32>, memref<1x1x6x6x16xi8>, memref<1x1x6x6x16xi8> {
  ^bb0(%sum: i32, %scale: f32, %byte: i8):
    %zero = arith.constant 0.0 : f32
    %high = arith.constant 255.0 : f32
    %z1 = arith.constant 151.0 : f32
    %z2 = arith.constant 133.0 : f32
    %s1 = arith.constant 0.0390568823 : f32
    %s2 = arith.constant 0.091274321 : f32
    %s3 = arith.constant 0.0488110520 : f32
    %0 = arith.uitofp %byte : i8 to f32
    %1 = arith.subf %0, %z2 : f32
    %2 = arith.mulf %1, %s2 : f32
    %3 = arith.sitofp %sum : i32 to f32
    %4 = arith.mulf %3, %scale : f32
    %5 = math.roundeven %4 : f32
    %6 = arith.addf %5, %z1 : f32
    %7 = arith.maximumf %6, %zero fastmath<nnan,nsz> : f32
    %8 = arith.minimumf %7, %high fastmath<nnan,nsz> : f32
    %9 = arith.subf %8, %z1 : f32
    %10 = arith.mulf %9, %s1 : f32
    %11 = arith.addf %10, %2 : f32
    %12 = arith.divf %11, %s3 : f32
    %13 = math.roundeven %12 : f32
    %14 = arith.maximumf %13, %zero fastmath<nnan,nsz> : f32
    %15 = arith.minimumf %14, %high fastmath<nnan,nsz> : f32
    %16 = arith.fptoui %15 : f32 to i8
    cpu.integer_yield %16 : i8
  }
  return
}

// -----

// Every sum that is an odd multiple of a half is a tie, which fewer roundings keep; what the
// second factor rounds off decides which way the other ties go, so that no factors can be found.
// CHECK-LABEL: func @ties
// CHECK-NOT: math.fma
// CHECK: cpu.integer_yield
// REMARK: no factors were found that give all integers the same sum
func.func @ties(%x: memref<1x1x6x6x16xi8>, %w: memref<4x16x4xi8>, %s: memref<4xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %m: memref<16xf32>, %r: memref<1x1x6x6x16xi8>, %y: memref<1x1x6x6x16xi8>) {
  cpu.integer_conv2d %x, %w, %s, %t, %b inputs %m, %r outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<4x16x4xi8>, memref<4xi32>, memref<2xi32>, memref<16xi32>, memref<16xf32>, memref<1x1x6x6x16xi8>, memref<1x1x6x6x16xi8> {
  ^bb0(%sum: i32, %scale: f32, %byte: i8):
    %zero = arith.constant 0.0 : f32
    %high = arith.constant 255.0 : f32
    %z = arith.constant 128.0 : f32
    %tenth = arith.constant 0.1 : f32
    %five = arith.constant 5.0 : f32
    %0 = arith.uitofp %byte : i8 to f32
    %1 = arith.subf %0, %z : f32
    %2 = arith.mulf %1, %tenth : f32
    %3 = arith.sitofp %sum : i32 to f32
    %5 = math.roundeven %3 : f32
    %7 = arith.maximumf %5, %zero fastmath<nnan,nsz> : f32
    %8 = arith.minimumf %7, %high fastmath<nnan,nsz> : f32
    %10 = arith.mulf %8, %tenth : f32
    %11 = arith.addf %10, %2 : f32
    %12 = arith.mulf %11, %five : f32
    %13 = math.roundeven %12 : f32
    %14 = arith.maximumf %13, %zero fastmath<nnan,nsz> : f32
    %15 = arith.minimumf %14, %high fastmath<nnan,nsz> : f32
    %16 = arith.fptoui %15 : f32 to i8
    cpu.integer_yield %16 : i8
  }
  return
}

// -----

// The accumulator itself has more than 256 values.
// CHECK-LABEL: func @not_rounded
// CHECK-NOT: math.fma
// CHECK: cpu.integer_yield
func.func @not_rounded(%x: memref<1x1x6x6x16xi8>, %w: memref<4x16x4xi8>, %s: memref<4xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %m: memref<16xf32>, %r: memref<1x1x6x6x16xi8>, %y: memref<1x1x6x6x16xi8>) {
  cpu.integer_conv2d %x, %w, %s, %t, %b inputs %m, %r outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<4x16x4xi8>, memref<4xi32>, memref<2xi32>, memref<16xi32>, memref<16xf32>, memref<1x1x6x6x16xi8>, memref<1x1x6x6x16xi8> {
  ^bb0(%sum: i32, %scale: f32, %byte: i8):
    %zero = arith.constant 0.0 : f32
    %high = arith.constant 255.0 : f32
    %z = arith.constant 128.0 : f32
    %tenth = arith.constant 0.1 : f32
    %five = arith.constant 5.0 : f32
    %0 = arith.uitofp %byte : i8 to f32
    %1 = arith.subf %0, %z : f32
    %2 = arith.mulf %1, %tenth : f32
    %3 = arith.sitofp %sum : i32 to f32
    %10 = arith.mulf %3, %tenth : f32
    %11 = arith.addf %10, %2 : f32
    %12 = arith.mulf %11, %five : f32
    %13 = math.roundeven %12 : f32
    %14 = arith.maximumf %13, %zero fastmath<nnan,nsz> : f32
    %15 = arith.minimumf %14, %high fastmath<nnan,nsz> : f32
    %16 = arith.fptoui %15 : f32 to i8
    cpu.integer_yield %16 : i8
  }
  return
}

// -----

// An integer that is quantized again behind a relu: the relu becomes the lower bound.
// CHECK-LABEL: func @relu
// CHECK: %[[X:.*]] = arith.subf
// CHECK-NOT: arith.mulf
// CHECK: %[[AGAIN:.*]] = math.fma %[[X]], %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %[[ROUNDED:.*]] = math.roundeven %[[AGAIN]]
// CHECK-NEXT: %[[SHIFTED:.*]] = arith.addf %[[ROUNDED]]
// CHECK-NEXT: %[[LOW:.*]] = arith.constant 1.280000e+02 : f32
// CHECK-NEXT: arith.maximumf %[[SHIFTED]], %[[LOW]]
// REMARK: a quantized sum of bytes takes 2 operations less
func.func @relu(%x: memref<1x1x6x6x16xi8>, %w: memref<4x16x4xi8>, %s: memref<4xi32>, %t: memref<2xi32>, %b: memref<16xi32>, %m: memref<16xf32>, %y: memref<1x1x6x6x16xi8>) {
  cpu.integer_conv2d %x, %w, %s, %t, %b inputs %m outs %y {strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, products = 1 : i64} : memref<1x1x6x6x16xi8>, memref<4x16x4xi8>, memref<4xi32>, memref<2xi32>, memref<16xi32>, memref<16xf32>, memref<1x1x6x6x16xi8> {
  ^bb0(%sum: i32, %scale: f32):
    %zero = arith.constant 0.0 : f32
    %high = arith.constant 255.0 : f32
    %z = arith.constant 128.0 : f32
    %s1 = arith.constant 0.0664676428 : f32
    %inverse = arith.constant 15.0449142 : f32
    %0 = arith.sitofp %sum : i32 to f32
    %1 = arith.mulf %0, %scale : f32
    %2 = math.roundeven %1 : f32
    %3 = arith.addf %2, %z : f32
    %4 = arith.maximumf %3, %zero fastmath<nnan,nsz> : f32
    %5 = arith.minimumf %4, %high fastmath<nnan,nsz> : f32
    %6 = arith.subf %5, %z : f32
    %7 = arith.mulf %6, %s1 : f32
    %8 = arith.maximumf %7, %zero fastmath<nnan,nsz> : f32
    %9 = arith.mulf %8, %inverse : f32
    %10 = math.roundeven %9 : f32
    %11 = arith.addf %10, %z : f32
    %12 = arith.maximumf %11, %zero fastmath<nnan,nsz> : f32
    %13 = arith.minimumf %12, %high fastmath<nnan,nsz> : f32
    %14 = arith.fptoui %13 : f32 to i8
    cpu.integer_yield %14 : i8
  }
  return
}

// -----

// A sum of two tensors that no convolution is in front of.
// CHECK-LABEL: func @map
// CHECK: ^bb0(%[[A:.*]]: i8, %[[B:.*]]: i8):
// CHECK-NOT: arith.mulf
// CHECK-COUNT-2: math.fma
// CHECK-NEXT: math.roundeven
// REMARK: a quantized sum of bytes takes 4 operations less
func.func @map(%a: memref<1x64xi8>, %b: memref<1x64xi8>, %y: memref<1x64xi8>) {
  kernel.map %a, %b outs %y : memref<1x64xi8>, memref<1x64xi8>, memref<1x64xi8> {
  ^bb0(%first: i8, %second: i8):
    %zero = arith.constant 0.0 : f32
    %high = arith.constant 255.0 : f32
    %z1 = arith.constant 120.0 : f32
    %z2 = arith.constant 7.0 : f32
    %z3 = arith.constant 100.0 : f32
    %s1 = arith.constant 2.130000e-02 : f32
    %s2 = arith.constant 3.170000e-02 : f32
    %inverse = arith.constant 21.7864933 : f32
    %0 = arith.uitofp %first : i8 to f32
    %1 = arith.subf %0, %z1 : f32
    %2 = arith.mulf %1, %s1 : f32
    %3 = arith.uitofp %second : i8 to f32
    %4 = arith.subf %3, %z2 : f32
    %5 = arith.mulf %4, %s2 : f32
    %6 = arith.addf %2, %5 : f32
    %7 = arith.mulf %6, %inverse : f32
    %8 = math.roundeven %7 : f32
    %9 = arith.addf %8, %z3 : f32
    %10 = arith.maximumf %9, %zero fastmath<nnan,nsz> : f32
    %11 = arith.minimumf %10, %high fastmath<nnan,nsz> : f32
    %12 = arith.fptoui %11 : f32 to i8
    kernel.yield %12 : i8
  }
  return
}

// -----

// A map of one integer is left to tables.
// CHECK-LABEL: func @one
// CHECK-NOT: math.fma
func.func @one(%a: memref<1x64xi8>, %y: memref<1x64xi8>) {
  kernel.map %a outs %y : memref<1x64xi8>, memref<1x64xi8> {
  ^bb0(%first: i8):
    %zero = arith.constant 0.0 : f32
    %high = arith.constant 255.0 : f32
    %z = arith.constant 120.0 : f32
    %s = arith.constant 2.130000e-02 : f32
    %inverse = arith.constant 21.7864933 : f32
    %0 = arith.uitofp %first : i8 to f32
    %1 = arith.subf %0, %z : f32
    %2 = arith.mulf %1, %s : f32
    %3 = arith.mulf %2, %inverse : f32
    %4 = math.roundeven %3 : f32
    %5 = arith.addf %4, %z : f32
    %6 = arith.maximumf %5, %zero fastmath<nnan,nsz> : f32
    %7 = arith.minimumf %6, %high fastmath<nnan,nsz> : f32
    %8 = arith.fptoui %7 : f32 to i8
    kernel.yield %8 : i8
  }
  return
}
