//===-- FusionRules.cpp - a user's rewrite rules --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/rules/FusionRules.h"

#include "support/InputText.h"
#include "support/NearestName.h"
#include "support/TextDepth.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDL/IR/PDLOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace mlir;

namespace atc::driver {

namespace {

/// More rewrites per op of the model than this mean that rules undo each other.
constexpr int64_t maxRewritesPerOp = 64;

/// Keeps the first error that MLIR reports while it lives, with its location.
class FirstError {
public:
  explicit FirstError(MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error || !text.empty())
            return success();
          if (auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
            text = "line " + std::to_string(place.getLine()) + ": ";
          text += diagnostic.str();
          return success();
        }) {}

  std::string text;

private:
  ScopedDiagnosticHandler handler;
};

/// Reads one file of rules.
class RuleReader {
public:
  RuleReader(MLIRContext *context, const std::string &path, Diagnostics &diagnostics)
      : context(context), path(path), diagnostics(diagnostics) {}

  /// Returns the patterns, or null after an error.
  OwningOpRef<ModuleOp> read();

private:
  std::unique_ptr<llvm::MemoryBuffer> readText();
  std::unique_ptr<llvm::MemoryBuffer> translatePdll();
  bool checkPattern(pdl::PatternOp pattern);
  void fail(ErrorCode code, const Twine &text) {
    diagnostics.error(code, "the rules \"" + path + "\" of --fusion_rules " + text);
  }

  MLIRContext *context;
  const std::string &path;
  Diagnostics &diagnostics;
};

std::unique_ptr<llvm::MemoryBuffer> RuleReader::translatePdll() {
  // Debian's name first: another LLVM's program may be in the PATH as well.
  llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName("mlir-pdll-22");
  if (!program)
    program = llvm::sys::findProgramByName("mlir-pdll");
  if (!program) {
    fail("E10041", "need the program mlir-pdll, which is not installed: install mlir-22-tools, or "
                   "translate them elsewhere with mlir-pdll -x=mlir and give the result as .mlir");
    return {};
  }
  SmallString<128> result, messages;
  if (llvm::sys::fs::createTemporaryFile("openatc-rules", "mlir", result) ||
      llvm::sys::fs::createTemporaryFile("openatc-rules", "txt", messages)) {
    fail("E13004", "cannot be translated: no temporary file can be made");
    return {};
  }
  llvm::FileRemover removeResult(result), removeMessages(messages);
  constexpr unsigned seconds = 60;
  std::string error;
  const std::string folder = ("-I" + llvm::sys::path::parent_path(path)).str();
  SmallVector<StringRef> arguments = {*program, "-x=mlir", path, "-o", result};
  if (folder.size() > 2)
    arguments.push_back(folder);
  const std::optional<StringRef> redirects[] = {StringRef(""), StringRef(""), StringRef(messages)};
  const int code =
      llvm::sys::ExecuteAndWait(*program, arguments, std::nullopt, redirects, seconds, 0, &error);
  auto said = llvm::MemoryBuffer::getFile(messages);
  if (code == -2 && StringRef(error).contains("timed out")) { // LLVM's words are all that tells it
    fail("E13005", "cannot be translated: mlir-pdll does not end within " + Twine(seconds) +
                       " s; simplify them, or give the result of mlir-pdll -x=mlir as .mlir");
    return {};
  }
  if (code == -2) { // by a signal; what it has printed speaks of its own source
    fail("E13005", "cannot be translated: mlir-pdll crashes on them, as on rules that include "
                   "themselves or are nested very deep");
    return {};
  }
  if (code != 0) {
    StringRef first = said ? (*said)->getBuffer().split('\n').first : StringRef(error);
    fail("E13005", "cannot be translated: " + (first.empty() ? StringRef(error) : first));
    return {};
  }
  auto text = llvm::MemoryBuffer::getFile(result);
  return text ? std::move(*text) : nullptr;
}

std::unique_ptr<llvm::MemoryBuffer> RuleReader::readText() {
  std::string text;
  const std::string reason = readInputText(path, text);
  if (reason.empty())
    return StringRef(path).ends_with(".pdll") ? translatePdll()
                                              : llvm::MemoryBuffer::getMemBufferCopy(text, path);
  fail("E13001", "cannot be opened: " + reason);
  return {};
}

/// Checks what the interpreter of PDL relies on, as it runs without checks of its own.
bool RuleReader::checkPattern(pdl::PatternOp pattern) {
  const unsigned before = diagnostics.numErrors();
  pattern.walk([&](Operation *op) {
    if (auto operation = dyn_cast<pdl::OperationOp>(op)) {
      const std::optional<StringRef> name = operation.getOpName();
      if (!name)
        return;
      const auto info = RegisteredOperationName::lookup(*name, context);
      if (!info) {
        std::vector<std::string> known;
        for (RegisteredOperationName other : context->getRegisteredOperations())
          known.push_back(other.getStringRef().str());
        fail("E10001",
             "name the op \"" + *name + "\", which there is not" + didYouMean(name->str(), known));
      } else if (operation->getParentOfType<pdl::RewriteOp>() &&
                 operation.getTypeValues().empty() && info->hasInterface<InferTypeOpInterface>()) {
        fail("E10001", "create \"" + *name + "\" without the type of its result: write -> (type)");
      }
    } else if (isa<pdl::ApplyNativeConstraintOp, pdl::ApplyNativeRewriteOp>(op)) {
      const StringRef name = op->getAttrOfType<StringAttr>("name").getValue();
      if (!isa<pdl::ApplyNativeConstraintOp>(op) || name != "HasOneUse")
        fail("E10001", "use the native function \"" + name + "\"; there is only HasOneUse(Value)");
    }
  });
  auto rewrite = dyn_cast<pdl::RewriteOp>(pattern.getBody()->getTerminator());
  if (rewrite && rewrite.getName())
    fail("E10001", "use the native rewrite \"" + *rewrite.getName() + "\", which there is not");
  return diagnostics.numErrors() == before;
}

OwningOpRef<ModuleOp> RuleReader::read() {
  std::unique_ptr<llvm::MemoryBuffer> text = readText();
  if (!text)
    return {};
  // The reader of bytecode trusts what it reads.
  if (isBytecode(text->getMemBufferRef())) {
    fail("E13005", "are MLIR bytecode: give them as text");
    return {};
  }
  if (isMlirTooDeep(text->getBuffer())) {
    fail("E13005", "cannot be read: the text " + depthReason(kMaxMlirDepth));
    return {};
  }
  FirstError error(context);
  auto patterns =
      parseSourceString<ModuleOp>(text->getMemBufferRef().getBuffer(), ParserConfig(context), path);
  if (!patterns) {
    fail("E13005", "cannot be read: " + error.text);
    return {};
  }
  bool good = true;
  size_t count = 0;
  for (Operation &op : patterns->getOps()) {
    auto pattern = dyn_cast<pdl::PatternOp>(op);
    if (!pattern) {
      fail("E13005", "hold \"" + op.getName().getStringRef() + "\" beside pdl.pattern");
      return {};
    }
    good &= checkPattern(pattern);
    ++count;
  }
  if (count == 0)
    fail("E13005", "hold no pattern");
  return good && count ? std::move(patterns) : OwningOpRef<ModuleOp>();
}

} // namespace

