// RUN: atc-opt --split-input-file --pass-pipeline='builtin.module(func.func(cpu-lower-math))' %s | FileCheck %s

// The conversion rounds, to even. What is too small for it becomes the least integer, so it is
// cut as an integer with what is below the range; only the upper end is cut before.
// CHECK-LABEL: func.func @unsigned(
// CHECK-SAME: %[[X:.*]]: vector<8xf32>)
// CHECK-DAG: %[[HIGH:.*]] = arith.constant dense<2.550000e+02> : vector<8xf32>
// CHECK-DAG: %[[LEAST:.*]] = arith.constant dense<0> : vector<8xi32>
// CHECK-DAG: %[[MOST:.*]] = arith.constant dense<255> : vector<8xi32>
// CHECK: %[[CUT:.*]] = arith.minimumf %[[X]], %[[HIGH]] fastmath<nnan,nsz>
// CHECK-NEXT: %[[WORDS:.*]] = llvm.call_intrinsic "llvm.x86.avx.cvt.ps2dq.256"(%[[CUT]])
// CHECK-NEXT: %[[ABOVE:.*]] = arith.maxsi %[[WORDS]], %[[LEAST]] : vector<8xi32>
// CHECK-NEXT: %[[INSIDE:.*]] = arith.minsi %[[ABOVE]], %[[MOST]] : vector<8xi32>
// CHECK-NEXT: %[[BYTES:.*]] = arith.trunci %[[INSIDE]] : vector<8xi32> to vector<8xi8>
// CHECK-NEXT: return %[[BYTES]]
func.func @unsigned(%x: vector<8xf32>) -> vector<8xi8> {
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %2 = arith.maximumf %0, %low fastmath<nnan> : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
  %4 = arith.fptoui %3 : vector<8xf32> to vector<8xi8>
  return %4 : vector<8xi8>
}

// CHECK-LABEL: func.func @signed(
// CHECK-DAG: %[[HIGH:.*]] = arith.constant dense<1.270000e+02> : vector<8xf32>
// CHECK-DAG: %[[LEAST:.*]] = arith.constant dense<-128> : vector<8xi32>
// CHECK-DAG: %[[MOST:.*]] = arith.constant dense<127> : vector<8xi32>
// CHECK: arith.minimumf %{{.*}}, %[[HIGH]]
// CHECK-NEXT: llvm.call_intrinsic "llvm.x86.avx.cvt.ps2dq.256"
// CHECK-NEXT: arith.maxsi %{{.*}}, %[[LEAST]]
// CHECK-NEXT: arith.minsi %{{.*}}, %[[MOST]]
// CHECK-NEXT: arith.trunci
// CHECK-NEXT: return
func.func @signed(%x: vector<8xf32>) -> vector<8xi8> {
  %low = arith.constant dense<-128.0> : vector<8xf32>
  %high = arith.constant dense<127.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %2 = arith.maximumf %0, %low fastmath<nnan> : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
  %4 = arith.fptosi %3 : vector<8xf32> to vector<8xi8>
  return %4 : vector<8xi8>
}

