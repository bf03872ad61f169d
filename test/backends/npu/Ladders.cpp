//===-- Ladders.cpp - programs with published times -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/backends/npu/Ladders.h"

#include "backends/npu/ProgramEncoder.h"
#include "npu/isa/Verify.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace atc::npu::test {

const std::vector<Step> &matmulLadder() {
  static const std::vector<Step> steps = {
      {"one core, base tile 64x64x64", "matmul-1-base-64x64x64", 759364, 128},
      {"one core, base tile 128x256x64", "matmul-2-base-128x256x64", 249467, 32},
      {"24 cores, 2 x 12", "matmul-3-cores-2x12", 12541, 4},
      {"24 cores, 4 x 6", "matmul-4-cores-4x6", 12284, 4},
      {"large L1 packets", "matmul-5-packets", 5040, 4},
      {"L1 reuse", "matmul-6-l1-reuse", 4157},
      {"L2 split", "matmul-7-l2-split", 4088},
      {"constant tiling", "matmul-8-constant-tiling", 4053},
      {"cube and fixpipe overlapped", "matmul-9-overlap-fix", 4012, 1, false, 3076, 2533, 3436,
       273}};
  return steps;
}

const std::vector<Step> &addLadder() {
  static const std::vector<Step> steps = {
      {"scalar", "add-1-scalar", 1239689, 64},
      {"one core, vector", "add-2-vector", 6910},
      {"all cores", "add-3-cores", 306.6},
      {"double buffer", "add-4-double-buffer", 264.0},
      {"L2 bypass", "add-4-double-buffer", 187.7, 1, true},
      {"no bank conflict", "add-6-no-conflict", 184.5, 1, true}};
  return steps;
}

const std::vector<Step> &copies() {
  static const std::vector<Step> steps = {{"to UB, 1 x 64", "copy-ub-1x64", 565},
                                          {"to UB, unaligned", "copy-ub-unaligned", 275},
                                          {"to UB, 64 x 64", "copy-ub-64x64", 234},
                                          {"to UB, 64 x 1024", "copy-ub-64x1024", 216},
                                          {"to L1, unaligned", "copy-l1-unaligned", 439},
                                          {"to L1, 64 x 64", "copy-l1-64x64", 301},
                                          {"to L1, 64 x 256", "copy-l1-64x256", 230}};
  return steps;
}

bool timeOf(const Step &step, Timed &timed, std::string &error) {
  DialectRegistry registry;
  ir::registerNpuDialect(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error += diagnostic.str() + "\n";
    return success();
  });
  auto module = parseSourceFile<ModuleOp>(
      std::string(OPENATC_LADDER_DIR) + "/" + step.file + ".mlir", &context);
  if (!module)
    return false;
  ir::ProgramOp op = *module->getOps<ir::ProgramOp>().begin();
  FailureOr<Program> program = encodeProgram(op);
  const SocTable *soc = findSoc(op.getSoc().str());
  if (failed(program) || !soc)
    return false;
  for (const std::string &errorText : verify(*program, *soc))
    error += errorText + "\n";
  if (!error.empty())
    return false;
  Launch launch;
  launch.program = &*program;
  launch.name = step.name;
  uint64_t address = 0;
  for (uint64_t bytes : program->arguments) {
    launch.addresses.push_back(address);
    launch.bypassL2.push_back(step.bypassL2 && launch.addresses.size() < program->arguments.size());
    address += bytes;
  }
  Simulator simulator(*soc);
  if (!simulator.run(launch, error))
    return false;
  timed = {soc->name, soc->microseconds(simulator.total().cycles) * step.rounds, simulator.total()};
  return true;
}

} // namespace atc::npu::test
