// See LossOption.h.
#include "passes/train/LossOption.h"

#include "passes/train/OptionText.h"
#include "runtime/base/MappedFile.h"
#include "runtime/base/Nearest.h"

#include <algorithm>
#include <cmath>

namespace cleave::train {
namespace {

using Kind = LossOption::Kind;

// A kind of loss: its name and the names of its options.
struct KindFacts {
  Kind kind;
  const char *name;
  std::vector<std::string> options;
};

const std::vector<KindFacts> &kinds() {
  static const std::vector<KindFacts> all = {
      {Kind::SoftmaxCrossEntropy,
       "softmax-cross-entropy",
       {"label-smoothing", "class-weights", "class-dim", "ignore-index", "reduction", "factor"}},
      {Kind::Nll, "nll", {"class-weights", "class-dim", "ignore-index", "reduction", "factor"}},
      {Kind::Bce, "bce", {"pos-weight", "reduction", "factor"}},
      {Kind::Mse, "mse", {"reduction", "factor"}},
      {Kind::L1, "l1", {"reduction", "factor"}},
      {Kind::SmoothL1, "smooth-l1", {"beta", "reduction", "factor"}},
      {Kind::Huber, "huber", {"delta", "reduction", "factor"}},
      {Kind::Output, "output", {"factor"}},
  };
  return all;
}

const KindFacts &factsOf(Kind kind) {
  return *std::find_if(kinds().begin(), kinds().end(),
                       [&](const KindFacts &facts) { return facts.kind == kind; });
}

// The numbers in a text, separated by blanks or commas; none if it holds anything else.
std::optional<std::vector<double>> numbersIn(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ',' || std::isspace(c); }, ' ');
  std::vector<double> numbers;
  for (const std::string &word : split(text, ' ')) {
    std::optional<double> number = word.empty() ? 0 : readNumber(word);
    if (!number || !std::isfinite(*number))
      return std::nullopt;
    if (!word.empty())
      numbers.push_back(*number);
  }
  return numbers;
}

// Weights, as `1:2:0.5` or the path of a text file.
Result<std::vector<double>> readWeights(const std::string &value, const std::string &where) {
  std::string list = value;
  std::replace(list.begin(), list.end(), ':', ' ');
  std::optional<std::vector<double>> numbers = numbersIn(list);
  if (!numbers) {
    auto file = MappedFile::open(value);
    if (!file)
      return Status::userError(where,
                               " must be numbers such as 1:2:0.5 or a text file of numbers, "
                               "found `",
                               value, "`: ", file.status().message());
    numbers = numbersIn(std::string((*file)->text()));
    if (!numbers)
      return Status::userError(where, ": the file ", value,
                               " holds something else than numbers, expected numbers separated by "
                               "blanks or commas");
  }
  bool isWeights = !numbers->empty() && std::all_of(numbers->begin(), numbers->end(),
                                                    [](double number) { return number >= 0; });
  if (!isWeights)
    return Status::userError(where, " must be one or more numbers of at least 0, found `", value,
                             "`");
  return *numbers;
}

// A number in [least, most], an integer if `isWhole`.
Result<double> readIn(const std::string &value, const std::string &where, double least, double most,
                      bool isWhole) {
  std::optional<double> number = readNumber(value);
  bool fits = number && *number >= least && *number <= most;
  if (fits && (!isWhole || *number == std::trunc(*number)))
    return *number;
  std::string range = std::isfinite(least) ? concat(" of at least ", least) : "";
  if (std::isfinite(most))
    range += concat(" and at most ", most);
  return Status::userError(where, " must be ", isWhole ? "an integer" : "a number", range,
                           ", found `", value, "`");
}

// One `KEY=VALUE`.
Status setOption(LossOption &loss, const std::string &key, const std::string &value) {
  const KindFacts &facts = factsOf(loss.kind);
  if (std::find(facts.options.begin(), facts.options.end(), key) == facts.options.end())
    return Status::userError("the loss ", facts.name, " has no option `", key, "`",
                             suggestion(key, facts.options));
  std::string where = concat("`", key, "` of the loss ", facts.name);
  constexpr double kAny = INFINITY;
  if (key == "reduction") {
    if (value != "mean" && value != "sum")
      return Status::userError(where, " must be mean or sum, found `", value, "`");
    loss.isSum = value == "sum";
  } else if (key == "factor") {
    CLEAVE_TRY_ASSIGN(loss.factor, readIn(value, where, -kAny, kAny, false));
  } else if (key == "label-smoothing") {
    CLEAVE_TRY_ASSIGN(loss.smoothing, readIn(value, where, 0, 1, false));
  } else if (key == "class-weights") {
    CLEAVE_TRY_ASSIGN(loss.classWeights, readWeights(value, where));
  } else if (key == "pos-weight") {
    CLEAVE_TRY_ASSIGN(loss.posWeights, readWeights(value, where));
  } else if (key == "class-dim") {
    CLEAVE_TRY_ASSIGN(double dim, readIn(value, where, -32, 31, true));
    loss.classDim = static_cast<int64_t>(dim);
  } else if (key == "ignore-index") {
    CLEAVE_TRY_ASSIGN(double label, readIn(value, where, -0x1p53, 0x1p53, true));
    loss.ignored = static_cast<int64_t>(label);
  } else { // delta, beta
    CLEAVE_TRY_ASSIGN(loss.bound, readIn(value, where, 0, kAny, false));
    if (loss.kind == Kind::Huber && loss.bound == 0)
      return Status::userError(where, " must be above 0, found `", value, "`");
  }
  return Status::ok();
}

} // namespace

std::string nameOf(Kind kind) { return factsOf(kind).name; }

Result<LossOption> parseLoss(const std::string &text) {
  size_t colon = text.find(':');
  std::string name = text.substr(0, colon);
  std::vector<std::string> known;
  LossOption loss;
  bool isKnown = false;
  for (const KindFacts &facts : kinds()) {
    known.emplace_back(facts.name);
    if (facts.name == name)
      loss.kind = facts.kind, isKnown = true;
  }
  if (!isKnown)
    return Status::userError("unknown loss `", name, "`", suggestion(name, known));
  std::vector<std::string> names, parts;
  if (colon != std::string::npos)
    parts = split(text.substr(colon + 1), ',');
  bool isValid = true;
  for (const std::string &part : parts) {
    size_t equals = part.find('=');
    isValid &= !part.empty();
    if (equals == std::string::npos)
      names.push_back(part);
    else
      CLEAVE_TRY(setOption(loss, part.substr(0, equals), part.substr(equals + 1)));
  }
  bool isOutput = loss.kind == Kind::Output;
  if (!isValid || names.size() > (isOutput ? 1 : 2))
    return Status::userError("found the loss `", text, "`, expected `", name, "`, `", name,
                             isOutput ? ":OUTPUT`"
                                      : concat(":OUTPUT` or `", name, ":OUTPUT,LABEL`"),
                             ", and options such as `,", factsOf(loss.kind).options[0], "=VALUE`");
  if (!names.empty())
    loss.output = names[0];
  if (!isOutput)
    loss.label = names.size() == 2 ? names[1] : names.empty() ? "label" : names[0] + ".label";
  return loss;
}

} // namespace cleave::train