// A zero point is added to shorts, which cut what leaves them; it moves the upper end.
// Registers of eight are converted one by one.
// CHECK-LABEL: func.func @zero_point(
// CHECK-SAME: %[[X:.*]]: vector<16xf32>)
// CHECK-DAG: %[[HIGH:.*]] = arith.constant dense<2.520000e+02> : vector<16xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<3> : vector<16xi16>
// CHECK-DAG: %[[SHORT_LEAST:.*]] = arith.constant dense<-32768> : vector<16xi32>
// CHECK-DAG: %[[SHORT_MOST:.*]] = arith.constant dense<32767> : vector<16xi32>
// CHECK-DAG: %[[LEAST:.*]] = arith.constant dense<0> : vector<16xi16>
// CHECK-DAG: %[[MOST:.*]] = arith.constant dense<255> : vector<16xi16>
// CHECK: %[[CUT:.*]] = arith.minimumf %[[X]], %[[HIGH]] fastmath<nnan,nsz>
// CHECK-NEXT: %[[X0:.*]] = vector.extract_strided_slice %[[CUT]] {offsets = [0], sizes = [8]
// CHECK-NEXT: %[[WORDS0:.*]] = llvm.call_intrinsic "llvm.x86.avx.cvt.ps2dq.256"(%[[X0]])
// CHECK-NEXT: %[[HALF:.*]] = vector.insert_strided_slice %[[WORDS0]], %{{.*}} {offsets = [0]
// CHECK-NEXT: %[[X1:.*]] = vector.extract_strided_slice %[[CUT]] {offsets = [8], sizes = [8]
// CHECK-NEXT: %[[WORDS1:.*]] = llvm.call_intrinsic "llvm.x86.avx.cvt.ps2dq.256"(%[[X1]])
// CHECK-NEXT: %[[WORDS:.*]] = vector.insert_strided_slice %[[WORDS1]], %[[HALF]] {offsets = [8]
// CHECK-NEXT: %[[ABOVE:.*]] = arith.maxsi %[[WORDS]], %[[SHORT_LEAST]]
// CHECK-NEXT: %[[INSIDE:.*]] = arith.minsi %[[ABOVE]], %[[SHORT_MOST]]
// CHECK-NEXT: %[[SHORTS:.*]] = arith.trunci %[[INSIDE]] : vector<16xi32> to vector<16xi16>
// CHECK-NEXT: %[[SUM:.*]] = llvm.intr.sadd.sat(%[[SHORTS]], %[[ZERO]])
// CHECK-NEXT: %[[SUM_ABOVE:.*]] = arith.maxsi %[[SUM]], %[[LEAST]]
// CHECK-NEXT: %[[SUM_INSIDE:.*]] = arith.minsi %[[SUM_ABOVE]], %[[MOST]]
// CHECK-NEXT: arith.trunci %[[SUM_INSIDE]] : vector<16xi16> to vector<16xi8>
// CHECK-NEXT: return
func.func @zero_point(%x: vector<16xf32>) -> vector<16xi8> {
  %zero = arith.constant dense<3.0> : vector<16xf32>
  %low = arith.constant dense<0.0> : vector<16xf32>
  %high = arith.constant dense<255.0> : vector<16xf32>
  %0 = math.roundeven %x : vector<16xf32>
  %1 = arith.addf %0, %zero : vector<16xf32>
  %2 = arith.maximumf %1, %low fastmath<nnan> : vector<16xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<16xf32>
  %4 = arith.fptoui %3 : vector<16xf32> to vector<16xi8>
  return %4 : vector<16xi8>
}

// CHECK-LABEL: func.func @signed_zero_point(
// CHECK-DAG: arith.constant dense<1.370000e+02> : vector<8xf32>
// CHECK-DAG: arith.constant dense<-10> : vector<8xi16>
// CHECK-DAG: arith.constant dense<-128> : vector<8xi16>
// CHECK-DAG: arith.constant dense<127> : vector<8xi16>
// CHECK: llvm.intr.sadd.sat
// CHECK: arith.trunci %{{.*}} : vector<8xi16> to vector<8xi8>
func.func @signed_zero_point(%x: vector<8xf32>) -> vector<8xi8> {
  %zero = arith.constant dense<-10.0> : vector<8xf32>
  %low = arith.constant dense<-128.0> : vector<8xf32>
  %high = arith.constant dense<127.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %1 = arith.addf %0, %zero : vector<8xf32>
  %2 = arith.maximumf %1, %low fastmath<nnan> : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
  %4 = arith.fptosi %3 : vector<8xf32> to vector<8xi8>
  return %4 : vector<8xi8>
}

// A range that is a part of the bytes, as of an activation: both ends are cut before, where
// they are less the zero point.
// CHECK-LABEL: func.func @narrower(
// CHECK-SAME: %[[X:.*]]: vector<8xf32>)
// CHECK-DAG: %[[LOW:.*]] = arith.constant dense<-5.000000e+00> : vector<8xf32>
// CHECK-DAG: %[[HIGH:.*]] = arith.constant dense<1.900000e+02> : vector<8xf32>
// CHECK: %[[CUT:.*]] = arith.minimumf %[[X]], %[[HIGH]] fastmath<nnan,nsz>
// CHECK-NEXT: %[[BOTH:.*]] = arith.maximumf %[[CUT]], %[[LOW]] fastmath<nnan,nsz>
// CHECK-NEXT: llvm.call_intrinsic "llvm.x86.avx.cvt.ps2dq.256"(%[[BOTH]])
// CHECK: llvm.intr.sadd.sat
func.func @narrower(%x: vector<8xf32>) -> vector<8xi8> {
  %zero = arith.constant dense<10.0> : vector<8xf32>
  %low = arith.constant dense<5.0> : vector<8xf32>
  %high = arith.constant dense<200.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %1 = arith.addf %0, %zero : vector<8xf32>
  %2 = arith.maximumf %1, %low fastmath<nnan> : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
  %4 = arith.fptoui %3 : vector<8xf32> to vector<8xi8>
  return %4 : vector<8xi8>
}

