// RUN: atc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(npu-prefetch-weights))' | FileCheck %s
// RUN: atc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(npu-prefetch-weights{chain=false prefetch=false}))' | FileCheck %s --check-prefix=OFF
// RUN: atc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(npu-prefetch-weights{share=0.0000834}))' | FileCheck %s --check-prefix=ROOM
// RUN: atc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(npu-prefetch-weights))' --remarks-filter=npu-prefetch-weights --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Analysis] {{.*}}Category:npu-prefetch-weights{{.*}}launches continue the task of the one before

module attributes {npu.soc = "Ascend910B4"} {
func.func private @dense(memref<64x64xf16>, memref<64x64xf16>, memref<64x64xf16>) attributes {npu.kernel}
func.func private @host(memref<64x64xf16>, memref<64x64xf16>, index, index) attributes {cpu.kernel}

// OFF-LABEL: func.func @main
// OFF-NOT: prefetch
// OFF-NOT: chained
// CHECK-LABEL: func.func @main
// ROOM-LABEL: func.func @main
func.func @main(%x: memref<64x64xf16>, %y: memref<64x64xf16> {om.output}) {
  %w1 = om.weight dense<1.0> : tensor<64x64xf16> : memref<64x64xf16>
  %a = om.alloc : memref<64x64xf16>
  // The first one's own weights come too late for a prefetch.
  // CHECK: %[[W1:.*]] = om.weight dense<1.0
  // CHECK: %[[W2:.*]] = om.weight dense<2.0
  // CHECK: %[[W3:.*]] = om.weight dense<3.0
  // CHECK: om.launch @dense(%{{.*}}, %[[W1]], %{{.*}}) prefetch(%[[W2]], %[[W3]] : memref<64x64xf16>, memref<64x64xf16>)
  // CHECK-NOT: chained
  // L2 has room for one of them, and for the next only when it is used up.
  // ROOM: %[[W1:.*]] = om.weight dense<1.0
  // ROOM: %[[W2:.*]] = om.weight dense<2.0
  // ROOM: om.launch @dense(%{{.*}}, %[[W1]], %{{.*}}) prefetch(%[[W2]] : memref<64x64xf16>)
  om.launch @dense(%x, %w1, %a) {cost = 524288 : i64} : memref<64x64xf16>, memref<64x64xf16>, memref<64x64xf16>
  %w2 = om.weight dense<2.0> : tensor<64x64xf16> : memref<64x64xf16>
  %b = om.alloc : memref<64x64xf16>
  // CHECK: om.launch @dense(%{{.*}}, %[[W2]], %{{.*}}) {chained
  // ROOM: om.launch @dense(%{{.*}}, %[[W2]], %{{.*}}) prefetch(
  om.launch @dense(%a, %w2, %b) {cost = 524288 : i64} : memref<64x64xf16>, memref<64x64xf16>, memref<64x64xf16>
  %c = om.alloc : memref<64x64xf16>
  // CHECK: om.launch @host
  // CHECK-NOT: chained
  om.launch @host(%b, %c) {cost = 4096 : i64} : memref<64x64xf16>, memref<64x64xf16>
  %w3 = om.weight dense<3.0> : tensor<64x64xf16> : memref<64x64xf16>
  // Behind a kernel of the CPU a task begins.
  // CHECK: om.launch @dense(%{{.*}}, %[[W3]], %{{.*}}) {cost
  om.launch @dense(%c, %w3, %y) {cost = 524288 : i64} : memref<64x64xf16>, memref<64x64xf16>, memref<64x64xf16>
  return
}
}

// -----

// A weight of the next part of the batch is brought again where more than L2 holds
// lies between its uses, and not while it is there.
module attributes {npu.soc = "Ascend910B4"} {
func.func private @dense(memref<64x64xf16>, memref<64x64xf16>, memref<64x64xf16>) attributes {npu.kernel}
func.func private @large(memref<25165824xf16>, memref<25165824xf16>) attributes {npu.kernel}

// CHECK-LABEL: func.func @main
func.func @main(%x: memref<64x64xf16>, %y: memref<64x64xf16> {om.output}, %z: memref<64x64xf16> {om.output}) {
  // CHECK: %[[W:.*]] = om.weight
  %w = om.weight dense<1.0> : tensor<64x64xf16> : memref<64x64xf16>
  %a = om.alloc : memref<64x64xf16>
  %b = om.alloc : memref<25165824xf16>
  %c = om.alloc : memref<25165824xf16>
  %d = om.alloc : memref<25165824xf16>
  // CHECK: om.launch @dense({{[^)]*}}) {cost
  om.launch @dense(%x, %w, %a) {cost = 1 : i64} : memref<64x64xf16>, memref<64x64xf16>, memref<64x64xf16>
  // CHECK: om.launch @dense({{[^)]*}}) {chained
  om.launch @dense(%a, %w, %y) {cost = 1 : i64} : memref<64x64xf16>, memref<64x64xf16>, memref<64x64xf16>
  // CHECK: om.launch @large({{[^)]*}}) {chained
  om.launch @large(%b, %c) {cost = 1 : i64} : memref<25165824xf16>, memref<25165824xf16>
  // CHECK: om.launch @large({{[^)]*}}) prefetch(%[[W]] : memref<64x64xf16>) {chained
  om.launch @large(%c, %d) {cost = 1 : i64} : memref<25165824xf16>, memref<25165824xf16>
  // CHECK: om.launch @dense({{[^)]*}}) {chained
  om.launch @dense(%x, %w, %z) {cost = 1 : i64} : memref<64x64xf16>, memref<64x64xf16>, memref<64x64xf16>
  return
}
}

// -----

// A SoC that cannot bring lines into L2 ahead of their use: launches are only chained.
module attributes {npu.soc = "Ascend310P3"} {
func.func private @dense(memref<64x64xf16>, memref<64x64xf16>, memref<64x64xf16>) attributes {npu.kernel}
// CHECK-LABEL: func.func @main
// CHECK-NOT: prefetch(
// CHECK: om.launch @dense({{.*}}chained
// CHECK-NOT: prefetch(
func.func @main(%x: memref<64x64xf16>, %y: memref<64x64xf16> {om.output}) {
  %w1 = om.weight dense<1.0> : tensor<64x64xf16> : memref<64x64xf16>
  %a = om.alloc : memref<64x64xf16>
  om.launch @dense(%x, %w1, %a) {cost = 524288 : i64} : memref<64x64xf16>, memref<64x64xf16>, memref<64x64xf16>
  %w2 = om.weight dense<2.0> : tensor<64x64xf16> : memref<64x64xf16>
  om.launch @dense(%a, %w2, %y) {cost = 524288 : i64} : memref<64x64xf16>, memref<64x64xf16>, memref<64x64xf16>
  return
}
}
