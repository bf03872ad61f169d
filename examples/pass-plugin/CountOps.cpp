// A pass of one's own in a shared library: counts the operators of a graph, and removes every
// operator that repeats the one in front of it (relu of relu is relu).

#include "dialects/graph/ops/UnaryOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"

#include <map>

namespace {

class CountOps : public mlir::PassWrapper<CountOps, mlir::OperationPass<mlir::func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountOps)

  CountOps() = default;
  CountOps(const CountOps &other) : PassWrapper(other) {}

  llvm::StringRef getArgument() const override { return "count-ops"; }
  llvm::StringRef getDescription() const override {
    return "Counts operators, and removes a relu behind a relu";
  }

  void runOnOperation() override {
    std::map<std::string, int> counts;
    getOperation().walk([&](mlir::Operation *op) { ++counts[op->getName().getStringRef().str()]; });
    getOperation().walk([](atc::graph::ReluOp relu) {
      if (mlir::isa_and_nonnull<atc::graph::ReluOp>(relu->getOperand(0).getDefiningOp())) {
        relu->getResult(0).replaceAllUsesWith(relu->getOperand(0));
        relu->erase();
      }
    });
    if (print)
      for (const auto &[name, count] : counts)
        llvm::outs() << name << ": " << count << "\n";
    llvm::outs().flush();
  }

  Option<bool> print{*this, "print", llvm::cl::desc("Print the counts"), llvm::cl::init(true)};
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "CountOps", LLVM_VERSION_STRING,
          [] { mlir::PassRegistration<CountOps>(); }};
}