// Quantized and dequantized at once: the zero point moves the bounds instead.
// CHECK-LABEL: func.func @taken_back(
// CHECK-SAME: %[[X:.*]]: vector<8xf32>)
// CHECK-DAG: %[[LOW:.*]] = arith.constant dense<-1.030000e+02> : vector<8xf32>
// CHECK-DAG: %[[HIGH:.*]] = arith.constant dense<1.240000e+02> : vector<8xf32>
// CHECK: %[[ROUND:.*]] = math.roundeven %[[X]]
// CHECK-NEXT: %[[ABOVE:.*]] = arith.maximumf %[[ROUND]], %[[LOW]] fastmath<nnan,nsz>
// CHECK-NEXT: %[[INSIDE:.*]] = arith.minimumf %[[ABOVE]], %[[HIGH]] fastmath<nnan,nsz>
// CHECK-NEXT: return %[[INSIDE]]
func.func @taken_back(%x: vector<8xf32>) -> vector<8xf32> {
  %zero = arith.constant dense<3.0> : vector<8xf32>
  %low = arith.constant dense<-100.0> : vector<8xf32>
  %high = arith.constant dense<127.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %1 = arith.addf %0, %zero : vector<8xf32>
  %2 = arith.maximumf %1, %low fastmath<nnan> : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
  %4 = arith.subf %3, %zero : vector<8xf32>
  return %4 : vector<8xf32>
}

// The same for doubles.
// CHECK-LABEL: func.func @taken_back_f64(
// CHECK-DAG: arith.constant dense<-1.030000e+02> : vector<3xf64>
// CHECK-DAG: arith.constant dense<1.240000e+02> : vector<3xf64>
// CHECK-NOT: arith.{{(addf|subf)}}
// CHECK: return
func.func @taken_back_f64(%x: vector<3xf64>) -> vector<3xf64> {
  %zero = arith.constant dense<3.0> : vector<3xf64>
  %low = arith.constant dense<-100.0> : vector<3xf64>
  %high = arith.constant dense<127.0> : vector<3xf64>
  %0 = math.roundeven %x : vector<3xf64>
  %1 = arith.addf %0, %zero : vector<3xf64>
  %2 = arith.maximumf %1, %low fastmath<nnan> : vector<3xf64>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<3xf64>
  %4 = arith.subf %3, %zero : vector<3xf64>
  return %4 : vector<3xf64>
}

// Bytes that are stored as well keep their zero point.
// CHECK-LABEL: func.func @taken_back_and_stored(
// CHECK-DAG: math.roundeven
// CHECK-DAG: llvm.intr.sadd.sat
// CHECK-NOT: arith.{{(addf|subf)}}
// CHECK: return
func.func @taken_back_and_stored(%x: vector<8xf32>) -> (vector<8xf32>, vector<8xi8>) {
  %zero = arith.constant dense<3.0> : vector<8xf32>
  %low = arith.constant dense<-100.0> : vector<8xf32>
  %high = arith.constant dense<127.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %1 = arith.addf %0, %zero : vector<8xf32>
  %2 = arith.maximumf %1, %low fastmath<nnan> : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
  %4 = arith.subf %3, %zero : vector<8xf32>
  %5 = arith.fptosi %3 : vector<8xf32> to vector<8xi8>
  return %4, %5 : vector<8xf32>, vector<8xi8>
}

// What may be a NaN at either end is cut by a comparison, which a NaN passes: it becomes the minimum.
// CHECK-LABEL: func.func @may_be_nan(
// CHECK: %[[KEEPS:.*]] = arith.cmpf ule, %arg0
// CHECK: %[[CUT:.*]] = arith.select %[[KEEPS]], %arg0
// CHECK: llvm.x86.avx.cvt.ps2dq.256"(%[[CUT]])
func.func @may_be_nan(%x: vector<8xf32>) -> vector<8xi8> {
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %2 = arith.maximumf %0, %low : vector<8xf32>
  %3 = arith.minimumf %2, %high : vector<8xf32>
  %4 = arith.fptoui %3 : vector<8xf32> to vector<8xi8>
  return %4 : vector<8xi8>
}

