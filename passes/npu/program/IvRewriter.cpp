//===-- IvRewriter.cpp - ivs as sums of other ivs -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/program/IvRewriter.h"

using namespace mlir;

namespace atc::npu {

void IvRewriter::run(ir::ProgramOp program) {
  program.walk([&](ir::InstructionOpInterface op) {
    if (llvm::any_of(op.getParts().ivs, [&](Value iv) { return replaced.contains(iv); }))
      rewrite(op);
  });
}

void IvRewriter::rewrite(ir::InstructionOpInterface op) {
  const ValueRange old = op.getParts().ivs;
  SmallVector<Value> ivs;
  sums.clear();
  for (Value iv : old) {
    auto found = replaced.find(iv);
    Terms terms;
    if (found == replaced.end())
      terms.push_back({iv, 1});
    else
      terms = found->second;
    for (auto &[term, factor] : terms)
      if (!llvm::is_contained(ivs, term))
        ivs.push_back(term);
    sums.push_back(std::move(terms));
  }
  newIvs = ivs;
  for (NamedAttribute attribute : llvm::to_vector(op->getAttrs()))
    if (Attribute changed = converted(attribute.getValue()))
      op->setAttr(attribute.getName(), changed);
  if (auto first = op->getAttrOfType<DenseI64ArrayAttr>("first"))
    op->setAttr("first", Builder(op->getContext()).getDenseI64ArrayAttr(mask(first)));
  const unsigned buffers = op->getNumOperands() - unsigned(old.size());
  SmallVector<Value> operands(op->getOperands().take_front(buffers));
  operands.append(ivs.begin(), ivs.end());
  op->setOperands(operands);
  if (auto sizes = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes")) {
    SmallVector<int32_t> list(sizes.asArrayRef());
    list.back() = int32_t(ivs.size());
    op->setAttr("operandSegmentSizes", Builder(op->getContext()).getDenseI32ArrayAttr(list));
  }
}

SmallVector<int64_t> IvRewriter::mask(DenseI64ArrayAttr first) const {
  SmallVector<int64_t> numbers;
  for (int64_t old : first.asArrayRef())
    for (auto &[term, factor] : sums[size_t(old)])
      numbers.push_back(numberOf(term));
  return numbers;
}

Attribute IvRewriter::converted(Attribute attribute) const {
  MLIRContext *context = attribute.getContext();
  if (auto affine = dyn_cast<ir::AffineAttr>(attribute)) {
    if (affine.getStrides().empty())
      return {};
    SmallVector<int64_t> strides(newIvs.size(), 0);
    for (auto [stride, terms] : llvm::zip_equal(affine.getStrides(), sums))
      for (auto &[term, factor] : terms)
        strides[size_t(numberOf(term))] += stride * factor;
    return ir::AffineAttr::get(context, affine.getBase(), strides);
  }
  if (auto range = dyn_cast<ir::RangeAttr>(attribute)) {
    Attribute start = range.getStart() ? converted(range.getStart()) : Attribute();
    return start ? ir::RangeAttr::get(context, range.getLength(), cast<ir::AffineAttr>(start),
                                      range.getLimit())
                 : ir::RangeAttr();
  }
  if (auto guard = dyn_cast<ir::GuardAttr>(attribute))
    // Guards are on loops, which are not replaced.
    return ir::GuardAttr::get(context, guard.getKind(),
                              numberOf(sums[size_t(guard.getIv())].front().first));
  auto list = dyn_cast<ArrayAttr>(attribute);
  if (!list)
    return {};
  SmallVector<Attribute> entries;
  for (Attribute entry : list) {
    Attribute changed = converted(entry);
    entries.push_back(changed ? changed : entry);
  }
  return ArrayAttr::get(context, entries);
}

} // namespace atc::npu
