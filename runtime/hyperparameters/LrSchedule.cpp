// See LrSchedule.h. Each kind is a row of the table: its options, and the rate behind the warm-up.
#include "runtime/hyperparameters/LrSchedule.h"

#include "runtime/base/Nearest.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <numbers>
#include <vector>

namespace cleave::hyperparameters {
namespace {

// What the rate of a step behind the warm-up is computed from.
struct Point {
  double step, steps;                         // from the end of the warm-up on
  double base;                                // the rate at the end of the warm-up
  double low;                                 // the lowest rate
  std::function<double(const char *)> option; // an option's value; one in steps as their count

  double progress() const { return std::clamp(step / std::max(1.0, steps), 0.0, 1.0); }
  // The rate that is `share` of the way up from the lowest one.
  double between(double share) const { return low + (base - low) * std::max(0.0, share); }
};

enum class Type {
  Number,
  Steps, // a count, or a share of all steps, or epochs: `100`, `5%`, `3epochs`
  Flag,
  Word,
};

struct Option {
  const char *name;
  Type type = Type::Number;
  double value = 0;
  bool isShare = false;
  std::vector<std::string> words = {}; // of Type::Word
};

struct Kind {
  const char *name;
  std::vector<Option> options;
  double (*rate)(const Point &point);
};

// A curve from 1 to 0.
double falling(double progress, double word, double cycles = 0.5) {
  if (word == 0)
    return 1 - progress;
  if (word == 1)
    return 0.5 * (1 + std::cos(2 * std::numbers::pi * cycles * progress));
  return 1 - std::sqrt(progress);
}

double stableThenDecay(const Point &p) {
  double decay = p.option("decay");
  double progress = (p.step - (p.steps - decay)) / std::max(1.0, decay);
  return progress <= 0 ? p.base : p.between(falling(std::min(progress, 1.0), p.option("shape")));
}

// PyTorch's OneCycleLR, whose phases end one step before the sum of their lengths. The base is the
// largest rate.
double oneCycle(const Point &p) {
  double first = p.base / p.option("div-factor"), last = first / p.option("final-div-factor");
  double share = p.option("pct-start");
  struct Phase {
    double end, from, to;
  };
  std::vector<Phase> phases = {{share * p.steps - 1, first, p.base}};
  if (p.option("three-phase") != 0) {
    phases.push_back({2 * share * p.steps - 2, p.base, first});
    phases.push_back({p.steps - 1, first, last});
  } else {
    phases.push_back({p.steps - 1, p.base, last});
  }
  double begin = 0;
  for (const Phase &phase : phases) {
    if (p.step <= phase.end) {
      double progress = (p.step - begin) / (phase.end - begin);
      return phase.to + (phase.from - phase.to) * falling(progress, p.option("anneal"));
    }
    begin = phase.end;
  }
  return last;
}

const std::vector<Kind> &kinds() {
  // How long the schedule takes, the options of a warm-up, and those of the lowest rate.
  const Option steps{"steps", Type::Steps, 1, true};
  const Option warmup{"warmup", Type::Steps}, start{"warmup-start"};
  const Option low{"min"}, lowShare{"min-ratio"};
  static const std::vector<Kind> table = {
      {"constant", {warmup, start}, [](const Point &p) { return p.base; }},
      {"linear",
       {warmup, start, steps, low, lowShare},
       [](const Point &p) { return p.between(1 - p.progress()); }},
      {"cosine",
       {warmup, start, steps, low, lowShare, {"cycles", Type::Number, 0.5}},
       [](const Point &p) { return p.between(falling(p.progress(), 1, p.option("cycles"))); }},
      {"polynomial",
       {warmup, start, steps, low, lowShare, {"power", Type::Number, 1}},
       [](const Point &p) { return p.between(std::pow(1 - p.progress(), p.option("power"))); }},
      {"step",
       {warmup, start, {"every", Type::Steps}, {"gamma", Type::Number, 0.1}},
       [](const Point &p) {
         double times = std::floor(p.step / std::max(1.0, p.option("every")));
         return p.base * std::pow(p.option("gamma"), times);
       }},
      {"one-cycle",
       {steps,
        {"pct-start", Type::Number, 0.3},
        {"anneal", Type::Word, 1, false, {"linear", "cosine"}},
        {"div-factor", Type::Number, 25},
        {"final-div-factor", Type::Number, 1e4},
        {"three-phase", Type::Flag}},
       oneCycle},
      {"wsd",
       {warmup,
        start,
        steps,
        low,
        lowShare,
        {"decay", Type::Steps, 0.1, true},
        {"shape", Type::Word, 0, false, {"linear", "cosine", "1-sqrt"}}},
       stableThenDecay},
      {"file", {{"factors", Type::Flag}}, nullptr},
  };
  return table;
}

const Kind *findKind(const std::string &name) {
  for (const Kind &kind : kinds())
    if (kind.name == name)
      return &kind;
  return nullptr;
}

// The unit behind a number of steps is `%`, `epoch` or `epochs`.
bool isShare(const std::string &unit) { return unit == "%"; }
bool isEpochs(const std::string &unit) { return unit == "epoch" || unit == "epochs"; }

// Removes the unit behind a number of steps and returns it; empty if there is none.
std::string takeUnit(const Option &option, std::string &text) {
  size_t end = text.find_last_of("0123456789.") + 1; // 0 without digits
  std::string unit = option.type == Type::Steps ? text.substr(end) : "";
  if (!isShare(unit) && !isEpochs(unit))
    return "";
  text.resize(end);
  return unit;
}

// `hasUnit`: of a number of steps, which may then be a fraction.
std::optional<double> readValue(const Option &option, const std::string &text, bool hasUnit) {
  if (option.type == Type::Word) {
    auto at = std::find(option.words.begin(), option.words.end(), text);
    return at == option.words.end() ? std::nullopt
                                    : std::optional(double(at - option.words.begin()));
  }
  if (option.type == Type::Flag && (text.empty() || text == "true" || text == "false"))
    return text == "false" ? 0 : 1;
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !std::isfinite(value) || value < 0 ||
      (option.type == Type::Steps && !hasUnit && value != std::floor(value)) ||
      (option.type == Type::Flag && value != 0 && value != 1))
    return std::nullopt;
  return value;
}

std::string expected(const Option &option) {
  switch (option.type) {
  case Type::Number:
    return "a number of at least 0";
  case Type::Steps:
    return "a number of steps, or of epochs such as 3epochs, or a share of all steps such as 5%";
  case Type::Flag:
    return "true or false";
  case Type::Word:
    return oneOf(option.words);
  }
  return {};
}

// Of a name that is not a file either.
Status unknownKind(const std::string &name) {
  std::vector<std::string> names;
  for (const Kind &kind : kinds())
    if (kind.rate)
      names.push_back(kind.name);
  return Status::userError("unknown schedule `", name, "`",
                           suggestion(name, names, "a file of learning rates"));
}

} // namespace