// CHECK-LABEL: func.func @low_may_be_nan(
// CHECK: %[[KEEPS:.*]] = arith.cmpf ule, %arg0
// CHECK: %[[CUT:.*]] = arith.select %[[KEEPS]], %arg0
// CHECK: llvm.x86.avx.cvt.ps2dq.256"(%[[CUT]])
func.func @low_may_be_nan(%x: vector<8xf32>) -> vector<8xi8> {
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %2 = arith.maximumf %0, %low : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
  %4 = arith.fptoui %3 : vector<8xf32> to vector<8xi8>
  return %4 : vector<8xi8>
}

// CHECK-LABEL: func.func @high_may_be_nan(
// CHECK: %[[KEEPS:.*]] = arith.cmpf ule, %arg0
// CHECK: %[[CUT:.*]] = arith.select %[[KEEPS]], %arg0
// CHECK: llvm.x86.avx.cvt.ps2dq.256"(%[[CUT]])
func.func @high_may_be_nan(%x: vector<8xf32>) -> vector<8xi8> {
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %2 = arith.maximumf %0, %low fastmath<nnan> : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nsz> : vector<8xf32>
  %4 = arith.fptoui %3 : vector<8xf32> to vector<8xi8>
  return %4 : vector<8xi8>
}

// The conversion would round what is cut off towards zero here.
// CHECK-LABEL: func.func @not_rounded(
// CHECK-NOT: llvm.
// CHECK: arith.fpto
func.func @not_rounded(%x: vector<8xf32>) -> vector<8xi8> {
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %2 = arith.maximumf %x, %low fastmath<nnan> : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
  %4 = arith.fptoui %3 : vector<8xf32> to vector<8xi8>
  return %4 : vector<8xi8>
}

// Nor is floor what it does.
// CHECK-LABEL: func.func @floor(
// CHECK-NOT: llvm.
// CHECK: arith.fpto
func.func @floor(%x: vector<8xf32>) -> vector<8xi8> {
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %0 = math.floor %x : vector<8xf32>
  %2 = arith.maximumf %0, %low fastmath<nnan> : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
  %4 = arith.fptoui %3 : vector<8xf32> to vector<8xi8>
  return %4 : vector<8xi8>
}

// A zero point that is not whole does not commute with rounding.
// CHECK-LABEL: func.func @not_whole(
// CHECK-NOT: llvm.
// CHECK: arith.fpto
func.func @not_whole(%x: vector<8xf32>) -> vector<8xi8> {
  %zero = arith.constant dense<0.5> : vector<8xf32>
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %1 = arith.addf %0, %zero : vector<8xf32>
  %2 = arith.maximumf %1, %low fastmath<nnan> : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
  %4 = arith.fptoui %3 : vector<8xf32> to vector<8xi8>
  return %4 : vector<8xi8>
}

// One that is larger than any of bytes.
// CHECK-LABEL: func.func @large(
// CHECK-NOT: llvm.
// CHECK: arith.fpto
func.func @large(%x: vector<8xf32>) -> vector<8xi8> {
  %zero = arith.constant dense<600.0> : vector<8xf32>
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %1 = arith.addf %0, %zero : vector<8xf32>
  %2 = arith.maximumf %1, %low fastmath<nnan> : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
  %4 = arith.fptoui %3 : vector<8xf32> to vector<8xi8>
  return %4 : vector<8xi8>
}

// Bounds that are not whole.
// CHECK-LABEL: func.func @bound_not_whole(
// CHECK-NOT: llvm.
// CHECK: arith.fpto
func.func @bound_not_whole(%x: vector<8xf32>) -> vector<8xi8> {
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<254.5> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %2 = arith.maximumf %0, %low fastmath<nnan> : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
  %4 = arith.fptoui %3 : vector<8xf32> to vector<8xi8>
  return %4 : vector<8xi8>
}

// A range that is no part of the bytes.
// CHECK-LABEL: func.func @wider(
// CHECK-NOT: llvm.
// CHECK: arith.fpto
func.func @wider(%x: vector<8xf32>) -> vector<8xi8> {
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %2 = arith.maximumf %0, %low fastmath<nnan> : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
  %4 = arith.fptosi %3 : vector<8xf32> to vector<8xi8>
  return %4 : vector<8xi8>
}

