//===-- Trial.cpp - compiles with choices and measures --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tuning/Trial.h"

#include "dialects/npu/Npu.h"
#include "openatc/npu.h"
#include "openatc/om.hpp"
#include "passes/Choices.h"
#include "passes/npu/schedule/JoinChoice.h"
#include "passes/om/Schedule.h"

#include <nlohmann/json.hpp>

using namespace mlir;

namespace atc::tuning {

const Decision *TrialResult::find(const std::string &key) const {
  auto found = llvm::lower_bound(decisions, key,
                                 [](const Decision &d, const std::string &k) { return d.key < k; });
  return found != decisions.end() && found->key == key ? &*found : nullptr;
}

double TrialResult::cyclesOf(const Decision &decision) const {
  double sum = 0;
  for (size_t launch : decision.launches)
    sum += launch < launches.size() ? launches[launch].cycles : 0;
  return sum;
}

/// Returns the decisions that passes noted on an operation.
static std::vector<Decision> decisionsOn(Operation *op, const std::vector<size_t> &launches) {
  std::vector<Decision> decisions;
  auto noted = op->getAttrOfType<ArrayAttr>(kChosenAttr);
  for (Attribute entry : noted ? noted.getValue() : ArrayRef<Attribute>()) {
    auto fields = dyn_cast<DictionaryAttr>(entry);
    auto key = fields ? fields.getAs<StringAttr>("key") : StringAttr();
    auto choice = fields ? fields.getAs<StringAttr>("choice") : StringAttr();
    if (!key || !choice)
      continue;
    Decision decision{key.str(), choice.str(), {}, launches};
    if (auto proposals = fields.getAs<ArrayAttr>("proposals"))
      for (StringAttr proposal : proposals.getAsRange<StringAttr>())
        decision.proposals.push_back(proposal.str());
    decisions.push_back(std::move(decision));
  }
  return decisions;
}

/// Returns all decisions of a compilation, each with the NPU's launches that it is about; a joined
/// launch counts as many as it has layers.
static std::vector<Decision> decisionsIn(ModuleOp module) {
  func::FuncOp main = om::findMain(module);
  std::vector<Decision> all = decisionsOn(main, {});
  llvm::StringMap<std::vector<size_t>> launches;
  SymbolTable symbols(module);
  size_t count = 0;
  main.walk([&](om::LaunchOp launch) {
    const StringRef kernel = launch.getKernel();
    Operation *symbol = symbols.lookup(kernel);
    if (!om::isNpuKernel(symbol))
      return;
    auto program = dyn_cast<npu::ir::ProgramOp>(symbol);
    for (size_t layers = program ? program.countLayers() : 1; layers; --layers)
      launches[kernel].push_back(count++);
  });
  for (auto program : module.getOps<npu::ir::ProgramOp>())
    llvm::append_range(all, decisionsOn(program, launches[program.getSymName()]));
  llvm::sort(all, [](const Decision &a, const Decision &b) {
    return std::tie(a.key, a.launches) < std::tie(b.key, b.launches);
  });
  // Kernels that differ in names alone share a decision.
  std::vector<Decision> unique;
  for (Decision &decision : all)
    if (!unique.empty() && unique.back().key == decision.key)
      llvm::append_range(unique.back().launches, decision.launches);
    else
      unique.push_back(std::move(decision));
  return unique;
}

/// Returns for each launch of the NPU the number of its kernel in the choice of groups.
static std::vector<std::optional<size_t>> kernelNumbersIn(ModuleOp module) {
  std::vector<std::optional<size_t>> numbers;
  SymbolTable symbols(module);
  om::findMain(module).walk([&](om::LaunchOp launch) {
    if (!om::isNpuKernel(symbols.lookup(launch.getKernel())))
      return;
    auto number = launch->getAttrOfType<IntegerAttr>(kKernelNumberAttr);
    numbers.push_back(number ? std::optional<size_t>(number.getInt()) : std::nullopt);
  });
  return numbers;
}

namespace {
struct FreeNpu {
  void operator()(om_npu *npu) const { om_npu_free(npu); }
};
} // namespace

bool measureFile(const ::om::Buffer &file, TrialResult &result, std::string &error) {
  om_npu_options npuOptions = OM_NPU_OPTIONS_INIT;
  npuOptions.functional = 0;
  npuOptions.threads = 1;
  om_npu *made = nullptr;
  om_error npuError = {OM_OK, ""};
  if (om_npu_simulator(&npuOptions, &made, &npuError) != OM_OK) {
    error = codedLine("E19999", std::string("no NPU can be simulated: ") + npuError.message);
    return false;
  }
  std::unique_ptr<om_npu, FreeNpu> npu(made);
  ::om::Error runError;
  om_load_options loading = OM_LOAD_OPTIONS_INIT;
  loading.verify_weights = 0; // their values do not count
  ::om::Model model = ::om::Model::loadMemory(file.data(), file.size(), runError, loading);
  om_session_options options = OM_SESSION_OPTIONS_INIT;
  options.threads = 1;
  options.seed = 1;
  options.device = om_npu_device(npu.get());
  ::om::Session session;
  if (model)
    session = ::om::Session(model, runError, options);
  std::vector<::om::Buffer> buffers;
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  bool ran = false;
  if (session) {
    for (const ::om::Tensor &tensor : model.inputs())
      inputs.push_back(buffers.emplace_back(tensor.bytes).data());
    for (const ::om::Tensor &tensor : model.outputs())
      outputs.push_back(buffers.emplace_back(tensor.bytes).data());
    ran = true;
    // The first run reads all weights from DDR; what fits into L2 is there for the second one.
    for (int runs = 2; ran && runs; --runs)
      ran = session.run(inputs.data(), outputs.data(), runError);
  }
  if (!ran) {
    error =
        codedLine("E19999", std::string("the compiled model cannot be run: ") + runError.message());
    return false;
  }
  const auto report = nlohmann::json::parse(om_npu_text(npu.get(), OM_NPU_STATISTICS), nullptr,
                                            /*allow_exceptions=*/false);
  if (!report.is_object() || !report.contains("cycles")) {
    error = codedLine("E10055", "nothing of the model runs on the NPU: there is nothing to tune");
    return false;
  }
  result.cycles = report["cycles"];
  result.milliseconds = report["ms"];
  for (const auto &launch : report["per_launch"])
    result.launches.push_back({launch["name"], launch["cycles"], launch["joined"], std::nullopt});
  return true;
}

/// Returns options whose compilations run in parallel.
static driver::CompilerOptions withOneThread(driver::CompilerOptions options) {
  options.limits.threads = 1;
  return options;
}

TrialRunner::TrialRunner(driver::CompilerOptions options)
    : base(withOneThread(std::move(options))), prepared(base) {}

TrialResult TrialRunner::run(const Choices &choices, int64_t proposals, Launches launches) const {
  TrialResult result;
  Diagnostics diagnostics;
  driver::CompilerOptions options = base;
  options.choices = choices;
  // An entry that nothing reads: decisions are noted in every trial.
  options.choices.emplace("trial", "");
  if (launches == Launches::Apart)
    options.choices.emplace(npu::kApartKey.str(), "");
  options.proposals = proposals;
  PreparedModels::Loan model = prepared.lend();
  driver::Compiler compiler(model.context(), std::move(options), diagnostics);
  if (model.module())
    compiler.setPrepared(model.module().clone());
  std::optional<::om::Buffer> file;
  std::vector<std::optional<size_t>> numbers;
  if (compiler.lower(driver::Phase::Programs)) {
    result.decisions = decisionsIn(compiler.module());
    numbers = kernelNumbersIn(compiler.module());
    file = compiler.emitBytes();
  }
  std::string error;
  if (file && !measureFile(*file, result, error))
    diagnostics.errorLine(error);
  // Layers of joined launches are not told apart.
  if (numbers.size() == result.launches.size())
    for (auto [launch, number] : llvm::zip_equal(result.launches, numbers))
      launch.kernel = number;
  result.done = file && !diagnostics.hasErrors();
  result.messages.assign(diagnostics.all().begin(), diagnostics.all().end());
  return result;
}

bool TrialRunner::write(const Choices &choices, const std::string &path,
                        Diagnostics &diagnostics) const {
  driver::CompilerOptions options = base;
  options.choices = choices;
  auto context = driver::makeCompilerContext();
  driver::Compiler compiler(*context, std::move(options), diagnostics);
  return compiler.emitFile(path) && !diagnostics.hasErrors();
}

} // namespace atc::tuning
