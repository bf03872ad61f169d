// RUN: atc-opt %s --split-input-file --npu-select-boxes 2>&1 | FileCheck %s
// RUN: atc-opt %s --split-input-file --npu-select-boxes --npu-expand-map | FileCheck %s --check-prefix=PROGRAM

// Without a table nothing is set.
// CHECK-LABEL: func.func private @plain
// CHECK: kernel.map
// CHECK-NOT: tuning.box
// PROGRAM-LABEL: npu.program @plain
// PROGRAM: npu.alloc : <ub, 16384>
func.func private @plain(%x: memref<131072xf16>, %y: memref<131072xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.map %x outs %y : memref<131072xf16>, memref<131072xf16> {
  ^bb0(%a: f16):
    %r = math.exp %a : f16
    kernel.yield %r : f16
  }
  return
}

// -----

// What nobody has chosen is noted, with alternatives where they are wanted.
// CHECK-LABEL: func.func private @noted
// CHECK-SAME: tuning.chosen = [{choice = "100", key = "npu-select-boxes|Ascend310P3|kernel.map|{{[^"]*}}", proposals = ["25", {{.*}}"400"]}]
module attributes {tuning.choices = {"other" = "1"}, tuning.proposals = 4 : i64} {
  func.func private @noted(%x: memref<131072xf16>, %y: memref<131072xf16>)
      attributes {npu.kernel, npu.soc = "Ascend310P3"} {
    kernel.map %x outs %y : memref<131072xf16>, memref<131072xf16> {
    ^bb0(%a: f16):
      %r = math.exp %a : f16
      kernel.yield %r : f16
    }
    return
  }
}

// -----

// What is set stays, and the boxes of the program follow it.
// CHECK-LABEL: func.func private @set
// CHECK: tuning.box = 50
// PROGRAM-LABEL: npu.program @set
// PROGRAM: npu.alloc : <ub, 8192>
func.func private @set(%x: memref<131072xf16>, %y: memref<131072xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  kernel.map %x outs %y {tuning.box = 50 : i64} : memref<131072xf16>, memref<131072xf16> {
  ^bb0(%a: f16):
    %r = math.exp %a : f16
    kernel.yield %r : f16
  }
  return
}
