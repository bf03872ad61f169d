// RUN: atc-opt --cpu-lower-to-llvm --reconcile-unrealized-casts %s | FileCheck %s

// Buffers are bare pointers, and ops of all dialects are converted together.
// CHECK-LABEL: llvm.func @k(
// CHECK-SAME: %[[IN:.*]]: !llvm.ptr, %[[AT:.*]]: i64)
// CHECK-NOT: builtin.unrealized_conversion_cast
// CHECK: %[[P:.*]] = llvm.getelementptr {{.*}}[%[[AT]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK: %[[X:.*]] = llvm.load %[[P]]
// CHECK: %[[Y:.*]] = llvm.intr.sqrt(%[[X]])
// CHECK: llvm.fadd %[[Y]], %[[Y]]
// CHECK: llvm.cond_br
// CHECK: llvm.return
func.func @k(%in: memref<8xf32>, %at: index) {
  %zero = arith.constant 0 : index
  %x = memref.load %in[%at] : memref<8xf32>
  %y = math.sqrt %x : f32
  %z = arith.addf %y, %y : f32
  %positive = arith.cmpi sgt, %at, %zero : index
  cf.cond_br %positive, ^store, ^end
^store:
  memref.store %z, %in[%at] : memref<8xf32>
  cf.br ^end
^end:
  return
}
