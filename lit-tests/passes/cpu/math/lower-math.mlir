// RUN: atc-opt --split-input-file --pass-pipeline='builtin.module(func.func(cpu-lower-math))' %s | FileCheck %s

// What the processor has no instruction for becomes arithmetic.
// CHECK-LABEL: func.func @functions
// CHECK-NOT: math.{{(acos|asin|atan|atan2|cbrt|cos|erf|erfc|exp|exp2|expm1|log|log1p|log2|sin|tanh|sinh|cosh|tan|asinh|acosh|atanh|powf|round|rsqrt) }}
// CHECK: return
func.func @functions(%x: vector<8xf32>, %y: vector<8xf32>) -> vector<8xf32> {
  %0 = math.exp %x : vector<8xf32>
  %1 = math.log %0 : vector<8xf32>
  %2 = math.tanh %1 : vector<8xf32>
  %3 = math.erf %2 : vector<8xf32>
  %4 = math.sin %3 : vector<8xf32>
  %5 = math.cos %4 : vector<8xf32>
  %6 = math.tan %5 : vector<8xf32>
  %7 = math.asin %6 : vector<8xf32>
  %8 = math.acos %7 : vector<8xf32>
  %9 = math.atan %8 : vector<8xf32>
  %10 = math.sinh %9 : vector<8xf32>
  %11 = math.cosh %10 : vector<8xf32>
  %12 = math.asinh %11 : vector<8xf32>
  %13 = math.acosh %12 : vector<8xf32>
  %14 = math.atanh %13 : vector<8xf32>
  %15 = math.powf %14, %y : vector<8xf32>
  %16 = math.round %15 : vector<8xf32>
  %17 = math.rsqrt %16 : vector<8xf32>
  %18 = math.log1p %17 : vector<8xf32>
  %19 = math.expm1 %18 : vector<8xf32>
  %20 = math.log2 %19 : vector<8xf32>
  %21 = math.exp2 %20 : vector<8xf32>
  %22 = math.cbrt %21 : vector<8xf32>
  %23 = math.erfc %22 : vector<8xf32>
  %24 = math.atan2 %23, %y : vector<8xf32>
  return %24 : vector<8xf32>
}

