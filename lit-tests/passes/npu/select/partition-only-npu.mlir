// RUN: not atc-opt %s --npu-set-soc=soc=Ascend310P3 --npu-partition 2>&1 | FileCheck %s

// What only the cube computes is refused where the device cannot hold it; a kernel that the CPU has, too, goes there.
// CHECK: E10055: the NPU cannot compute {{.*}}matmul_packed{{.*}}: a tensor of 68.7 GB does not fit into the 25.8 GB of memory of Ascend310P3
// CHECK-NOT: error:
func.func @main(%a: memref<1x1x2147483648x16xf16>, %w: memref<1x1x16x16xf16>, %out: memref<1x1x2147483648x16xf16> {om.output}) {
  npu.matmul %a, %w outs %out {packed} : memref<1x1x2147483648x16xf16>, memref<1x1x16x16xf16>, memref<1x1x2147483648x16xf16>
  return
}
