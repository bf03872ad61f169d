// RUN: atc-opt %s --split-input-file -npu-preload-weights | FileCheck %s
// RUN: atc-opt %s --split-input-file -npu-preload-weights=factor=0 | FileCheck %s --check-prefix=OFF
// RUN: atc-opt %s --split-input-file -npu-preload-weights=l2-share=0.06 | FileCheck %s --check-prefix=SHARE
// RUN: atc-opt %s --split-input-file -npu-preload-weights --remarks-filter=npu-preload-weights --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Analysis] {{.*}}Category:npu-preload-weights{{.*}}1 of 3 launches load {{[1-9][0-9]*}} bytes of the weights of later ones into L2
// REMARK-DAG: [Analysis] {{.*}}Category:npu-preload-weights{{.*}}0 of 3 launches load 0 bytes of the weights of later ones into L2

// @busy computes long after its only load: DDR rests, and the weight of the third launch comes
// early, by both cores, behind that load and its flag. A program without a rest stays.
module attributes {npu.soc = "Ascend310P3"} {
// CHECK:       npu.program @busy_preload(%{{.*}}: !npu.buffer<gm, 65536>, %[[NEXT:[a-z0-9]+]]: !npu.buffer<gm, [[BYTES:[0-9]+]]>, %{{.*}}: !npu.buffer<gm, 65536>) grid(%[[CORE:[a-z0-9]+]] = 2)
// CHECK:         npu.move
// CHECK-NEXT:    npu.set_flag
// CHECK-NEXT:    %[[SCRATCH:[a-z0-9]+]] = npu.alloc {offset = 0 : i64} : <l1, 65536>
// CHECK-NEXT:    npu.loop %[[I:[a-z0-9]+]] = {{[0-9]+}} {
// CHECK-NEXT:      npu.move %[[SCRATCH]], %[[NEXT]] at %[[CORE]], %[[I]] {bytes = #npu.range<[[LENGTH:[0-9]+]] from <0, [{{[0-9]+}}, [[LENGTH]]{{\]}}> below [[BYTES]]>, {{.*}} : <l1, 65536>, <gm, [[BYTES]]>
// CHECK-NEXT:    }
// CHECK-NEXT:    npu.wait_flag
// CHECK-LABEL: npu.program @copy(
// CHECK-NOT:   npu.program
// OFF-LABEL: npu.program @busy(
// OFF-NOT:   preload
// SHARE-LABEL: npu.program @busy_preload(%{{.*}}: !npu.buffer<gm, 65536>, %{{.*}}: !npu.buffer<gm, 9{{[0-9]+}}>,
npu.program @busy(%in: !npu.buffer<gm, 65536>, %out: !npu.buffer<gm, 65536>) grid(%core = 2) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 32768>
  npu.move %x, %in at %core {offsets = [#npu.affine<0>, #npu.affine<0, [32768]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<32768>} : !npu.buffer<ub, 32768>, !npu.buffer<gm, 65536>
  npu.set_flag mte2 to v id 0
  npu.wait_flag mte2 to v id 0
  npu.loop %i = 256 {
    npu.pipe_barrier v
    npu.vector "relu" %x, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<16384>, type = f16, dst_type = f16} : !npu.buffer<ub, 32768>, !npu.buffer<ub, 32768>
  }
  npu.set_flag v to mte3 id 0
  npu.wait_flag v to mte3 id 0
  npu.move %out, %x at %core {offsets = [#npu.affine<0, [32768]>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<32768>} : !npu.buffer<gm, 65536>, !npu.buffer<ub, 32768>
}
npu.program @copy(%w: !npu.buffer<gm, 33554432>, %in: !npu.buffer<gm, 65536>, %out: !npu.buffer<gm, 65536>) grid(%core = 8) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 32768>
  npu.loop %i = 128 {
    npu.move %x, %w at %core, %i {offsets = [#npu.affine<0>, #npu.affine<0, [32768, 262144]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<32768>} : !npu.buffer<ub, 32768>, !npu.buffer<gm, 33554432>
  }
}
// CHECK-LABEL: func.func @main
// OFF-LABEL: func.func @main
func.func @main(%x: memref<32768xf16>, %y: memref<32768xf16> {om.output}) {
  %a = om.alloc {offset = 0 : i64} : memref<32768xf16>
  %b = om.alloc {offset = 65536 : i64} : memref<32768xf16>
  // CHECK: %[[W:.*]] = om.weight dense<1.0
  // CHECK: %[[PART:.*]] = om.view %[[W]][0] {{.*}} to memref<
  // CHECK: om.launch @busy_preload(%{{.*}}, %[[PART]], %{{.*}}) {cost = 1 : i64, npu.preloaded = 1 : i64}
  // OFF: om.launch @busy(
  om.launch @busy(%x, %a) {cost = 1 : i64} : memref<32768xf16>, memref<32768xf16>
  %w = om.weight dense<1.0> : tensor<16777216xf16> : memref<16777216xf16>
  // CHECK: om.launch @copy(%[[W]],
  om.launch @copy(%w, %a, %b) {chained, cost = 1 : i64} : memref<16777216xf16>, memref<32768xf16>, memref<32768xf16>
  // Nothing is left to load.
  // CHECK: om.launch @copy(%[[W]],
  om.launch @copy(%w, %b, %y) {chained, cost = 1 : i64} : memref<16777216xf16>, memref<32768xf16>, memref<32768xf16>
  return
}
}

// -----

// Here @busy would load as much by what a byte is worth, but the launch that has the weight does not
// read it: the schedule is not faster, so nothing is loaded.
module attributes {npu.soc = "Ascend310P3"} {
// CHECK-LABEL: npu.program @busy(
// CHECK-NOT: busy_preload
npu.program @busy(%in: !npu.buffer<gm, 65536>, %out: !npu.buffer<gm, 65536>) grid(%core = 2) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 32768>
  npu.move %x, %in at %core {offsets = [#npu.affine<0>, #npu.affine<0, [32768]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<32768>} : !npu.buffer<ub, 32768>, !npu.buffer<gm, 65536>
  npu.set_flag mte2 to v id 0
  npu.wait_flag mte2 to v id 0
  npu.loop %i = 256 {
    npu.pipe_barrier v
    npu.vector "relu" %x, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<16384>, type = f16, dst_type = f16} : !npu.buffer<ub, 32768>, !npu.buffer<ub, 32768>
  }
  npu.set_flag v to mte3 id 0
  npu.wait_flag v to mte3 id 0
  npu.move %out, %x at %core {offsets = [#npu.affine<0, [32768]>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<32768>} : !npu.buffer<gm, 65536>, !npu.buffer<ub, 32768>
}
npu.program @copy(%w: !npu.buffer<gm, 33554432>, %in: !npu.buffer<gm, 65536>, %out: !npu.buffer<gm, 65536>) grid(%core = 1) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 32768>
  npu.move %x, %in {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<32768>} : !npu.buffer<ub, 32768>, !npu.buffer<gm, 65536>
}
func.func @main(%x: memref<32768xf16>, %y: memref<32768xf16> {om.output}) {
  %a = om.alloc {offset = 0 : i64} : memref<32768xf16>
  %b = om.alloc {offset = 65536 : i64} : memref<32768xf16>
  om.launch @busy(%x, %a) {cost = 1 : i64} : memref<32768xf16>, memref<32768xf16>
  %w = om.weight dense<1.0> : tensor<16777216xf16> : memref<16777216xf16>
  om.launch @copy(%w, %a, %b) {chained, cost = 1 : i64} : memref<16777216xf16>, memref<32768xf16>, memref<32768xf16>
  om.launch @copy(%w, %b, %y) {chained, cost = 1 : i64} : memref<16777216xf16>, memref<32768xf16>, memref<32768xf16>
  return
}
}

// -----

// What fits into L2 stays there from run to run.
module attributes {npu.soc = "Ascend310P3"} {
// CHECK-LABEL: npu.program @small(
// CHECK-NOT: preload
npu.program @small(%w: !npu.buffer<gm, 131072>, %out: !npu.buffer<gm, 65536>) grid(%core = 1) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 32768>
  npu.loop %i = 256 {
    npu.pipe_barrier v
    npu.vector "relu" %x, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<16384>, type = f16, dst_type = f16} : !npu.buffer<ub, 32768>, !npu.buffer<ub, 32768>
  }
}
func.func @main(%y: memref<32768xf16> {om.output}) {
  %v = om.weight dense<1.0> : tensor<65536xf16> : memref<65536xf16>
  %w = om.weight dense<2.0> : tensor<65536xf16> : memref<65536xf16>
  om.launch @small(%v, %y) {cost = 1 : i64} : memref<65536xf16>, memref<32768xf16>
  om.launch @small(%w, %y) {chained, cost = 1 : i64} : memref<65536xf16>, memref<32768xf16>
  return
}
}

// -----

// A system DMA that fills L2 needs no help.
module attributes {npu.soc = "Ascend910B4"} {
// CHECK-LABEL: npu.program @dma(
// CHECK-NOT: preload
npu.program @dma(%w: !npu.buffer<gm, 268435456>, %out: !npu.buffer<gm, 65536>) grid(%core = 1) soc "Ascend910B4" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 32768>
  npu.loop %i = 256 {
    npu.pipe_barrier v
    npu.vector "relu" %x, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<16384>, type = f16, dst_type = f16} : !npu.buffer<ub, 32768>, !npu.buffer<ub, 32768>
  }
}
func.func @main(%y: memref<32768xf16> {om.output}) {
  %v = om.weight dense<1.0> : tensor<134217728xf16> : memref<134217728xf16>
  %w = om.weight dense<2.0> : tensor<134217728xf16> : memref<134217728xf16>
  om.launch @dma(%v, %y) {cost = 1 : i64} : memref<134217728xf16>, memref<32768xf16>
  om.launch @dma(%w, %y) {chained, cost = 1 : i64} : memref<134217728xf16>, memref<32768xf16>
  return
}
}
