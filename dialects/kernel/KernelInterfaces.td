//===-- KernelInterfaces.td - the interface of all kernel ops -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNEL_INTERFACES_TD
#define OPENATC_KERNEL_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Kernel_OpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::atc::kernel";
  let description = [{One launch of the compiled network. The last operand is the buffer it writes.}];
  let methods = [
    InterfaceMethod<"A short name for the kernel's function: `conv2d_3x3`.", "std::string", "kernelName">,
    InterfaceMethod<"Floating-point operations of one run; the scheduler weighs tasks with it.",
                    "int64_t", "flops">,
    InterfaceMethod<"The result may lie on the memory of this operand (same positions).", "bool",
                    "canRunInPlace", (ins "unsigned":$operand), [{}], [{ return false; }]>,
    InterfaceMethod<"Code computes addresses from the elements of this operand: the loader must always check them.",
                    "bool", "holdsAddresses", (ins "unsigned":$operand), [{}], [{ return false; }]>
  ];
  let extraSharedClassDeclaration = [{
    ::mlir::Value output() { return $_op->getOperands().back(); }
    ::mlir::OperandRange inputs() { return $_op->getOperands().drop_back(); }
  }];
}

#endif // OPENATC_KERNEL_INTERFACES_TD