// An empty one.
// CHECK-LABEL: func.func @no_range(
// CHECK-NOT: llvm.
// CHECK: arith.fpto
func.func @no_range(%x: vector<8xf32>) -> vector<8xi8> {
  %low = arith.constant dense<20.0> : vector<8xf32>
  %high = arith.constant dense<10.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %2 = arith.maximumf %0, %low fastmath<nnan> : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
  %4 = arith.fptoui %3 : vector<8xf32> to vector<8xi8>
  return %4 : vector<8xi8>
}

// Cut in the other order.
// CHECK-LABEL: func.func @other_order(
// CHECK-NOT: llvm.
// CHECK: arith.fpto
func.func @other_order(%x: vector<8xf32>) -> vector<8xi8> {
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %2 = arith.minimumf %0, %high fastmath<nnan> : vector<8xf32>
  %3 = arith.maximumf %2, %low fastmath<nnan> : vector<8xf32>
  %4 = arith.fptoui %3 : vector<8xf32> to vector<8xi8>
  return %4 : vector<8xi8>
}

// Numbers that are not f32, not whole registers or not to be bytes.
// CHECK-LABEL: func.func @doubles(
// CHECK-NOT: llvm.
// CHECK: arith.fpto
func.func @doubles(%x: vector<8xf64>) -> vector<8xi8> {
  %low = arith.constant dense<0.0> : vector<8xf64>
  %high = arith.constant dense<255.0> : vector<8xf64>
  %0 = math.roundeven %x : vector<8xf64>
  %2 = arith.maximumf %0, %low fastmath<nnan> : vector<8xf64>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf64>
  %4 = arith.fptoui %3 : vector<8xf64> to vector<8xi8>
  return %4 : vector<8xi8>
}

// CHECK-LABEL: func.func @twelve(
// CHECK-NOT: llvm.
// CHECK: arith.fpto
func.func @twelve(%x: vector<12xf32>) -> vector<12xi8> {
  %low = arith.constant dense<0.0> : vector<12xf32>
  %high = arith.constant dense<255.0> : vector<12xf32>
  %0 = math.roundeven %x : vector<12xf32>
  %2 = arith.maximumf %0, %low fastmath<nnan> : vector<12xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<12xf32>
  %4 = arith.fptoui %3 : vector<12xf32> to vector<12xi8>
  return %4 : vector<12xi8>
}

// CHECK-LABEL: func.func @one(
// CHECK-NOT: llvm.
// CHECK: arith.fpto
func.func @one(%x: f32) -> i8 {
  %low = arith.constant 0.0 : f32
  %high = arith.constant 255.0 : f32
  %0 = math.roundeven %x : f32
  %2 = arith.maximumf %0, %low fastmath<nnan> : f32
  %3 = arith.minimumf %2, %high fastmath<nnan> : f32
  %4 = arith.fptoui %3 : f32 to i8
  return %4 : i8
}

// CHECK-LABEL: func.func @shorts(
// CHECK-NOT: llvm.
// CHECK: arith.fpto
func.func @shorts(%x: vector<8xf32>) -> vector<8xi16> {
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %2 = arith.maximumf %0, %low fastmath<nnan> : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
  %4 = arith.fptoui %3 : vector<8xf32> to vector<8xi16>
  return %4 : vector<8xi16>
}

// CHECK-LABEL: func.func @matrix(
// CHECK-NOT: llvm.
// CHECK: arith.fpto
func.func @matrix(%x: vector<2x8xf32>) -> vector<2x8xi8> {
  %low = arith.constant dense<0.0> : vector<2x8xf32>
  %high = arith.constant dense<255.0> : vector<2x8xf32>
  %0 = math.roundeven %x : vector<2x8xf32>
  %2 = arith.maximumf %0, %low fastmath<nnan> : vector<2x8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<2x8xf32>
  %4 = arith.fptoui %3 : vector<2x8xf32> to vector<2x8xi8>
  return %4 : vector<2x8xi8>
}

// Each number with its own zero point.
// CHECK-LABEL: func.func @each_its_own(
// CHECK-NOT: llvm.
// CHECK: arith.fpto
func.func @each_its_own(%x: vector<8xf32>) -> vector<8xi8> {
  %zero = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : vector<8xf32>
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %1 = arith.addf %0, %zero : vector<8xf32>
  %2 = arith.maximumf %1, %low fastmath<nnan> : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
  %4 = arith.fptoui %3 : vector<8xf32> to vector<8xi8>
  return %4 : vector<8xi8>
}

