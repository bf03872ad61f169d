//===-- TrainingOptions.cpp - how a model is trained ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/training/TrainingOptions.h"

#include "support/NearestName.h"
#include "llvm/Support/JSON.h"

#include <functional>
#include <limits>

namespace json = llvm::json;
using llvm::StringRef;
using llvm::Twine;

namespace atc::driver {

namespace {

/// Reads the keys of one object into fields.
class ObjectReader {
public:
  ObjectReader(StringRef where, Diagnostics &diags) : where(where), diags(diags) {}

  void text(StringRef key, std::string &field) {
    add(key, "a text", [&field](const json::Value &value) {
      auto text = value.getAsString();
      if (text)
        field = text->str();
      return text.has_value();
    });
  }
  void number(StringRef key, double &field, double least) {
    add(key, "a number of at least " + llvm::formatv("{0}", least).str(),
        [&field, least](const json::Value &value) {
          auto number = value.getAsNumber();
          if (number)
            field = *number;
          return number && *number >= least;
        });
  }
  void integer(StringRef key, int64_t &field, int64_t least) {
    add(key, "an integer of at least " + std::to_string(least),
        [&field, least](const json::Value &value) {
          auto number = value.getAsInteger();
          if (number)
            field = *number;
          return number && *number >= least;
        });
  }
  void boolean(StringRef key, bool &field) {
    add(key, "true or false", [&field](const json::Value &value) {
      auto boolean = value.getAsBoolean();
      if (boolean)
        field = *boolean;
      return boolean.has_value();
    });
  }
  template <typename List> void texts(StringRef key, List &field) {
    add(key, "a list of texts", [&field](const json::Value &value) {
      const json::Array *list = value.getAsArray();
      for (const json::Value &item : list ? *list : json::Array()) {
        auto text = item.getAsString();
        if (!text)
          return false;
        field.push_back(text->str());
      }
      return list != nullptr;
    });
  }
  void object(StringRef key, ObjectReader &inner) {
    add(key, "an object", [&inner](const json::Value &value) {
      const json::Object *object = value.getAsObject();
      if (object)
        inner.read(*object);
      return object != nullptr;
    });
  }

  void read(const json::Object &object) {
    for (const auto &[key, value] : object) {
      auto known =
          llvm::find_if(keys, [&](const Key &each) { return each.name == StringRef(key); });
      if (known == keys.end()) {
        std::vector<std::string> names;
        for (const Key &each : keys)
          names.push_back(each.name);
        diags.error("E15006", where + " has no setting '" + StringRef(key) + "'" +
                                  didYouMean(StringRef(key).str(), names));
      } else if (!known->read(value)) {
        diags.error("E15006", where + ": '" + StringRef(key) + "' must be " + known->what);
      }
    }
  }

private:
  struct Key {
    std::string name, what;
    std::function<bool(const json::Value &)> read;
  };
  void add(StringRef key, std::string what, std::function<bool(const json::Value &)> read) {
    keys.push_back({key.str(), std::move(what), std::move(read)});
  }

  const std::string where;
  Diagnostics &diags;
  std::vector<Key> keys;
};

} // namespace

std::optional<TrainingOptions> parseTrainingOptions(StringRef text, StringRef name,
                                                    Diagnostics &diagnostics) {
  llvm::Expected<json::Value> parsed = json::parse(text);
  const json::Object *root = parsed ? parsed->getAsObject() : nullptr;
  if (!root) {
    diagnostics.error("E15006", name + " is not a JSON object" +
                                    (parsed ? "" : ": " + toString(parsed.takeError())));
    return std::nullopt;
  }
  const unsigned before = diagnostics.numErrors();
  TrainingOptions options;
  int64_t shardElements = 0;
  const std::string where = name.str();
  ObjectReader all(where, diagnostics), loss("'loss' of " + where, diagnostics),
      optimizer("'optimizer' of " + where, diagnostics),
      compress("'compress' of " + where, diagnostics);
  all.texts("parameters", options.import.parameters);
  all.texts("frozen", options.import.frozen);
  all.boolean("batch_statistics", options.import.batchStatistics);
  all.boolean("dropout", options.dropout.drop);
  all.boolean("recompute", options.recompute);
  all.object("loss", loss);
  all.object("optimizer", optimizer);

  loss.text("kind", options.loss.kind);
  loss.text("output", options.loss.output);
  loss.text("target", options.loss.target);
  loss.text("reduction", options.loss.reduction);
  loss.integer("axis", options.loss.axis, std::numeric_limits<int32_t>::min());
  loss.number("smoothing", options.loss.smoothing, 0);
  loss.integer("ignore_index", options.loss.ignoreIndex, std::numeric_limits<int64_t>::min());

  train::TrainApplyOptimizerOptions &update = options.optimizer;
  optimizer.text("kind", update.kind);
  for (auto &[key, field] : std::initializer_list<std::pair<const char *, double *>>{
           {"momentum", &update.momentum},
           {"dampening", &update.dampening},
           {"beta1", &update.beta1},
           {"beta2", &update.beta2},
           {"epsilon", &update.epsilon},
           {"weight_decay", &update.weightDecay},
           {"trust", &update.trust},
           {"lr_decay", &update.lrDecay}})
    optimizer.number(key, *field, 0);
  optimizer.boolean("nesterov", update.nesterov);
  optimizer.texts("no_decay", update.noDecay);
  all.integer("ranks", options.exchange.ranks, 1);
  all.integer("shard_elements", shardElements, 1);
  all.integer("bucket_bytes", options.exchange.bucketBytes, 1);
  all.object("compress", compress);
  compress.text("kind", options.exchange.compress);
  compress.number("ratio", options.exchange.ratio, 0);
  all.number("clip_norm", update.clipNorm, 0);
  all.number("clip_value", update.clipValue, 0);
  all.integer("accumulate", update.accumulate, 1);
  all.number("loss_scale", update.lossScale, 0);
  all.integer("growth_interval", update.growthInterval, 0);
  all.read(*root);
  if (shardElements && !options.exchange.compress.empty())
    diagnostics.error("E15006", where + ": 'compress' and 'shard_elements' do not go together: "
                                        "gradients of shares are summed as they are");
  if (diagnostics.numErrors() != before)
    return std::nullopt;
  if (shardElements) {
    options.shard.ranks = options.exchange.ranks;
    options.shard.minElements = shardElements;
  }
  options.exchange.mean = options.loss.reduction == "mean";
  return options;
}

} // namespace atc::driver
