// The best tile with four copies of each buffer is another one than with two: those of the table
// count, in the tile and in the program. The key is taken from what the pass notes.
// RUN: atc-opt %s --npu-select-tiles=measure=8 -o %t.two
// RUN: FileCheck %s --check-prefix=TWO < %t.two
// RUN: sed -n 's/.*"npu-select-tiles|\([^"]*\)".*/s~"other" = ""~"npu-select-buffers|\1" = "4"~/p' %t.two > %t.sed
// RUN: sed -f %t.sed %s > %t.mlir
// RUN: atc-opt %t.mlir --npu-select-tiles=measure=8 | FileCheck %s --check-prefix=FOUR
// RUN: atc-opt %t.mlir --npu-select-tiles=measure=8 --npu-expand-matmul --npu-select-buffers | FileCheck %s --check-prefix=COPIES
// RUN: sed "s~\"4\"~\"nine\"~" %t.mlir | atc-opt --npu-select-tiles=measure=8 | FileCheck %s --check-prefix=TWO

// TWO: tile = #npu.tile<m = 64, n = 64, k = 256, l1_m = 64, l1_n = 64, l1_k = 512, cores_m = 2, cores_n = 4, order = "rhs">
// FOUR: tile = #npu.tile<m = 32, n = 64, k = 256, l1_m = 32, l1_n = 64, l1_k = 512, cores_m = 2, cores_n = 4, order = "rhs">
// COPIES: npu.alloc {buffers = 4 : i64} : <l1, 32768>
module attributes {tuning.choices = {"other" = ""}} {
  func.func private @f(%a: memref<1x1x256x512xf16>, %b: memref<32x16x16x16xf16>, %out: memref<1x1x256x256xf16>)
      attributes {npu.kernel, npu.soc = "Ascend310P3"} {
    npu.matmul %a, %b outs %out {packed} : memref<1x1x256x512xf16>, memref<32x16x16x16xf16>, memref<1x1x256x256xf16>
    return
  }
}
