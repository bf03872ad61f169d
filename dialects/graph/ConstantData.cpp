//===-- ConstantData.cpp - reading and making tensor constants -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/DerivedConstants.h"
#include "dialects/graph/QuantTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinDialect.h" // IWYU pragma: keep
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include <atomic>

using namespace mlir;

namespace atc::graph {

/// Begins the name of every resource made here.
static constexpr StringLiteral kNamePrefix = "atc_";
/// Follows in the names of those that may have no bytes yet, so that others need no look-up.
static constexpr StringLiteral kEmptyPrefix = "later_";

static bool isDeferred(DenseResourceElementsAttr constant) {
  StringRef name = constant.getRawHandle().getKey();
  return name.consume_front(kNamePrefix) && name.starts_with(kEmptyPrefix);
}

/// The number that ends the name of the next resource.
static std::atomic<uint64_t> nextNumber = 0;

int64_t getElementBytes(Type elementType) {
  return llvm::divideCeil(getStoredType(elementType).getIntOrFloatBitWidth(), 8);
}

std::optional<int64_t> getElementCount(ShapedType type) {
  int64_t count = 1;
  for (int64_t dim : type.getShape())
    if (ShapedType::isDynamic(dim) || llvm::MulOverflow(count, dim, count))
      return std::nullopt;
  return count;
}

char *ConstantBytes::allocate(int64_t size) {
  owned = std::make_unique_for_overwrite<std::max_align_t[]>(
      llvm::divideCeil(static_cast<size_t>(size), sizeof(std::max_align_t)));
  auto *bytes = reinterpret_cast<char *>(owned.get());
  data = {bytes, static_cast<size_t>(size)};
  return bytes;
}

FailureOr<ConstantBytes> ConstantBytes::get(Attribute attribute) {
  auto elements = dyn_cast_or_null<ElementsAttr>(attribute);
  if (!elements || !elements.getElementType().isIntOrFloat())
    return failure();
  ConstantBytes result;
  result.type = elements.getShapedType();
  int64_t elementBytes = getElementBytes(result.type.getElementType());
  std::optional<int64_t> count = getElementCount(result.type);
  int64_t size;
  if (!count || llvm::MulOverflow(*count, elementBytes, size))
    return failure();

  if (auto dense = dyn_cast<DenseIntOrFPElementsAttr>(attribute)) {
    result.splat = dense.isSplat() && *count != 0;
    int64_t stored = result.splat ? 1 : *count;
    if (result.type.getElementType().isInteger(1)) {
      // Bits in the attribute, bytes here.
      char *bytes = result.allocate(stored);
      for (auto [i, value] : llvm::enumerate(dense.getValues<bool>())) {
        if (static_cast<int64_t>(i) == stored)
          break;
        bytes[i] = value;
      }
      return result;
    }
    result.data = dense.getRawData();
    if (static_cast<int64_t>(result.data.size()) != stored * elementBytes)
      return failure();
    return result;
  }
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    if (isDeferred(resource))
      if (const auto *derived = DerivedConstants::of(resource.getContext()))
        derived->compute(resource);
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || static_cast<int64_t>(blob->getData().size()) != size)
      return failure();
    result.data = blob->getData();
    // Bytes of a file can have any alignment.
    if (reinterpret_cast<uintptr_t>(result.data.data()) % elementBytes != 0) {
      ArrayRef<char> source = result.data;
      llvm::copy(source, result.allocate(size));
    }
    return result;
  }
  return failure();
}

ArrayRef<char> ConstantBytes::expanded() {
  if (!splat)
    return data;
  int64_t count = *getElementCount(type);
  std::vector<char> element(data.begin(), data.end());
  char *bytes = allocate(count * element.size());
  for (int64_t i = 0; i < count; ++i)
    llvm::copy(element, bytes + i * element.size());
  splat = false;
  return data;
}

/// Few elements are stored in the attribute itself: they are readable in the
/// text form and uniqued.
static ElementsAttr makeInline(RankedTensorType type, ArrayRef<char> bytes) {
  // Elements that are no numbers, such as strings, have no bytes; there can be none of them.
  if (!type.getElementType().isIntOrFloat() && type.getNumElements() == 0)
    return DenseElementsAttr::get(type, ArrayRef<Attribute>());
  if (!type.getElementType().isInteger(1))
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  SmallVector<bool> bits(llvm::map_range(bytes, [](char byte) { return byte != 0; }));
  return DenseElementsAttr::get(type, ArrayRef<bool>(bits));
}