bool applyFusionRules(ModuleOp module, const std::string &path, Diagnostics &diagnostics) {
  MLIRContext *context = module.getContext();
  context->getOrLoadDialect<pdl::PDLDialect>();
  OwningOpRef<ModuleOp> rules = RuleReader(context, path, diagnostics).read();
  if (!rules)
    return false;
  auto fail = [&](const Twine &text) {
    diagnostics.error("E10001", "the rules \"" + path + "\" of --fusion_rules " + text);
    return false;
  };

  FirstError error(context);
  PDLPatternModule pdl(std::move(rules));
  pdl.registerConstraintFunction("HasOneUse",
                                 [](PatternRewriter &, PDLResultList &, ArrayRef<PDLValue> values) {
                                   return success(values.size() == 1 && values[0].isa<Value>() &&
                                                  values[0].cast<Value>().hasOneUse());
                                 });
  RewritePatternSet patterns(context);
  patterns.add(std::move(pdl));
  // Nothing but the rules changes the graph, and each new op is seen by the verifier first.
  GreedyRewriteConfig config;
  int64_t ops = 0;
  module.walk([&](Operation *) { ++ops; });
  config.enableFolding(false).enableConstantCSE(false).setMaxNumRewrites(maxRewritesPerOp * ops);
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  const bool converged = succeeded(applyPatternsGreedily(module, std::move(patterns), config));
  if (failed(verify(module)))
    return fail("make a graph that is not valid: " + error.text);
  return converged || fail("do not come to an end: a rule matches what rules have made");
}

} // namespace atc::driver
