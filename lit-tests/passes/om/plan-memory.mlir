// RUN: atc-opt --split-input-file --om-plan-memory --om-verify-schedule %s | FileCheck %s
// RUN: atc-opt --split-input-file --om-plan-memory=trials=0 %s | FileCheck %s --check-prefix=GREEDY


func.func private @k1(memref<64xf32>, memref<64xf32>, index, index) attributes {cpu.kernel}
func.func private @k2(memref<64xf32>, memref<64xf32>, memref<64xf32>, index, index) attributes {cpu.kernel}

// Of a chain, only neighbours live at one time.
// CHECK: module attributes {om.arena_lower_bound = 512 : i64, om.arena_size = 512 : i64}
// CHECK-LABEL: func.func @main
func.func @main(%in: memref<64xf32>, %out: memref<64xf32> {om.output}) {
  // CHECK: om.alloc {offset = 0 : i64}
  %a = om.alloc : memref<64xf32>
  // CHECK: om.alloc {offset = 256 : i64}
  %b = om.alloc : memref<64xf32>
  // CHECK: om.alloc {offset = 0 : i64}
  %c = om.alloc : memref<64xf32>
  om.launch @k1(%in, %a) {cost = 1 : i64} : memref<64xf32>, memref<64xf32>
  om.launch @k1(%a, %b) {cost = 1 : i64} : memref<64xf32>, memref<64xf32>
  om.launch @k1(%b, %c) {cost = 1 : i64} : memref<64xf32>, memref<64xf32>
  om.launch @k1(%c, %out) {cost = 1 : i64} : memref<64xf32>, memref<64xf32>
  return
}

// -----

func.func private @k(memref<16xf32>, memref<16xf32>, index, index) attributes {cpu.kernel}

// A read through a view is a read of the whole buffer; sizes are rounded up to 64 bytes.
// CHECK: module attributes {om.arena_lower_bound = 384 : i64, om.arena_size = 384 : i64}
// CHECK-LABEL: func.func @main
func.func @main(%in: memref<16xf32>, %out: memref<16xf32> {om.output}) {
  // CHECK: om.alloc {offset = 0 : i64} : memref<2x33xf32>
  %a = om.alloc : memref<2x33xf32>
  // CHECK: om.alloc {offset = 320 : i64} : memref<16xf32>
  %b = om.alloc : memref<16xf32>
  %low = om.view %a[0] : memref<2x33xf32> to memref<16xf32>
  %high = om.view %a[64] : memref<2x33xf32> to memref<16xf32>
  om.launch @k(%in, %low) {cost = 1 : i64} : memref<16xf32>, memref<16xf32>
  om.launch @k(%in, %b) {cost = 1 : i64} : memref<16xf32>, memref<16xf32>
  om.launch @k(%low, %high) {cost = 1 : i64} : memref<16xf32>, memref<16xf32>
  om.launch @k(%b, %out) {cost = 1 : i64} : memref<16xf32>, memref<16xf32>
  om.launch @k(%high, %out) {cost = 1 : i64} : memref<16xf32>, memref<16xf32>
  return
}

// -----

// Largest first leaves a gap here (the two of 384 bytes live at different times
// but rest on different neighbours); another order reaches the lower bound.
func.func private @w4(memref<64xf32>, index, index) attributes {cpu.kernel}
func.func private @w6(memref<96xf32>, index, index) attributes {cpu.kernel}
func.func private @w2(memref<32xf32>, index, index) attributes {cpu.kernel}
func.func private @r46(memref<64xf32>, memref<96xf32>, index, index) attributes {cpu.kernel}
func.func private @r62(memref<96xf32>, memref<32xf32>, index, index) attributes {cpu.kernel}
func.func private @r24(memref<32xf32>, memref<64xf32>, index, index) attributes {cpu.kernel}
func.func private @r42(memref<64xf32>, memref<32xf32>, index, index) attributes {cpu.kernel}

// CHECK: om.arena_lower_bound = [[BOUND:[0-9]+]] : i64, om.arena_size = [[BOUND]] : i64
// GREEDY-COUNT-3: om.arena_size
func.func @main(%out: memref<64xf32> {om.output}) {
  %a = om.alloc : memref<64xf32>
  %b = om.alloc : memref<96xf32>
  %c = om.alloc : memref<32xf32>
  %d = om.alloc : memref<64xf32>
  %e = om.alloc : memref<32xf32>
  om.launch @w4(%a) {cost = 1 : i64} : memref<64xf32>
  om.launch @r46(%a, %b) {cost = 1 : i64} : memref<64xf32>, memref<96xf32>
  om.launch @r62(%b, %c) {cost = 1 : i64} : memref<96xf32>, memref<32xf32>
  om.launch @r24(%c, %d) {cost = 1 : i64} : memref<32xf32>, memref<64xf32>
  om.launch @r42(%d, %e) {cost = 1 : i64} : memref<64xf32>, memref<32xf32>
  om.launch @r24(%e, %out) {cost = 1 : i64} : memref<32xf32>, memref<64xf32>
  return
}
