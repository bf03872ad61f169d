//===-- TileChoice.cpp - tiles that somebody has set ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/contraction/TileChoice.h"

#include "passes/Choices.h"
#include "passes/npu/contraction/TileCosts.h"
#include "passes/npu/program/BufferChoice.h"
#include <array>

using namespace mlir;

namespace atc::npu {

/// Returns pointers to the sizes of a tile in the order of its text.
static std::array<int64_t *, 8> sizesOf(Tile &tile) {
  return {&tile.m, &tile.n, &tile.k, &tile.l1M, &tile.l1N, &tile.l1K, &tile.coresM, &tile.coresN};
}

static constexpr std::pair<Order, StringLiteral> orders[] = {
    {Order::Lhs, "lhs"}, {Order::Rhs, "rhs"}, {Order::None, "none"}};

std::string textOf(const Tile &tile) {
  std::string text;
  Tile copy = tile;
  for (int64_t *size : sizesOf(copy))
    text += std::to_string(*size) + ",";
  for (auto [order, name] : orders)
    if (order == tile.order)
      text += name;
  return text;
}

std::optional<Tile> parseTile(StringRef text) {
  // Larger sizes are no part of any buffer, and their products would overflow.
  constexpr int64_t kMaxSize = 1 << 20;
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  Tile tile;
  std::array<int64_t *, 8> sizes = sizesOf(tile);
  if (parts.size() != sizes.size() + 1)
    return std::nullopt;
  for (auto [size, part] : llvm::zip(sizes, parts))
    if (part.getAsInteger(10, *size) || *size < 1 || *size > kMaxSize)
      return std::nullopt;
  for (auto [order, name] : orders)
    if (parts.back() == name) {
      tile.order = order;
      return tile;
    }
  return std::nullopt;
}

TileChoice::TileChoice(func::FuncOp function, Operation *op, const SocTable &soc, StringRef pass)
    : function(function), op(op), soc(soc), pass(pass) {
  if (!usesChoices(function))
    return;
  identity = identify(op, writeSocOfKernels(soc));
  function->setAttr(kKernelAttr, StringAttr::get(op->getContext(), identity));
  key = choiceKey(pass, soc.name, identity);
}

std::optional<Plan> TileChoice::given(const Contraction &contraction) const {
  std::optional<StringRef> text = key.empty() ? std::nullopt : givenChoice(function, key);
  if (!text)
    return std::nullopt;
  std::optional<Tile> tile = parseTile(*text);
  if (!tile) {
    reportUnfit(op, key, *text,
                "it must have the form m,n,k,l1M,l1N,l1K,coresM,coresN,order with positive sizes "
                "and lhs, rhs or none as the order");
    return std::nullopt;
  }
  Plan plan = planOf(contraction, *tile, soc);
  if (plan.errorText.empty())
    return plan;
  reportUnfit(op, key, *text, plan.errorText);
  return std::nullopt;
}

int64_t TileChoice::copies() const {
  if (key.empty())
    return kOwnCopies;
  // What is no number of copies is reported by the pass that follows it.
  std::optional<StringRef> text =
      givenChoice(function, choiceKey("npu-select-buffers", soc.name, identity));
  return (text ? parseCopies(*text) : std::nullopt).value_or(kOwnCopies);
}

void TileChoice::note(const Contraction &contraction, const Plan &plan) const {
  if (key.empty())
    return;
  SmallVector<std::string> proposals;
  if (int64_t wanted = wantedProposals(function))
    for (const Plan &other : selectPlans(contraction, soc, wanted))
      proposals.push_back(textOf(other.tile));
  noteChoice(pass, op->getLoc(), function, key, textOf(plan.tile), proposals);
}

} // namespace atc::npu