// The error function is one quotient of polynomials: nothing is selected but the ends.
// CHECK-LABEL: func.func @erf
// CHECK-COUNT-2: arith.select
// CHECK-COUNT-10: math.fma
// CHECK: arith.divf
// CHECK-COUNT-2: arith.select
// CHECK-NOT: arith.select
// CHECK: return
func.func @erf(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.erf %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// Doubles have code for what the logarithm of a sum of exponentials needs.
// CHECK-LABEL: func.func @double
// CHECK-NOT: math.{{(exp|log) }}
// CHECK: return
func.func @double(%x: vector<4xf64>, %y: f64) -> (vector<4xf64>, f64) {
  %0 = math.exp %x : vector<4xf64>
  %1 = math.log %0 : vector<4xf64>
  %2 = math.log %y : f64
  %3 = math.exp %2 : f64
  return %1, %3 : vector<4xf64>, f64
}

// Half precision computes in f32.
// CHECK-LABEL: func.func @half
// CHECK: arith.extf %{{.*}} : vector<8xf16> to vector<8xf32>
// CHECK-NOT: math.exp
// CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
func.func @half(%x: vector<8xf16>) -> vector<8xf16> {
  %0 = math.exp %x : vector<8xf16>
  return %0 : vector<8xf16>
}

// Instructions stay.
// CHECK-LABEL: func.func @instructions
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: math.floor
// CHECK-NEXT: math.ceil
// CHECK-NEXT: math.trunc
// CHECK-NEXT: math.roundeven
// CHECK-NEXT: math.absf
// CHECK-NEXT: math.copysign
// CHECK-NEXT: vector.fma
// CHECK-NEXT: math.fma
// CHECK-NEXT: return
func.func @instructions(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.sqrt %x : vector<8xf32>
  %1 = math.floor %0 : vector<8xf32>
  %2 = math.ceil %1 : vector<8xf32>
  %3 = math.trunc %2 : vector<8xf32>
  %4 = math.roundeven %3 : vector<8xf32>
  %5 = math.absf %4 : vector<8xf32>
  %6 = math.copysign %5, %x : vector<8xf32>
  %7 = vector.fma %6, %x, %x : vector<8xf32>
  %8 = math.fma %7, %x, %x : vector<8xf32>
  return %8 : vector<8xf32>
}

// The remainder of f32 is computed in f64.
// CHECK-LABEL: func.func @remainder
// CHECK-NOT: arith.remf
// CHECK: arith.divf %{{.*}} : vector<8xf64>
// CHECK: math.copysign
// CHECK: arith.truncf
func.func @remainder(%x: vector<8xf32>, %y: vector<8xf32>) -> vector<8xf32> {
  %0 = arith.remf %x, %y : vector<8xf32>
  return %0 : vector<8xf32>
}

// -----

// Without FMA no fused operation is left, not even of an approximation.
module attributes {cpu.level = #cpu.level<name = "x86-64-v2", lanes = 4, registers = 16, fma = false, l1 = 32768, l2 = 262144>} {
  // CHECK-LABEL: func.func @no_fma
  // CHECK-NOT: fma
  // CHECK: return
  func.func @no_fma(%x: vector<4xf32>) -> vector<4xf32> {
    %0 = vector.fma %x, %x, %x : vector<4xf32>
    %1 = math.exp %0 : vector<4xf32>
    return %1 : vector<4xf32>
  }
}

// -----

// AVX-512 multiplies by a power of two in one instruction, whose mask keeps it from lanes that
// would underflow.
module attributes {cpu.level = #cpu.level<name = "x86-64-v4", lanes = 16, registers = 32, fma = true, l1 = 32768, l2 = 1048576, dot = "maddubs">} {
  // CHECK-LABEL: func.func @exponential
  // CHECK: %[[NORMAL:.*]] = arith.cmpf uge, %arg0, %{{.*}} : vector<16xf32>
  // CHECK: %[[N:.*]] = math.roundeven
  // CHECK-COUNT-8: math.fma
  // CHECK-NOT: math.fma
  // CHECK: %[[BITS:.*]] = vector.bitcast %[[NORMAL]] : vector<16xi1> to vector<1xi16>
  // CHECK: %[[MASK:.*]] = vector.extract %[[BITS]][0]
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%{{.*}}, %[[N]], %{{.*}}, %[[MASK]],
  // CHECK: math.floor
  // CHECK-NOT: call_intrinsic
  // CHECK: return
  func.func @exponential(%x: vector<16xf32>, %y: vector<8xf32>) -> (vector<16xf32>, vector<8xf32>) {
    %0 = math.exp %x : vector<16xf32>
    %1 = math.exp %y : vector<8xf32>
    return %0, %1 : vector<16xf32>, vector<8xf32>
  }
}

// -----

// A negative base keeps its sign where the exponent is odd, and has no power that is a fraction.
// CHECK-LABEL: func.func @powers
// CHECK-DAG: %[[INF:.*]] = arith.constant dense<0x7F800000> : vector<8xf32>
// CHECK: %[[ABS:.*]] = math.absf %arg0
// CHECK: %[[ZERO:.*]] = arith.cmpf oeq, %[[ABS]]
// CHECK: math.floor %arg1
// CHECK: math.copysign %{{.*}}, %arg0
// CHECK: return
func.func @powers(%x: vector<8xf32>, %y: vector<8xf32>) -> vector<8xf32> {
  %0 = math.powf %x, %y : vector<8xf32>
  return %0 : vector<8xf32>
}

// -----

// Constant whole exponents are products, also where a smaller float is computed in f32.
// CHECK-LABEL: func.func @fifth
// CHECK: %[[X:.*]] = arith.extf %arg0 : f16 to f32
// CHECK: %[[S:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK: %[[F:.*]] = arith.mulf %[[S]], %[[S]]
// CHECK: %[[P:.*]] = arith.mulf %[[X]], %[[F]]
// CHECK: arith.truncf %[[P]]
// CHECK-NOT: select
func.func @fifth(%x: f16) -> f16 {
  %c = arith.constant 5.0 : f16
  %0 = math.powf %x, %c : f16
  return %0 : f16
}

// -----

// CHECK-LABEL: func.func @roots
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.0
// CHECK: %[[R:.*]] = math.sqrt %arg0
// CHECK: arith.divf %[[ONE]], %[[R]]
// CHECK-NOT: select
func.func @roots(%x: f64) -> f64 {
  %c = arith.constant -0.5 : f64
  %0 = math.powf %x, %c : f64
  return %0 : f64
}

// -----

// Angles of many turns are reduced in f64; a cosine is the sine of a quarter of a turn later.
// CHECK-LABEL: func.func @angle
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<8xf64>
// CHECK: %[[X:.*]] = arith.extf %arg0 : vector<8xf32> to vector<8xf64>
// CHECK: %[[Q:.*]] = math.roundeven
// CHECK: math.fma
// CHECK: math.fma
// CHECK: arith.addf %[[Q]], %[[ONE]]
// CHECK: arith.truncf
// CHECK-NOT: math.cos
// CHECK: return
func.func @angle(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.cos %x : vector<8xf32>
  return %0 : vector<8xf32>
}

// -----

// The steps of an expansion are not rounded to 16 bits.
// CHECK-LABEL: func.func @half_steps
// CHECK: arith.extf %arg0 : f16 to f32
// CHECK-NOT: f16
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT: return
func.func @half_steps(%x: f16) -> f16 {
  %0 = math.acosh %x : f16
  return %0 : f16
}

// -----

// Quotients of integers are those of floats.
// CHECK-LABEL: func.func @divisions
// CHECK: arith.uitofp {{.*}} vector<8xi16> to vector<8xf32>
// CHECK: arith.divf {{.*}} vector<8xf32>
// CHECK: arith.fptoui {{.*}} vector<8xf32> to vector<8xi16>
// CHECK: arith.sitofp {{.*}} vector<8xi32> to vector<8xf64>
// CHECK: arith.divf {{.*}} vector<8xf64>
// CHECK: arith.muli
// CHECK: arith.subi
// CHECK: arith.divsi {{.*}} vector<8xi64>
func.func @divisions(%a: vector<8xi16>, %b: vector<8xi16>, %c: vector<8xi32>, %d: vector<8xi32>,
                     %e: vector<8xi64>, %f: vector<8xi64>) -> (vector<8xi16>, vector<8xi32>, vector<8xi64>) {
  %0 = arith.divui %a, %b : vector<8xi16>
  %1 = arith.remsi %c, %d : vector<8xi32>
  %2 = arith.divsi %e, %f : vector<8xi64>
  return %0, %1, %2 : vector<8xi16>, vector<8xi32>, vector<8xi64>
}

// -----

// Integers of 64 bits are divided so where f64 has room for all lanes.
// CHECK-LABEL: func.func @long
// CHECK: arith.cmpi ult
// CHECK: vector.reduction <and>
// CHECK: scf.if
// CHECK: arith.divf {{.*}} vector<16xf64>
// CHECK: else
// CHECK: arith.divsi {{.*}} vector<16xi64>
module attributes {cpu.level = #cpu.level<name = "v4", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 1048576>} {
  func.func @long(%a: vector<16xi64>, %b: vector<16xi64>) -> vector<16xi64> {
    %0 = arith.divsi %a, %b : vector<16xi64>
    return %0 : vector<16xi64>
  }
}
