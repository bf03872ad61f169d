//===-- TrainingOptions.cpp - how a model is trained ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/training/TrainingOptions.h"

#include "support/NearestName.h"
#include "support/TextDepth.h"
#include "llvm/Support/JSON.h"

#include <functional>
#include <limits>

namespace json = llvm::json;
using llvm::StringRef;

namespace atc::driver {

namespace {

/// The largest integer that the f32 of the state `train.random` holds exactly, less one.
constexpr int64_t kMaxSeed = (1 << 24) - 1;

/// Reads the keys of one object into fields.
class ObjectReader {
public:
  ObjectReader(StringRef where, Diagnostics &diags) : where(where), diags(diags) {}

  /// A key that must be `what`: `read` returns whether it is.
  void add(StringRef key, std::string what, std::function<bool(const json::Value &)> read) {
    keys.push_back({key.str(), std::move(what), std::move(read)});
  }
  void text(StringRef key, std::string &field) {
    add(key, "a text", [&field](const json::Value &value) {
      auto text = value.getAsString();
      if (text)
        field = text->str();
      return text.has_value();
    });
  }
  void number(StringRef key, double &field, double min) {
    add(key, "a number of at least " + llvm::formatv("{0}", min).str(),
        [&field, min](const json::Value &value) {
          auto number = value.getAsNumber();
          if (number)
            field = *number;
          return number && *number >= min;
        });
  }
  void integer(StringRef key, int64_t &field, int64_t min) {
    add(key, "an integer of at least " + std::to_string(min),
        [&field, min](const json::Value &value) {
          auto number = value.getAsInteger();
          if (number)
            field = *number;
          return number && *number >= min;
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
  void integers(StringRef key, llvm::SmallVectorImpl<int64_t> &field, int64_t min) {
    add(key, "a list of integers of at least " + std::to_string(min),
        [&field, min](const json::Value &value) {
          const json::Array *list = value.getAsArray();
          for (const json::Value &item : list ? *list : json::Array()) {
            auto number = item.getAsInteger();
            if (!number || *number < min)
              return false;
            field.push_back(*number);
          }
          return list != nullptr;
        });
  }
  /// An object, or what `shorthand` reads.
  void object(StringRef key, ObjectReader &inner, std::string what,
              std::function<bool(const json::Value &)> shorthand) {
    add(key, std::move(what), [&inner, shorthand](const json::Value &value) {
      const json::Object *object = value.getAsObject();
      if (object)
        inner.read(*object);
      return object ? true : shorthand(value);
    });
  }
  /// An object, or a text that stands for its "kind".
  void named(StringRef key, ObjectReader &inner, std::string &kind) {
    object(key, inner, "a name or an object", [&kind](const json::Value &value) {
      if (auto text = value.getAsString())
        kind = text->str();
      return value.getAsString().has_value();
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
  const std::string where;
  Diagnostics &diags;
  std::vector<Key> keys;
};

} // namespace

/// Reads the groups of an optimizer into the form of the pass: rate:decay:name.
static bool readGroups(const json::Value &value, const std::string &where,
                       llvm::SmallVectorImpl<std::string> &groups, Diagnostics &diagnostics) {
  const json::Array *list = value.getAsArray();
  for (const json::Value &item : list ? *list : json::Array()) {
    const json::Object *object = item.getAsObject();
    if (!object)
      return false;
    std::vector<std::string> names;
    double rate = 1, decay = -1;
    ObjectReader reader("a group of " + where, diagnostics);
    reader.texts("parameters", names);
    reader.number("rate", rate, 0);
    reader.number("weight_decay", decay, 0);
    reader.read(*object);
    // Sixteen digits give every double back as it was.
    const std::string decayText = decay < 0 ? "" : llvm::formatv("{0:e16}", decay).str();
    for (const std::string &name : names)
      groups.push_back(llvm::formatv("{0:e16}:{1}:{2}", rate, decayText, name));
  }
  return list != nullptr;
}

/// Sets the defaults of an optimizer that are not those of all.
static void setDefaults(const json::Object &root, train::TrainApplyOptimizerOptions &update) {
  const json::Value *optimizer = root.get("optimizer");
  if (!optimizer)
    return;
  const json::Object *object = optimizer->getAsObject();
  const auto kind = object ? object->getString("kind") : optimizer->getAsString();
  if (kind == "adamw" || kind == "lamb")
    update.weightDecay = 0.01;
  if (kind == "lamb")
    update.epsilon = 1e-6;
  if (kind == "lars")
    update.momentum = 0.9;
  if (kind == "adagrad")
    update.epsilon = 1e-10;
}

namespace {

/// The objects of a file of settings, and where their values go. `where` names the file.
struct SettingsReader {
  SettingsReader(const std::string &where, Diagnostics &diagnostics)
      : where(where), diagnostics(diagnostics), all(where, diagnostics),
        loss("'loss' of " + where, diagnostics), optimizer("'optimizer' of " + where, diagnostics),
        compress("'compress' of " + where, diagnostics),
        rate("'learning_rate' of " + where, diagnostics) {}

  /// Reads the object at the top; every error is in the diagnostics.
  void read(const json::Object &root) {
    addModel();
    addLoss();
    addOptimizer();
    addUpdate();
    addRate();
    addExchange();
    setDefaults(root, options.optimizer);
    all.read(root);
    check(root);
  }

  TrainingOptions options;
  int64_t shardElements = 0; ///< 0: tensors are not divided among the ranks

private:
  /// Adds what is trained, and how the step computes it.
  void addModel() {
    all.texts("parameters", options.import.parameters);
    all.texts("frozen", options.import.frozen);
    all.boolean("batch_statistics", options.import.batchStatistics);
    all.boolean("dropout", options.dropout.drop);
    all.boolean("recompute", options.recompute);
    all.named("loss", loss, options.loss.kind);
    all.named("optimizer", optimizer, options.optimizer.kind);
    all.integer("seed", options.seed, 0);
    all.add("offload", "\"optimizer\"", [this](const json::Value &value) {
      options.offloadOptimizer = value.getAsString() == "optimizer";
      return options.offloadOptimizer;
    });
  }

  void addLoss() {
    loss.text("kind", options.loss.kind);
    loss.text("output", options.loss.output);
    loss.text("target", options.loss.target);
    loss.text("reduction", options.loss.reduction);
    loss.integer("axis", options.loss.axis, std::numeric_limits<int32_t>::min());
    loss.number("smoothing", options.loss.smoothing, 0);
    loss.integer("ignore_index", options.loss.ignoreIndex, std::numeric_limits<int64_t>::min());
  }

  void addOptimizer() {
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
    optimizer.add("groups", "a list of objects", [&](const json::Value &value) {
      return readGroups(value, "'optimizer' of " + where, update.groups, diagnostics);
    });
  }

  /// Adds what an update does beside the formula of its optimizer.
  void addUpdate() {
    train::TrainApplyOptimizerOptions &update = options.optimizer;
    all.add("zero_rows", "an object of names and rows", [&update](const json::Value &value) {
      const json::Object *object = value.getAsObject();
      for (const auto &[name, row] : object ? *object : json::Object()) {
        if (!row.getAsInteger())
          return false;
        update.zeroRows.push_back(llvm::formatv("{0}:{1}", *row.getAsInteger(), StringRef(name)));
      }
      return object != nullptr;
    });
    all.number("clip_norm", update.clipNorm, 0);
    all.number("clip_value", update.clipValue, 0);
    all.integer("accumulate", update.accumulate, 1);
    all.add("loss_scale", "a number of at least 0 or \"dynamic\"",
            [&update](const json::Value &value) {
              const auto number = value.getAsNumber();
              if (number)
                update.lossScale = *number;
              else if (value.getAsString() == "dynamic") {
                update.lossScale = 65536;
                if (!update.growthInterval)
                  update.growthInterval = 2000;
              }
              return number ? *number >= 0 : update.lossScale > 0;
            });
    all.integer("growth_interval", update.growthInterval, 0);
  }

  void addRate() {
    train::TrainApplyOptimizerOptions &update = options.optimizer;
    all.object("learning_rate", rate, "a number above 0 or an object",
               [&update](const json::Value &value) {
                 update.rate = value.getAsNumber().value_or(0);
                 return update.rate > 0;
               });
    rate.text("kind", update.schedule);
    rate.number("peak", update.rate, 0);
    rate.integer("warmup", update.warmup, 0);
    rate.integer("steps", update.steps, 1);
    rate.number("final", update.final, 0);
    rate.integers("milestones", update.milestones, 1);
    rate.number("factor", update.factor, 0);
  }

  /// Adds the exchange of gradients among ranks.
  void addExchange() {
    all.integer("ranks", options.exchange.ranks, 1);
    all.integer("shard_elements", shardElements, 1);
    all.integer("bucket_bytes", options.exchange.bucketBytes, 1);
    all.named("compress", compress, options.exchange.compress);
    compress.text("kind", options.exchange.compress);
    compress.number("ratio", options.exchange.ratio, 0);
  }

  /// Reports settings that do not go together.
  void check(const json::Object &root) {
    if (const json::Object *object = root.getObject("learning_rate");
        object && !object->getNumber("peak"))
      diagnostics.error("E15006", "'learning_rate' of " + where +
                                      " has no 'peak', the highest learning rate: write "
                                      "{\"kind\": \"cosine\", \"peak\": 0.001, \"steps\": 1000}");
    if (options.seed > kMaxSeed)
      diagnostics.error("E15006", where + ": 'seed' must be an integer of at most " +
                                      std::to_string(kMaxSeed));
    if (shardElements && !options.exchange.compress.empty())
      diagnostics.error("E15006", where + ": 'compress' and 'shard_elements' do not go together: "
                                          "gradients of shares are summed as they are");
  }

  const std::string where;
  Diagnostics &diagnostics;
  ObjectReader all, loss, optimizer, compress, rate;
};

} // namespace

std::optional<TrainingOptions> parseTrainingOptions(StringRef text, StringRef name,
                                                    Diagnostics &diagnostics) {
  if (isJsonTooDeep(text)) {
    diagnostics.error("E15006", name + " " + depthReason(kMaxJsonDepth));
    return std::nullopt;
  }
  llvm::Expected<json::Value> parsed = json::parse(text);
  const json::Object *root = parsed ? parsed->getAsObject() : nullptr;
  if (!root) {
    diagnostics.error("E15006", name + " is not a JSON object" +
                                    (parsed ? "" : ": " + toString(parsed.takeError())));
    return std::nullopt;
  }
  const unsigned before = diagnostics.numErrors();
  SettingsReader reader(name.str(), diagnostics);
  reader.read(*root);
  if (diagnostics.numErrors() != before)
    return std::nullopt;
  TrainingOptions &options = reader.options;
  if (reader.shardElements) {
    options.shard.ranks = options.exchange.ranks;
    options.shard.minElements = reader.shardElements;
  }
  options.exchange.mean = options.loss.reduction == "mean";
  return std::move(options);
}

} // namespace atc::driver
