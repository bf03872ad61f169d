// RUN: atc-opt --split-input-file --pass-pipeline='builtin.module(func.func(cpu-lower-math))' %s | FileCheck %s

// Sums of bytes stay below what the conversion takes, and packing saturates to 255.
// CHECK-LABEL: func.func @sum_of_bytes(
// CHECK-NOT: arith.minimumf
// CHECK: %[[SUM:.*]] = math.fma
// CHECK: llvm.x86.avx.cvt.ps2dq.256"(%[[SUM]])
func.func @sum_of_bytes(%x: vector<8xi8>, %y: vector<8xi8>) -> vector<8xi8> {
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %a = arith.constant dense<1.5> : vector<8xf32>
  %0 = arith.uitofp %x : vector<8xi8> to vector<8xf32>
  %1 = arith.sitofp %y : vector<8xi8> to vector<8xf32>
  %2 = math.fma %0, %a, %1 : vector<8xf32>
  %3 = math.roundeven %2 : vector<8xf32>
  %4 = arith.maximumf %3, %low fastmath<nnan> : vector<8xf32>
  %5 = arith.minimumf %4, %high fastmath<nnan> : vector<8xf32>
  %6 = arith.fptoui %5 : vector<8xf32> to vector<8xi8>
  return %6 : vector<8xi8>
}

// -----

// A bound below that of the type stays, as does one of a sum that may be larger than an integer.
// CHECK-LABEL: func.func @bounded_below(
// CHECK: arith.minimumf
// CHECK-LABEL: func.func @large_sum(
// CHECK: arith.minimumf
func.func @bounded_below(%x: vector<8xi8>) -> vector<8xi8> {
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<254.0> : vector<8xf32>
  %a = arith.constant dense<1.5> : vector<8xf32>
  %0 = arith.uitofp %x : vector<8xi8> to vector<8xf32>
  %2 = arith.mulf %0, %a : vector<8xf32>
  %3 = math.roundeven %2 : vector<8xf32>
  %4 = arith.maximumf %3, %low fastmath<nnan> : vector<8xf32>
  %5 = arith.minimumf %4, %high fastmath<nnan> : vector<8xf32>
  %6 = arith.fptoui %5 : vector<8xf32> to vector<8xi8>
  return %6 : vector<8xi8>
}
func.func @large_sum(%x: vector<8xi8>) -> vector<8xi8> {
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %a = arith.constant dense<1.0e7> : vector<8xf32>
  %0 = arith.uitofp %x : vector<8xi8> to vector<8xf32>
  %2 = arith.mulf %0, %a : vector<8xf32>
  %3 = math.roundeven %2 : vector<8xf32>
  %4 = arith.maximumf %3, %low fastmath<nnan> : vector<8xf32>
  %5 = arith.minimumf %4, %high fastmath<nnan> : vector<8xf32>
  %6 = arith.fptoui %5 : vector<8xf32> to vector<8xi8>
  return %6 : vector<8xi8>
}

// -----

// A quotient by a scale is two products with the parts of its reciprocal, cut in front of them.
// CHECK-LABEL: func.func @quotient(
// CHECK-DAG: %[[MOST:.*]] = arith.constant dense<2.500000e+01>
// CHECK: %[[CUT:.*]] = arith.minimumf %{{.*}}, %[[MOST]]
// CHECK: %[[LOW:.*]] = arith.mulf %[[CUT]]
// CHECK: %[[SUM:.*]] = math.fma %[[CUT]], %{{.*}}, %[[LOW]]
// CHECK: llvm.x86.avx.cvt.ps2dq.256"(%[[SUM]])
func.func @quotient(%x: vector<8xf32>) -> vector<8xi8> {
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %zero = arith.constant dense<5.0> : vector<8xf32>
  %scale = arith.constant dense<0.1> : vector<8xf32>
  %2 = arith.divf %x, %scale : vector<8xf32>
  %3 = math.roundeven %2 : vector<8xf32>
  %4 = arith.addf %3, %zero : vector<8xf32>
  %5 = arith.maximumf %4, %low fastmath<nnan> : vector<8xf32>
  %6 = arith.minimumf %5, %high fastmath<nnan> : vector<8xf32>
  %7 = arith.fptoui %6 : vector<8xf32> to vector<8xi8>
  return %7 : vector<8xi8>
}

// -----

// What may be a NaN passes the upper bound, and is the minimum when it is converted.
// CHECK-LABEL: func.func @quotient_of_anything(
// CHECK: %[[KEEPS:.*]] = arith.cmpf ule, %arg0
// CHECK: %[[CUT:.*]] = arith.select %[[KEEPS]], %arg0
// CHECK: %[[LOW:.*]] = arith.mulf %[[CUT]]
// CHECK: %[[SUM:.*]] = math.fma %[[CUT]], %{{.*}}, %[[LOW]]
// CHECK: llvm.x86.avx.cvt.ps2dq.256"(%[[SUM]])
func.func @quotient_of_anything(%x: vector<8xf32>) -> vector<8xi8> {
  %low = arith.constant dense<-128.0> : vector<8xf32>
  %high = arith.constant dense<127.0> : vector<8xf32>
  %scale = arith.constant dense<0.1> : vector<8xf32>
  %2 = arith.divf %x, %scale : vector<8xf32>
  %3 = math.roundeven %2 : vector<8xf32>
  %5 = arith.maximumf %3, %low : vector<8xf32>
  %6 = arith.minimumf %5, %high : vector<8xf32>
  %7 = arith.fptosi %6 : vector<8xf32> to vector<8xi8>
  return %7 : vector<8xi8>
}

// -----

// The last bits of this scale are those with which a quotient may be in the middle of two floats.
// CHECK-LABEL: func.func @quotient_by_near_one(
// CHECK: arith.divf
func.func @quotient_by_near_one(%x: vector<8xf32>) -> vector<8xi8> {
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %scale = arith.constant dense<0x3F800001> : vector<8xf32>
  %2 = arith.divf %x, %scale : vector<8xf32>
  %3 = math.roundeven %2 : vector<8xf32>
  %5 = arith.maximumf %3, %low fastmath<nnan> : vector<8xf32>
  %6 = arith.minimumf %5, %high fastmath<nnan> : vector<8xf32>
  %7 = arith.fptoui %6 : vector<8xf32> to vector<8xi8>
  return %7 : vector<8xi8>
}
