// Parses losses.
#include "passes/train/TrainOptions.h"

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

} // namespace cleave::train