Status LrSchedule::set(const std::string &setting) {
  size_t equals = setting.find('=');
  std::string key = setting.substr(0, equals);
  std::string text = equals == std::string::npos ? "" : setting.substr(equals + 1);
  const std::vector<Option> &options = findKind(kind_)->options;
  std::vector<std::string> names;
  for (const Option &option : options) {
    names.push_back(option.name);
    if (option.name != key)
      continue;
    std::string number = text, unit = takeUnit(option, number);
    std::optional<double> value = readValue(option, number, !unit.empty());
    if (!value || (isShare(unit) && *value > 100))
      return Status::userError("`", key, "` of the schedule ", kind_, " must be ", expected(option),
                               ", found `", text, "`");
    if (isShare(unit))
      settings_[key] = {*value / 100, Unit::Share};
    else
      settings_[key] = {*value, isEpochs(unit) ? Unit::Epochs : Unit::None};
    return Status::ok();
  }
  return Status::userError("the schedule ", kind_, " has no `", key, "`", suggestion(key, names));
}

Result<LrSchedule> LrSchedule::parse(const std::string &text) {
  size_t colon = text.find(':');
  std::string name = text.substr(0, colon);
  std::optional<RateFile> file;
  const Kind *kind = findKind(name);
  if (!kind || name == "file") {
    colon = text.ends_with(":factors") ? text.rfind(':') : std::string::npos;
    const std::string path = text.substr(0, colon);
    if (std::error_code ignored; !std::filesystem::exists(path, ignored))
      return unknownKind(name);
    auto read = RateFile::read(path);
    if (!read)
      return read.status();
    kind = findKind("file");
    file = std::move(*read);
  }
  LrSchedule schedule(kind->name, {}, std::move(file));
  for (const Option &option : kind->options)
    schedule.settings_[option.name] = {option.value, option.isShare ? Unit::Share : Unit::None};
  while (colon != std::string::npos) {
    size_t comma = text.find(',', colon + 1);
    CLEAVE_TRY(schedule.set(text.substr(colon + 1, comma - colon - 1)));
    colon = comma;
  }
  if (name == "step" && schedule.settings_["every"].value == 0)
    return Status::userError("the schedule step needs `every`, for example step:every=30");
  return schedule;
}

bool LrSchedule::countsEpochs() const {
  return std::any_of(settings_.begin(), settings_.end(),
                     [](const auto &setting) { return setting.second.unit == Unit::Epochs; });
}

double LrSchedule::count(const std::string &option, const RunLength &run) const {
  auto found = settings_.find(option);
  if (found == settings_.end())
    return option == "steps" ? double(run.steps) : 0;
  auto [value, unit] = found->second;
  if (unit == Unit::None)
    return value;
  const double rounding = 1e-9; // 7% of 100 is 7
  const double whole = unit == Unit::Epochs ? run.stepsPerEpoch
                       : option == "steps"  ? double(run.steps)
                                            : count("steps", run);
  return std::ceil(value * whole - rounding);
}

double LrSchedule::at(int64_t step, const RunLength &run, double base, double reference) const {
  if (file_) {
    double rate = file_->at(step);
    if (settings_.at("factors").value != 0)
      return rate * base;
    return base == reference || reference == 0 ? rate : rate * (base / reference);
  }
  double warmup = count("warmup", run), t = double(step);
  if (t < warmup) {
    double from = settings_.at("warmup-start").value;
    return base * (from + (1 - from) * t / warmup);
  }
  const Kind &kind = *findKind(kind_);
  auto option = [&](const char *name) {
    auto typed = std::find_if(kind.options.begin(), kind.options.end(),
                              [&](const Option &one) { return std::string(one.name) == name; });
    if (typed == kind.options.end())
      return 0.0;
    return typed->type == Type::Steps ? count(name, run) : settings_.at(name).value;
  };
  double low = option("min") != 0 ? option("min") : option("min-ratio") * base;
  return kind.rate({t - warmup, count("steps", run) - warmup, base, low, option});
}

std::string LrSchedule::text(const RunLength &run) const {
  std::string text = file_ ? concat("file ", file_->digest()) : kind_;
  char separator = ':';
  for (const Option &option : findKind(kind_)->options) {
    double value = settings_.at(option.name).value;
    text += concat(separator, option.name, '=');
    text += option.type == Type::Word    ? option.words[size_t(value)]
            : option.type == Type::Steps ? concat(count(option.name, run))
                                         : concat(value);
    separator = ',';
  }
  return text;
}

} // namespace cleave::hyperparameters
