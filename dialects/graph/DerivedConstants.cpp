//===-- DerivedConstants.cpp - constants made of other constants ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/DerivedConstants.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/BuiltinDialect.h" // IWYU pragma: keep
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/Process.h"

#include <sys/mman.h>

using namespace mlir;

namespace atc::graph {

/// Constants of fewer bytes are derived anew each time.
static constexpr int64_t kMinBytes = 1 << 16;

/// Returns the resource of a constant of many bytes; null for others.
static DenseResourceElementsAttr largeResource(ElementsAttr constant) {
  auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(constant);
  if (!resource || !resource.getElementType().isIntOrFloat())
    return {};
  const std::optional<int64_t> count = getElementCount(resource.getType());
  const int64_t bytes = getElementBytes(resource.getElementType());
  return count && *count >= kMinBytes / bytes ? resource : DenseResourceElementsAttr();
}

/// Returns the name of what a recipe makes of a resource. Constants of several types may share
/// their bytes.
static std::string keyOf(DenseResourceElementsAttr source, StringRef recipe) {
  std::string key;
  llvm::raw_string_ostream(key) << source.getRawHandle().getKey() << ' ' << source.getType() << ' '
                                << recipe;
  return key;
}

/// Returns whether the bytes of a resource are in memory.
static bool hasBytes(DenseResourceElementsAttr resource) {
  const AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  return blob && !blob->getData().empty();
}

std::string recipeOf(StringRef name, ArrayRef<int64_t> parameters) {
  std::string recipe = name.str();
  for (int64_t parameter : parameters)
    recipe += ' ' + std::to_string(parameter);
  return recipe;
}

const DerivedConstants *DerivedConstants::of(MLIRContext *context) {
  auto *dialect = context->getLoadedDialect<GraphDialect>();
  return dialect ? dialect->getRegisteredInterface<DerivedConstants>() : nullptr;
}

DerivedConstantsScope::DerivedConstantsScope(MLIRContext *context) : context(context) {
  if (const DerivedConstants *derived = DerivedConstants::of(context)) {
    std::lock_guard lock(derived->mutex);
    ++derived->scopes;
  }
}

DerivedConstantsScope::~DerivedConstantsScope() {
  if (const DerivedConstants *derived = DerivedConstants::of(context)) {
    std::lock_guard lock(derived->mutex);
    if (--derived->scopes == 0)
      derived->made.clear();
  }
}

FailureOr<ElementsAttr> deriveConstant(ElementsAttr source, StringRef recipe,
                                       llvm::function_ref<FailureOr<ElementsAttr>()> make) {
  DenseResourceElementsAttr resource = largeResource(source);
  const DerivedConstants *derived =
      resource ? DerivedConstants::of(resource.getContext()) : nullptr;
  if (!derived)
    return make();
  std::unique_lock lock(derived->mutex);
  if (derived->scopes == 0) {
    lock.unlock();
    return make();
  }
  const std::string key = keyOf(resource, recipe);
  auto known = derived->made.find(key);
  if (known != derived->made.end()) {
    auto made = dyn_cast<DenseResourceElementsAttr>(known->second);
    if (!made || hasBytes(made))
      return known->second;
  }
  FailureOr<ElementsAttr> made = make();
  if (succeeded(made))
    derived->made[key] = *made;
  derived->dropPages(resource);
  return made;
}

ElementsAttr deferConstant(ElementsAttr source, RankedTensorType type, StringRef recipe,
                           ComputeDeferred compute) {
  DenseResourceElementsAttr resource = largeResource(source);
  const DerivedConstants *derived =
      resource ? DerivedConstants::of(resource.getContext()) : nullptr;
  if (!derived)
    return {};
  const std::string key = keyOf(resource, recipe);
  std::lock_guard lock(derived->mutex);
  if (ElementsAttr known = derived->made.lookup(key))
    return known;
  DenseResourceElementsAttr made = makeEmptyConstant(type, "deferred");
  derived->deferred[made.getRawHandle().getKey()] = {resource, type, recipe.str(),
                                                     std::move(compute)};
  if (derived->scopes)
    derived->made[key] = made;
  return made;
}

ElementsAttr deferredSource(ElementsAttr constant, StringRef recipe) {
  DenseResourceElementsAttr resource = largeResource(constant);
  const DerivedConstants *derived =
      resource ? DerivedConstants::of(resource.getContext()) : nullptr;
  if (!derived)
    return {};
  std::lock_guard lock(derived->mutex);
  auto found = derived->deferred.find(resource.getRawHandle().getKey());
  return found != derived->deferred.end() && found->second.recipe == recipe &&
                 found->second.type == resource.getType()
             ? found->second.source
             : ElementsAttr();
}

ElementsAttr storedSource(ElementsAttr constant) {
  DenseResourceElementsAttr resource = largeResource(constant);
  const DerivedConstants *derived =
      resource ? DerivedConstants::of(resource.getContext()) : nullptr;
  if (!derived)
    return constant;
  std::lock_guard lock(derived->mutex);
  while (!hasBytes(resource)) {
    auto found = derived->deferred.find(resource.getRawHandle().getKey());
    if (found == derived->deferred.end())
      break;
    resource = found->second.source;
  }
  return resource;
}

void DerivedConstants::compute(DenseResourceElementsAttr constant) const {
  const StringRef name = constant.getRawHandle().getKey();
  std::lock_guard lock(mutex);
  auto found = deferred.find(name);
  if (found == deferred.end() || hasBytes(constant))
    return;
  std::vector<char> bytes = found->second.compute(found->second.source);
  if (!bytes.empty())
    setBytes(constant, std::move(bytes));
  dropPages(found->second.source);
}

void DerivedConstants::addSources(llvm::StringSet<> &names) const {
  std::lock_guard lock(mutex);
  SmallVector<StringRef> added(names.keys());
  while (!added.empty()) {
    auto found = deferred.find(added.pop_back_val());
    if (found == deferred.end())
      continue;
    auto [name, isNew] = names.insert(found->second.source.getRawHandle().getKey());
    if (isNew)
      added.push_back(name->getKey());
  }
}

void markFileBacked(ElementsAttr constant) {
  DenseResourceElementsAttr resource = largeResource(constant);
  const DerivedConstants *derived =
      resource ? DerivedConstants::of(resource.getContext()) : nullptr;
  if (!derived)
    return;
  std::lock_guard lock(derived->mutex);
  derived->fileBacked.insert(resource.getRawHandle().getKey());
}

void DerivedConstants::dropPages(DenseResourceElementsAttr constant) const {
  if (hasBytes(constant) && fileBacked.contains(constant.getRawHandle().getKey()))
    dropFilePages(constant.getRawHandle().getBlob()->getData());
}

void dropFilePages(ArrayRef<char> bytes) {
  const uint64_t page = llvm::sys::Process::getPageSizeEstimate();
  const auto address = reinterpret_cast<uintptr_t>(bytes.data());
  const uint64_t begin = llvm::alignTo(address, page),
                 end = llvm::alignDown(address + bytes.size(), page);
  if (begin < end)
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
}

} // namespace atc::graph
