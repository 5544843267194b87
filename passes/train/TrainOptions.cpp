// Parses losses and optimizers.
#include "passes/train/TrainOptions.h"

#include <cmath>
#include <cstdlib>
#include <functional>
#include <utility>

namespace cleave::train {

// The parts of `text` between separators; one empty part for an empty text.
static std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + 1)
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

// `a, b or c`
static std::string oneOf(const std::vector<std::string> &names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
  return text;
}

Result<LossOption> parseLoss(const std::string &text) {
  size_t colon = text.find(':');
  std::string kind = text.substr(0, colon);
  LossOption loss;
  if (kind == "softmax-cross-entropy")
    loss.kind = LossOption::Kind::SoftmaxCrossEntropy;
  else if (kind == "mse")
    loss.kind = LossOption::Kind::Mse;
  else if (kind == "output")
    loss.kind = LossOption::Kind::Output;
  else
    return Status::userError("unknown loss `", kind,
                             "`: expected softmax-cross-entropy, mse or output");
  std::vector<std::string> names;
  if (colon != std::string::npos)
    names = split(text.substr(colon + 1), ',');
  bool isOutput = loss.kind == LossOption::Kind::Output;
  if (names.empty() || names[0].empty() || names.size() > (isOutput ? 1 : 2) ||
      names.back().empty())
    return Status::userError("found the loss `", text, "`, expected `", kind,
                             isOutput ? ":OUTPUT`"
                                      : concat(":OUTPUT` or `", kind, ":OUTPUT,LABEL`"));
  loss.output = names[0];
  if (!isOutput)
    loss.label = names.size() == 2 ? names[1] : names[0] + ".label";
  return loss;
}

namespace {

// One hyperparameter: its name and the field that it sets, a number or a flag.
struct Field {
  std::string name;
  double *number = nullptr;
  bool *flag = nullptr;
  double below = INFINITY; // values are at least 0 and less than this
};

std::vector<Field> fieldsOf(OptimizerOption &optimizer) {
  std::vector<Field> fields = {{"lr", &optimizer.lr}};
  if (optimizer.kind == OptimizerOption::Kind::Sgd) {
    fields.push_back({"momentum", &optimizer.momentum});
    fields.push_back({"dampening", &optimizer.dampening});
    fields.push_back({"nesterov", nullptr, &optimizer.nesterov});
  } else {
    fields.push_back({"beta1", &optimizer.beta1, nullptr, 1});
    fields.push_back({"beta2", &optimizer.beta2, nullptr, 1});
    fields.push_back({"eps", &optimizer.eps});
  }
  fields.push_back({"weight-decay", &optimizer.weightDecay});
  return fields;
}

std::optional<double> readNumber(const std::string &text) {
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0')
    return std::nullopt;
  return value;
}

Status setFlag(const Field &field, const std::string &value, const std::string &where) {
  bool isTrue = value.empty() || value == "true" || value == "1";
  if (!isTrue && value != "false" && value != "0")
    return Status::userError(where, " must be true or false, found `", value, "`");
  *field.flag = isTrue;
  return Status::ok();
}

// One `KEY=VALUE`.
Status setField(OptimizerOption &optimizer, const std::string &name, const std::string &setting) {
  size_t equals = setting.find('=');
  std::string key = setting.substr(0, equals);
  std::string value = equals == std::string::npos ? "" : setting.substr(equals + 1);
  std::vector<std::string> known;
  for (const Field &field : fieldsOf(optimizer)) {
    known.push_back(field.name);
    if (field.name != key)
      continue;
    std::string where = "`" + key + "` of the optimizer " + name;
    if (field.flag)
      return setFlag(field, value, where);
    std::optional<double> number = readNumber(value);
    if (!number || !(*number >= 0 && *number < field.below))
      return Status::userError(where, " must be a number of at least 0",
                               field.below == 1 ? " and below 1" : "", ", found `", value, "`");
    *field.number = *number;
    return Status::ok();
  }
  return Status::userError("the optimizer ", name, " has no `", key, "`: expected ", oneOf(known));
}

} // namespace

std::string optimizerText(const OptimizerOption &optimizer) {
  using Kind = OptimizerOption::Kind;
  std::string text = optimizer.kind == Kind::Sgd    ? "sgd"
                     : optimizer.kind == Kind::Adam ? "adam"
                                                    : "adamw";
  OptimizerOption copy = optimizer; // the fields point into it
  char separator = ':';
  for (const Field &field : fieldsOf(copy)) {
    text += concat(separator, field.name, '=');
    text += field.flag ? (*field.flag ? "true" : "false") : concat(*field.number);
    separator = ',';
  }
  return text;
}

Result<OptimizerOption> parseOptimizer(const std::string &text) {
  size_t colon = text.find(':');
  std::string name = text.substr(0, colon);
  OptimizerOption optimizer;
  using Kind = OptimizerOption::Kind;
  if (name == "sgd" || name == "momentum")
    optimizer.kind = Kind::Sgd;
  else if (name == "adam")
    optimizer.kind = Kind::Adam;
  else if (name == "adamw")
    optimizer.kind = Kind::AdamW;
  else
    return Status::userError("unknown optimizer `", name,
                             "`: expected sgd, momentum, adam or adamw");
  if (name == "momentum")
    optimizer.momentum = 0.9;
  if (name == "adamw")
    optimizer.weightDecay = 0.01;
  if (colon != std::string::npos)
    for (const std::string &setting : split(text.substr(colon + 1), ','))
      CLEAVE_TRY(setField(optimizer, name, setting));
  if (optimizer.nesterov && (optimizer.momentum == 0 || optimizer.dampening != 0))
    return Status::userError("nesterov needs a momentum and no dampening");
  return optimizer;
}

} // namespace cleave::train