static DenseResourceElementsAttr makeResource(RankedTensorType type, StringRef name,
                                              std::optional<AsmResourceBlob> &&blob) {
  std::string unique = (kNamePrefix + name + "_" + Twine(nextNumber++)).str();
  auto &manager = DenseResourceElementsHandle::getManagerInterface(type.getContext());
  return DenseResourceElementsAttr::get(type, manager.insert(unique, std::move(blob)));
}

/// Returns a blob that owns `bytes`: it lives as long as its deleter, which has them.
static AsmResourceBlob makeBlob(RankedTensorType type, std::vector<char> &&bytes) {
  auto holder = std::make_unique<std::vector<char>>(std::move(bytes));
  ArrayRef<char> view(*holder);
  return {view, static_cast<size_t>(getElementBytes(type.getElementType())),
          [holder = std::move(holder)](void *, size_t, size_t) mutable { holder.reset(); },
          /*dataIsMutable=*/false};
}

ElementsAttr makeConstant(RankedTensorType type, std::vector<char> &&bytes, StringRef name) {
  if (type.getNumElements() <= kInlineElements)
    return makeInline(type, bytes);
  return makeResource(type, name, makeBlob(type, std::move(bytes)));
}

ElementsAttr makeConstant(RankedTensorType type, ArrayRef<char> bytes,
                          AsmResourceBlob::DeleterFn deleter, StringRef name) {
  size_t align = getElementBytes(type.getElementType());
  if (type.getNumElements() <= kInlineElements) {
    ElementsAttr attr = makeInline(type, bytes);
    if (deleter)
      deleter(const_cast<char *>(bytes.data()), bytes.size(), align);
    return attr;
  }
  return makeResource(type, name, AsmResourceBlob(bytes, align, std::move(deleter), false));
}

DenseResourceElementsAttr makeEmptyConstant(RankedTensorType type, StringRef name) {
  return makeResource(type, (kEmptyPrefix + name).str(), std::nullopt);
}

void setBytes(DenseResourceElementsAttr constant, std::vector<char> &&bytes) {
  auto &manager =
      DenseResourceElementsHandle::getManagerInterface(constant.getContext()).getBlobManager();
  manager.update(constant.getRawHandle().getKey(),
                 makeBlob(cast<RankedTensorType>(constant.getType()), std::move(bytes)));
}

void shareConstants(Operation *module) {
  Builder builder(module->getContext());
  module->setAttr(kSharedConstantsAttr,
                  builder.getI64IntegerAttr(static_cast<int64_t>(nextNumber.load())));
}

/// Reports whether makeConstant has made the resource `name` as number `first` or later.
static bool isMadeSince(StringRef name, uint64_t first) {
  uint64_t number;
  return name.starts_with(kNamePrefix) &&
         !name.substr(name.rfind('_') + 1).getAsInteger(10, number) && number >= first;
}

void releaseUnusedConstants(Operation *root) {
  if (root->hasAttrOfType<UnitAttr>(kSharedConstantsAttr))
    return;
  auto shared = root->getAttrOfType<IntegerAttr>(kSharedConstantsAttr);
  const uint64_t first = shared ? static_cast<uint64_t>(shared.getInt()) : 0;
  auto &manager =
      DenseResourceElementsHandle::getManagerInterface(root->getContext()).getBlobManager();
  llvm::StringSet<> used;
  root->walk([&](Operation *op) {
    op->getAttrDictionary().walk(
        [&](DenseResourceElementsAttr attr) { used.insert(attr.getRawHandle().getKey()); });
  });
  if (const auto *derived = DerivedConstants::of(root->getContext()))
    derived->addSources(used);
  std::vector<std::string> unused;
  manager.getBlobMap([&](const llvm::StringMap<DialectResourceBlobManager::BlobEntry> &blobs) {
    for (const auto &entry : blobs)
      if (isMadeSince(entry.getKey(), first) && !used.contains(entry.getKey()))
        unused.push_back(entry.getKey().str());
  });
  for (const std::string &name : unused)
    manager.update(name, AsmResourceBlob());
}

} // namespace atc::graph
