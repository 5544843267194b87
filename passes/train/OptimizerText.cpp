// The text forms of optimizers and of groups of parameters.
#include "passes/train/OptionText.h"
#include "passes/train/TrainOptions.h"
#include "runtime/base/Nearest.h"

#include <cmath>

namespace cleave::train {
namespace {

std::optional<double> readFlag(const std::string &text) {
  if (text.empty() || text == "true" || text == "1")
    return 1;
  if (text == "false" || text == "0")
    return 0;
  return std::nullopt;
}

// ` of at least 0 and below 1`
std::string rangeText(const Hyperparameter &hyperparameter) {
  std::string text = concat(" of at least ", hyperparameter.least);
  return std::isinf(hyperparameter.below) ? text
                                          : concat(text, " and below ", hyperparameter.below);
}

// One `KEY=VALUE`.
Status setValue(Hyperparameters &values, const Optimizer &optimizer, const std::string &setting) {
  size_t equals = setting.find('=');
  std::string key = setting.substr(0, equals);
  std::string text = equals == std::string::npos ? "" : setting.substr(equals + 1);
  std::vector<std::string> known;
  for (const Hyperparameter &one : optimizer.hyperparameters) {
    known.push_back(one.name);
    if (one.name != key)
      continue;
    std::string where = concat("`", key, "` of the optimizer ", optimizer.name);
    std::optional<double> value = one.isFlag ? readFlag(text) : readNumber(text);
    if (!value && one.isFlag)
      return Status::userError(where, " must be true or false, found `", text, "`");
    if (!value || !(*value >= one.least && *value < one.below))
      return Status::userError(where, " must be a number", rangeText(one), ", found `", text, "`");
    values[key] = *value;
    return Status::ok();
  }
  return Status::userError("the optimizer ", optimizer.name, " has no `", key, "`",
                           suggestion(key, known));
}

// `KEY=VALUE,…`
Status setValues(Hyperparameters &values, const Optimizer &optimizer, const std::string &settings) {
  size_t begin = 0;
  while (true) {
    size_t comma = settings.find(',', begin);
    CLEAVE_TRY(setValue(values, optimizer, settings.substr(begin, comma - begin)));
    if (comma == std::string::npos)
      return Status::ok();
    begin = comma + 1;
  }
}

Status checkTogether(const Hyperparameters &values) {
  auto nesterov = values.find("nesterov");
  if (nesterov != values.end() && nesterov->second != 0 &&
      (values.at("momentum") == 0 || values.at("dampening") != 0))
    return Status::userError("nesterov needs a momentum and no dampening");
  return Status::ok();
}

// `KEY=VALUE,…` of those in `values`, in the order of the table.
std::string valuesText(const Optimizer &optimizer, const Hyperparameters &values) {
  std::string text;
  for (const Hyperparameter &one : optimizer.hyperparameters)
    if (auto value = values.find(one.name); value != values.end())
      text += concat(text.empty() ? "" : ",", one.name, '=',
                     !one.isFlag     ? concat(value->second)
                     : value->second ? "true"
                                     : "false");
  return text;
}

} // namespace

Result<OptimizerOption> parseOptimizer(const std::string &text) {
  size_t colon = text.find(':');
  std::string name = text.substr(0, colon);
  const bool isMomentum = name == "momentum";
  const Optimizer *optimizer = findOptimizer(isMomentum ? "sgd" : name);
  if (!optimizer) {
    std::vector<std::string> known = {"momentum"};
    for (const Optimizer &one : optimizers())
      known.push_back(one.name);
    return Status::userError("unknown optimizer `", name, "`", suggestion(name, known));
  }
  OptimizerOption option{optimizer->name, {}};
  for (const Hyperparameter &one : optimizer->hyperparameters)
    option.values[one.name] = one.value;
  if (isMomentum)
    option.values["momentum"] = 0.9;
  if (colon != std::string::npos)
    CLEAVE_TRY(setValues(option.values, *optimizer, text.substr(colon + 1)));
  CLEAVE_TRY(checkTogether(option.values));
  return option;
}

Result<GroupOption> parseGroup(const std::string &text, const OptimizerOption &optimizer) {
  const bool isNoDecay = text == kNoDecay || text.starts_with(concat(kNoDecay, ':'));
  size_t colon = text.rfind(':');
  if (!isNoDecay && (colon == std::string::npos || colon == 0))
    return Status::userError("found the group `", text,
                             "`, expected `GLOB:OPTION=VALUE,…` or `no-decay`");
  GroupOption group{text.substr(0, colon), {}};
  const Optimizer &kind = *findOptimizer(optimizer.name);
  if (isNoDecay)
    CLEAVE_TRY(setValue(group.values, kind, "weight-decay=0"));
  if (colon != std::string::npos)
    CLEAVE_TRY(setValues(group.values, kind, text.substr(colon + 1)));
  CLEAVE_TRY(checkTogether(hyperparametersOf(optimizer, group)));
  return group;
}

Hyperparameters hyperparametersOf(const OptimizerOption &optimizer, const GroupOption &group) {
  Hyperparameters values = group.values;
  values.insert(optimizer.values.begin(), optimizer.values.end()); // keeps those of the group
  return values;
}

std::string optimizerText(const TrainOptions &options) {
  const Optimizer &optimizer = *findOptimizer(options.optimizer.name);
  std::string text =
      concat(options.optimizer.name, ':', valuesText(optimizer, options.optimizer.values));
  for (const GroupOption &group : options.groups)
    text += concat(";group ", group.pattern, ':', valuesText(optimizer, group.values));
  if (options.ema)
    text += concat(";ema:decay=", *options.ema);
  return text;
}

} // namespace cleave::train