// Another number is taken away than was added.
// CHECK-LABEL: func.func @other_zero_point(
// CHECK: arith.subf
func.func @other_zero_point(%x: vector<8xf32>) -> vector<8xf32> {
  %zero = arith.constant dense<3.0> : vector<8xf32>
  %back = arith.constant dense<4.0> : vector<8xf32>
  %low = arith.constant dense<-100.0> : vector<8xf32>
  %high = arith.constant dense<127.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %1 = arith.addf %0, %zero : vector<8xf32>
  %2 = arith.maximumf %1, %low fastmath<nnan> : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
  %4 = arith.subf %3, %back : vector<8xf32>
  return %4 : vector<8xf32>
}

// None was added.
// CHECK-LABEL: func.func @no_zero_point(
// CHECK: arith.subf
func.func @no_zero_point(%x: vector<8xf32>) -> vector<8xf32> {
  %back = arith.constant dense<4.0> : vector<8xf32>
  %low = arith.constant dense<-100.0> : vector<8xf32>
  %high = arith.constant dense<127.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %2 = arith.maximumf %0, %low fastmath<nnan> : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
  %4 = arith.subf %3, %back : vector<8xf32>
  return %4 : vector<8xf32>
}

// It may be NaN, is not rounded, or has a zero point that is not whole.
// CHECK-LABEL: func.func @back_may_be_nan(
// CHECK: arith.subf
func.func @back_may_be_nan(%x: vector<8xf32>) -> vector<8xf32> {
  %zero = arith.constant dense<3.0> : vector<8xf32>
  %low = arith.constant dense<-100.0> : vector<8xf32>
  %high = arith.constant dense<127.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %1 = arith.addf %0, %zero : vector<8xf32>
  %2 = arith.maximumf %1, %low : vector<8xf32>
  %3 = arith.minimumf %2, %high : vector<8xf32>
  %4 = arith.subf %3, %zero : vector<8xf32>
  return %4 : vector<8xf32>
}

// CHECK-LABEL: func.func @back_not_rounded(
// CHECK: arith.subf
func.func @back_not_rounded(%x: vector<8xf32>) -> vector<8xf32> {
  %zero = arith.constant dense<3.0> : vector<8xf32>
  %low = arith.constant dense<-100.0> : vector<8xf32>
  %high = arith.constant dense<127.0> : vector<8xf32>
  %1 = arith.addf %x, %zero : vector<8xf32>
  %2 = arith.maximumf %1, %low fastmath<nnan> : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
  %4 = arith.subf %3, %zero : vector<8xf32>
  return %4 : vector<8xf32>
}

// CHECK-LABEL: func.func @back_not_whole(
// CHECK: arith.subf
func.func @back_not_whole(%x: vector<8xf32>) -> vector<8xf32> {
  %zero = arith.constant dense<0.5> : vector<8xf32>
  %low = arith.constant dense<-100.0> : vector<8xf32>
  %high = arith.constant dense<127.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %1 = arith.addf %0, %zero : vector<8xf32>
  %2 = arith.maximumf %1, %low fastmath<nnan> : vector<8xf32>
  %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
  %4 = arith.subf %3, %zero : vector<8xf32>
  return %4 : vector<8xf32>
}

// -----

// Registers of four have no such conversion; zero points are dropped there, too.
module attributes {cpu.level = #cpu.level<name = "x86-64-v2", lanes = 4, registers = 16, fma = false, l1 = 32768, l2 = 262144, dot = "maddubs">} {
  // CHECK-LABEL: func.func @v2(
  // CHECK-NOT: llvm.
  // CHECK: arith.fpto
  func.func @v2(%x: vector<8xf32>) -> vector<8xi8> {
    %low = arith.constant dense<0.0> : vector<8xf32>
    %high = arith.constant dense<255.0> : vector<8xf32>
    %0 = math.roundeven %x : vector<8xf32>
    %2 = arith.maximumf %0, %low fastmath<nnan> : vector<8xf32>
    %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
    %4 = arith.fptoui %3 : vector<8xf32> to vector<8xi8>
    return %4 : vector<8xi8>
  }

