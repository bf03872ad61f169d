// RUN: atc-opt %s --npu-expand-matmul --split-input-file --verify-diagnostics | FileCheck %s

// Rows become column blocks on their way to l1, packed weights are fractals already; columns leave row-major.
// CHECK-LABEL: npu.program @packed
// CHECK: npu.loop %{{.*}} = 4 {
// CHECK: npu.move_nd2nz {{.*}}cols = #npu.range<128 from <0, [128]> below 512>
// CHECK: npu.move {{.*}} : <l1, 16384>, <gm, 65536>
// CHECK: npu.load2d
// CHECK: npu.load2d
// CHECK-NOT: transpose
// CHECK: npu.mmad
// CHECK: npu.move_l0c {{.*}} dst_row = 128
func.func private @packed(%a: memref<1x1x100x512xf16>, %b: memref<32x4x16x16xf16>, %out: memref<1x1x100x64xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.matmul %a, %b outs %out {packed, tile = #npu.tile<m = 112, n = 64, k = 128, l1_m = 112, l1_n = 64, l1_k = 128,
    cores_m = 1, cores_n = 1, order = "none">} : memref<1x1x100x512xf16>, memref<32x4x16x16xf16>, memref<1x1x100x64xf16>
  return
}

// -----

// A plain right operand is transposed on its way to l0b; the products are shared by the cores.
// CHECK-LABEL: npu.program @plain
// CHECK-SAME: grid(%{{.*}} = 4, %{{.*}} = 1, %{{.*}} = 1)
// CHECK: npu.load2d {{.*}} transpose
func.func private @plain(%a: memref<4x1x100x64xf16>, %b: memref<4x1x64x64xf16>, %out: memref<4x1x100x64xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.matmul %a, %b outs %out {tile = #npu.tile<m = 112, n = 64, k = 64, l1_m = 112, l1_n = 64, l1_k = 64,
    cores_m = 4, cores_n = 1, order = "none">} : memref<4x1x100x64xf16>, memref<4x1x64x64xf16>, memref<4x1x100x64xf16>
  return
}

// -----

// Heads that stand side by side in rows come into l1, and leave ub, several at a time.
// CHECK-LABEL: npu.program @heads
// CHECK: npu.move_nd2nz {{.*}}cols = #npu.range<192 below 192>{{.*}}src_row = 1536
// CHECK: npu.move_nd2nz {{.*}}cols = #npu.range<197 below 197>{{.*}}src_row = 394
// CHECK: npu.mmad
// CHECK: npu.move_l0c {{.*}}dst_row = 384
// CHECK: npu.move %arg2{{.*}}bytes = #npu.range<384>
#rows = strided<[151296, 64, 768, 1]>
func.func private @heads(%a: memref<2x12x197x197xf16>, %b: memref<2x12x197x64xf16, #rows>, %out: memref<2x12x197x64xf16, #rows>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.matmul %a, %b outs %out : memref<2x12x197x197xf16>, memref<2x12x197x64xf16, #rows>, memref<2x12x197x64xf16, #rows>
  return
}

// -----

// CHECK-LABEL: npu.program @transposed
// CHECK-NOT: transpose,
// CHECK: npu.mmad
func.func private @transposed(%a: memref<4x1x100x64xf16>, %b: memref<4x1x64x64xf16>, %out: memref<4x1x100x64xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.matmul %a, %b outs %out {transpose_rhs, tile = #npu.tile<m = 112, n = 64, k = 64, l1_m = 112, l1_n = 64,
    l1_k = 64, cores_m = 4, cores_n = 1, order = "none">} : memref<4x1x100x64xf16>, memref<4x1x64x64xf16>, memref<4x1x100x64xf16>
  return
}

// -----

func.func private @too_large(%a: memref<1x1x512x512xf16>, %b: memref<32x64x16x16xf16>, %out: memref<1x1x512x1024xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  // expected-error @below {{cannot become a program for Ascend310P3: a tile does not fit into l0c}}
  npu.matmul %a, %b outs %out {packed, tile = #npu.tile<m = 512, n = 512, k = 16, l1_m = 512, l1_n = 512, l1_k = 128,
    cores_m = 1, cores_n = 1, order = "none">} : memref<1x1x512x512xf16>, memref<32x64x16x16xf16>, memref<1x1x512x1024xf16>
  return
}
