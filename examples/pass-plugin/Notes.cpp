// A dialect of one's own in a shared library: operations notes.* of any kind, which stand beside a
// graph while passes are developed.
//   atc-opt --load-dialect-plugin=build/CountOps.so model.mlir

#include "mlir/IR/Dialect.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "llvm/Config/llvm-config.h"

namespace {

class NotesDialect : public mlir::Dialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NotesDialect)

  explicit NotesDialect(mlir::MLIRContext *context)
      : Dialect(getDialectNamespace(), context, mlir::TypeID::get<NotesDialect>()) {
    allowUnknownOperations();
  }

  static llvm::StringRef getDialectNamespace() { return "notes"; }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Notes", LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *registry) { registry->insert<NotesDialect>(); }};
}
