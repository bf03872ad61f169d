//===-- NpuOps.td - programs, loops and instructions -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_OPS_TD
#define OPENATC_NPU_OPS_TD

include "dialects/npu/NpuInterfaces.td"
include "dialects/npu/NpuKernelOps.td"
include "dialects/npu/NpuMemory.td"
include "mlir/IR/SymbolInterfaces.td"

// One op per instruction. `offsets` has one address per buffer operand, in their order. Printed by
// npu-print-ods from npu/isa/Isa.def.
include "dialects/npu/NpuInstructions.td"

def Npu_ProgramOp : Npu_Op<"program", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator,
                                       DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The program that every core of a launch runs";
  let description = [{
    The block's arguments are the gm buffers of the launch, then the core's
    coordinates in `grid`. `soc` names the table for which the program is made;
    with `vector_core` it runs on the vector cores of a SoC that has them
    separate. A program `with` another one is mixed: a launch of it runs on cube
    cores and at the same time the other program, which has the same buffers, on
    vector cores. Cores of both kinds share the events of signals.

    ```mlir
    npu.program @add(%a: !npu.buffer<gm, 1024>, %b: !npu.buffer<gm, 1024>) grid(%x = 8) soc "Ascend310P3" {
      ...
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI64ArrayAttr:$grid, StrAttr:$soc,
                       UnitAttr:$vector_core, OptionalAttr<FlatSymbolRefAttr>:$vector_part);
  let regions = (region SizedRegion<1>:$bodyRegion);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::BlockArgument> getBuffers();
    ::llvm::ArrayRef<::mlir::BlockArgument> getCoordinates();
    /// Returns the program on vector cores of a mixed program, else null.
    ProgramOp findVectorPart();
    /// Returns the number of its layers, those of its vector part included; at least 1.
    size_t countLayers();
  }];
}

def Npu_LoopOp : Npu_Op<"loop", [SingleBlock, NoTerminator, RecursiveMemoryEffects]> {
  let summary = "A hardware loop: `npu.loop %i = 7 { ... }`";
  let arguments = (ins I64Attr:$trips);
  let regions = (region SizedRegion<1>:$bodyRegion);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getIv() { return getBody()->getArgument(0); }
  }];
}

def Npu_LayerOp : Npu_Op<"layer"> {
  let summary = "Begins a layer of a program that several launches became";
  let description = [{
    It is no instruction: reports attribute the instructions from here on, up to the
    next layer, to the launch `name` of the program `kernel`, which was number
    `position` of the launches and has `macs` multiply-accumulates. In a mixed program
    the layers of both sections have different positions.

    ```mlir
    npu.layer "conv1" of "conv2d_64x56x56" at 0 {macs = 1048576 : i64}
    ```
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$kernel, I64Attr:$position,
                       DefaultValuedAttr<I64Attr, "0">:$macs);
  let assemblyFormat = "$name `of` $kernel `at` $position attr-dict";
}

#endif // OPENATC_NPU_OPS_TD
