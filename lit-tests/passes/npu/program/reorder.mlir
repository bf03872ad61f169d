// RUN: atc-opt -npu-reorder %s | FileCheck %s
// RUN: atc-opt -npu-program-pipeline %s | FileCheck %s --check-prefix=ALL
// RUN: atc-opt -npu-program-pipeline="reorder=false max-buffers=1" %s | FileCheck %s --check-prefix=PLAIN

// The load for the long chain goes first; what computes the same buffer keeps its
// order.
// CHECK-LABEL: npu.program @chain
// CHECK-SAME:    %[[SHORT:arg[0-9]+]]: !npu.buffer<gm, 131072>, %[[LONG:arg[0-9]+]]:
// CHECK:         npu.move %[[Y:[0-9]+]], %[[LONG]] at
// CHECK-NEXT:    npu.move %[[X:[0-9]+]], %[[SHORT]] at
// CHECK-NEXT:    npu.vector "exp" %[[Y]]
// CHECK-NEXT:    npu.vector "ln" %[[Y]]
// CHECK-NEXT:    npu.vector "sqrt" %[[Y]]
// CHECK-NEXT:    npu.vector "relu" %[[X]]
// ALL-LABEL:   npu.program @chain
// ALL:           slots = 2
// PLAIN-LABEL: npu.program @chain
// PLAIN-NOT:     slots
// PLAIN:         npu.vector "exp"
// PLAIN:         npu.vector "relu"
npu.program @chain(%short: !npu.buffer<gm, 131072>, %long: !npu.buffer<gm, 131072>) grid(%core = 1) soc "Ascend310P3" {
  npu.loop %i = 8 {
    %x = npu.alloc {offset = 0} : !npu.buffer<ub, 16384>
    %y = npu.alloc {offset = 16384} : !npu.buffer<ub, 16384>
    npu.move %x, %short at %i {offsets = [#npu.affine<0>, #npu.affine<0, [16384]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<16384>} : !npu.buffer<ub, 16384>, !npu.buffer<gm, 131072>
    npu.move %y, %long at %i {offsets = [#npu.affine<0>, #npu.affine<0, [16384]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<16384>} : !npu.buffer<ub, 16384>, !npu.buffer<gm, 131072>
    npu.vector "exp" %y, %y {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<8192>, type = f16, dst_type = f16} : !npu.buffer<ub, 16384>, !npu.buffer<ub, 16384>
    npu.vector "ln" %y, %y {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<8192>, type = f16, dst_type = f16} : !npu.buffer<ub, 16384>, !npu.buffer<ub, 16384>
    npu.vector "sqrt" %y, %y {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<8192>, type = f16, dst_type = f16} : !npu.buffer<ub, 16384>, !npu.buffer<ub, 16384>
    npu.vector "relu" %x, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<8192>, type = f16, dst_type = f16} : !npu.buffer<ub, 16384>, !npu.buffer<ub, 16384>
  }
}