  // CHECK-LABEL: func.func @v2_taken_back(
  // CHECK-NOT: arith.{{(addf|subf)}}
  // CHECK: return
  func.func @v2_taken_back(%x: vector<8xf32>) -> vector<8xf32> {
    %zero = arith.constant dense<3.0> : vector<8xf32>
    %low = arith.constant dense<-100.0> : vector<8xf32>
    %high = arith.constant dense<127.0> : vector<8xf32>
    %0 = math.roundeven %x : vector<8xf32>
    %1 = arith.addf %0, %zero : vector<8xf32>
    %2 = arith.maximumf %1, %low fastmath<nnan> : vector<8xf32>
    %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
    %4 = arith.subf %3, %zero : vector<8xf32>
    return %4 : vector<8xf32>
  }
}

// -----

// Other processors have other instructions.
module attributes {cpu.level = #cpu.level<name = "sve", lanes = 8, registers = 32, fma = true, l1 = 32768, l2 = 524288>} {
  // CHECK-LABEL: func.func @other(
  // CHECK-NOT: llvm.
  // CHECK: arith.fpto
  func.func @other(%x: vector<8xf32>) -> vector<8xi8> {
    %low = arith.constant dense<0.0> : vector<8xf32>
    %high = arith.constant dense<255.0> : vector<8xf32>
    %0 = math.roundeven %x : vector<8xf32>
    %2 = arith.maximumf %0, %low fastmath<nnan> : vector<8xf32>
    %3 = arith.minimumf %2, %high fastmath<nnan> : vector<8xf32>
    %4 = arith.fptoui %3 : vector<8xf32> to vector<8xi8>
    return %4 : vector<8xi8>
  }
}

// -----

// Wider levels convert whole registers.
module attributes {cpu.level = #cpu.level<name = "vnni", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 1048576, dot = "vnni">} {
  // CHECK-LABEL: func.func @vnni(
  // CHECK-COUNT-1: llvm.x86.avx512.mask.cvtps2dq.512
  // CHECK-NOT: llvm.x86
  // CHECK-NOT: fptoui
  // CHECK: return
  func.func @vnni(%x: vector<16xf32>) -> vector<16xi8> {
    %low = arith.constant dense<0.0> : vector<16xf32>
    %high = arith.constant dense<255.0> : vector<16xf32>
    %0 = math.roundeven %x : vector<16xf32>
    %2 = arith.maximumf %0, %low fastmath<nnan> : vector<16xf32>
    %3 = arith.minimumf %2, %high fastmath<nnan> : vector<16xf32>
    %4 = arith.fptoui %3 : vector<16xf32> to vector<16xi8>
    return %4 : vector<16xi8>
  }
  // Four registers are packed together, then put in order by fours of bytes.
  // CHECK-LABEL: func.func @four_registers(
  // CHECK-COUNT-2: llvm.x86.avx512.mask.cvtps2dq.512
  // CHECK: llvm.x86.avx512.packssdw.512
  // CHECK-COUNT-2: llvm.x86.avx512.mask.cvtps2dq.512
  // CHECK: llvm.x86.avx512.packssdw.512
  // CHECK: llvm.x86.avx512.packuswb.512
  // CHECK: vector.shuffle {{.*}} [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]
  func.func @four_registers(%x: vector<64xf32>) -> vector<64xi8> {
    %low = arith.constant dense<0.0> : vector<64xf32>
    %high = arith.constant dense<255.0> : vector<64xf32>
    %0 = math.roundeven %x : vector<64xf32>
    %2 = arith.maximumf %0, %low fastmath<nnan> : vector<64xf32>
    %3 = arith.minimumf %2, %high fastmath<nnan> : vector<64xf32>
    %4 = arith.fptoui %3 : vector<64xf32> to vector<64xi8>
    return %4 : vector<64xi8>
  }

  // CHECK-LABEL: func.func @two_registers(
  // CHECK-COUNT-1: llvm.x86.avx512.packssdw.512
  // CHECK: llvm.x86.avx512.packsswb.512
  // CHECK: vector.shuffle {{.*}} [0, 4, 8, 12, 1, 5, 9, 13]
  func.func @two_registers(%x: vector<32xf32>) -> vector<32xi8> {
    %low = arith.constant dense<-128.0> : vector<32xf32>
    %high = arith.constant dense<127.0> : vector<32xf32>
    %0 = math.roundeven %x : vector<32xf32>
    %2 = arith.maximumf %0, %low fastmath<nnan> : vector<32xf32>
    %3 = arith.minimumf %2, %high fastmath<nnan> : vector<32xf32>
    %4 = arith.fptosi %3 : vector<32xf32> to vector<32xi8>
    return %4 : vector<32xi8>
  }
}
