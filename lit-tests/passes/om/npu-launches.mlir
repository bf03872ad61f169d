// RUN: atc-opt %s --om-remove-dead --om-plan-memory --om-verify-schedule --split-input-file --verify-diagnostics | FileCheck %s

// What is prefetched extends no buffer's life, and what nothing reads is not fetched.
npu.program @p(%a: !npu.buffer<gm, 16>, %b: !npu.buffer<gm, 16>) grid(%x = 1) soc "Ascend310P3" {
}
// CHECK-NOT: @dead
npu.program @dead(%a: !npu.buffer<gm, 16>) grid(%x = 1) soc "Ascend310P3" {
}
// CHECK-LABEL: func.func @main
func.func @main(%in: memref<4xf32>, %out: memref<4xf32> {om.output}) {
  // CHECK: %[[W:.*]] = om.weight dense<1.0
  %w = om.weight dense<1.0> : tensor<4xf32> : memref<4xf32>
  // CHECK-NOT: dense<2.0
  %v = om.weight dense<2.0> : tensor<4xf32> : memref<4xf32>
  %a = om.alloc : memref<4xf32>
  %b = om.alloc : memref<4xf32>
  %c = om.alloc : memref<4xf32>
  // CHECK: om.launch @p({{.*}}) prefetch(%[[W]] : memref<4xf32>) {cost = 1 : i64}
  om.launch @p(%in, %a) prefetch(%w, %v : memref<4xf32>, memref<4xf32>) {cost = 1 : i64}
    : memref<4xf32>, memref<4xf32>
  // Removed; the launch chained to it begins the task then.
  om.launch @dead(%c) {cost = 1 : i64} : memref<4xf32>
  // CHECK-NEXT: om.launch @p(%[[W]], %{{.*}}) {cost = 2 : i64}
  om.launch @p(%w, %b) {chained, cost = 2 : i64} : memref<4xf32>, memref<4xf32>
  // CHECK-NEXT: om.launch @p({{.*}}) {chained, cost = 3 : i64}
  om.launch @p(%b, %out) {chained, cost = 3 : i64} : memref<4xf32>, memref<4xf32>
  om.launch @p(%a, %out) {chained, cost = 4 : i64} : memref<4xf32>, memref<4xf32>
  return
}

// -----

npu.program @p(%a: !npu.buffer<gm, 16>, %b: !npu.buffer<gm, 16>) grid(%x = 1) soc "Ascend310P3" {
}
func.func private @cpu(memref<4xf32>, memref<4xf32>, index, index) attributes {cpu.kernel}
func.func private @later(memref<4xf32>, memref<4xf32>) attributes {npu.kernel}
func.func @main(%in: memref<4xf32>, %out: memref<4xf32> {om.output}) {
  %w = om.weight dense<1.0> : tensor<4xf32> : memref<4xf32>
  %a = om.alloc : memref<4xf32>
  // expected-error @+1 {{is chained, but no launch of the NPU stands before it}}
  om.launch @p(%in, %a) {chained, cost = 1 : i64} : memref<4xf32>, memref<4xf32>
  // expected-error @+1 {{prefetches buffer 1, which is no weight}}
  om.launch @later(%a, %out) prefetch(%w, %in : memref<4xf32>, memref<4xf32>) {chained, cost = 1 : i64}
    : memref<4xf32>, memref<4xf32>
  // expected-error @+1 {{is chained or prefetches, but @cpu is no program of the NPU}}
  om.launch @cpu(%w, %out) prefetch(%w : memref<4xf32>) {cost = 1 : i64} : memref<4xf32>, memref<4xf32>
  return
}
