// RUN: atc-opt --split-input-file --om-plan-memory --om-verify-schedule %s | FileCheck %s
// RUN: atc-opt --split-input-file --om-plan-memory=trials=0 %s | FileCheck %s --check-prefix=GREEDY
// RUN: atc-opt --split-input-file --om-plan-memory=max-pairs=0 --om-verify-schedule %s | FileCheck %s --check-prefix=INTIME


// INTIME: om.arena_size = 512
// INTIME: om.arena_size = 384
// INTIME: om.arena_size = 384
func.func private @k1(memref<64xf32>, memref<64xf32>, index, index) attributes {cpu.kernel}
func.func private @k2(memref<64xf32>, memref<64xf32>, memref<64xf32>, index, index) attributes {cpu.kernel}

// Of a chain, only neighbours live at one time.
// CHECK: module attributes {om.arena_lower_bound = 512 : i64, om.arena_size = 512 : i64, om.intermediate_bytes = {{[0-9]+}} : i64}
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
// CHECK: module attributes {om.arena_lower_bound = 384 : i64, om.arena_size = 384 : i64, om.intermediate_bytes = 192 : i64}
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

// Largest first, in the order of the allocs, puts the small buffer above all
// others (448 bytes); another order of the same buffers reaches the bound.
func.func private @write(memref<48xf32>, index, index) attributes {cpu.kernel}
func.func private @keep(memref<48xf32>, memref<48xf32>, index, index) attributes {cpu.kernel}
func.func private @shrink(memref<48xf32>, memref<16xf32>, index, index) attributes {cpu.kernel}
func.func private @grow(memref<16xf32>, memref<48xf32>, index, index) attributes {cpu.kernel}

// CHECK: module attributes {om.arena_lower_bound = 384 : i64, om.arena_size = 384 : i64, om.intermediate_bytes = {{[0-9]+}} : i64}
// GREEDY: om.arena_size = 512
// GREEDY: om.arena_size = 384
// GREEDY: module attributes {om.arena_lower_bound = 384 : i64, om.arena_size = 448 : i64, om.intermediate_bytes = {{[0-9]+}} : i64}
func.func @main(%out: memref<48xf32> {om.output}) {
  %a = om.alloc : memref<48xf32>
  %b = om.alloc : memref<48xf32>
  %c = om.alloc : memref<48xf32>
  %d = om.alloc : memref<16xf32>
  om.launch @write(%a) {cost = 1 : i64} : memref<48xf32>
  om.launch @keep(%a, %c) {cost = 1 : i64} : memref<48xf32>, memref<48xf32>
  om.launch @shrink(%c, %d) {cost = 1 : i64} : memref<48xf32>, memref<16xf32>
  om.launch @grow(%d, %b) {cost = 1 : i64} : memref<16xf32>, memref<48xf32>
  om.launch @keep(%b, %out) {cost = 1 : i64} : memref<48xf32>, memref<48xf32>
  return
}

// -----

// In the order of their launches: %c takes the bytes of %a and %b, which are one gap by then, and
// %d those of %last.
// INTIME: module attributes {om.arena_lower_bound = 768 : i64, om.arena_size = 768 : i64
// INTIME: func.func @main
// INTIME-NEXT: om.alloc {offset = 0 : i64} : memref<64xf32>
// INTIME-NEXT: om.alloc {offset = 256 : i64} : memref<64xf32>
// INTIME-NEXT: om.alloc {offset = 512 : i64} : memref<64xf32>
// INTIME-NEXT: om.alloc {offset = 0 : i64} : memref<128xf32>
// INTIME-NEXT: om.alloc {offset = 512 : i64} : memref<64xf32>
func.func private @k(memref<64xf32>, memref<64xf32>, index, index) attributes {cpu.kernel}
func.func private @grow(memref<64xf32>, memref<128xf32>, index, index) attributes {cpu.kernel}
func.func private @shrink(memref<128xf32>, memref<64xf32>, index, index) attributes {cpu.kernel}
func.func @main(%in: memref<64xf32>, %out: memref<64xf32> {om.output}) {
  %a = om.alloc : memref<64xf32>
  %b = om.alloc : memref<64xf32>
  %last = om.alloc : memref<64xf32>
  %c = om.alloc : memref<128xf32>
  %d = om.alloc : memref<64xf32>
  om.launch @k(%in, %a) {cost = 1 : i64} : memref<64xf32>, memref<64xf32>
  om.launch @k(%a, %b) {cost = 1 : i64} : memref<64xf32>, memref<64xf32>
  om.launch @k(%a, %last) {cost = 1 : i64} : memref<64xf32>, memref<64xf32>
  om.launch @k(%b, %last) {cost = 1 : i64} : memref<64xf32>, memref<64xf32>
  om.launch @grow(%last, %c) {cost = 1 : i64} : memref<64xf32>, memref<128xf32>
  om.launch @shrink(%c, %d) {cost = 1 : i64} : memref<128xf32>, memref<64xf32>
  om.launch @k(%d, %out) {cost = 1 : i64} : memref<64xf32>, memref<64xf32>
  return
}
