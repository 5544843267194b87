// See Resume.h.
#include "runtime/checkpoint/Resume.h"

#include "runtime/checkpoint/NameList.h"

#include <sstream>

namespace cleave::checkpoint {
namespace {

// An optimizer's text in parts.
struct Optimizer {
  std::string kind;
  // By section, empty for the optimizer itself, else `group head.*` or `ema`.
  std::map<std::string, std::map<std::string, std::string>> options;
};

Optimizer parse(const std::string &text) {
  Optimizer optimizer;
  std::istringstream sections(text);
  for (std::string section; std::getline(sections, section, ';');) {
    size_t colon = section.rfind(':');
    std::string name = section.substr(0, colon);
    if (optimizer.options.empty())
      std::swap(optimizer.kind, name);
    std::map<std::string, std::string> &values = optimizer.options[name];
    std::istringstream options(colon == std::string::npos ? "" : section.substr(colon + 1));
    for (std::string option; std::getline(options, option, ',');) {
      size_t equals = option.find('=');
      values[option.substr(0, equals)] =
          equals == std::string::npos ? "" : option.substr(equals + 1);
    }
  }
  return optimizer;
}

// `the optimizer's lr is 0.01 from now on, it was 0.001 in the checkpoint`
std::vector<std::string> changedOptions(const Optimizer &before, const Optimizer &now) {
  std::vector<std::string> changes;
  for (const auto &[section, options] : now.options) {
    auto old = before.options.find(section);
    if (old == before.options.end()) {
      changes.push_back(concat("the optimizer's ", section, " is new, the checkpoint has none"));
      continue;
    }
    std::string of = section.empty() ? "" : concat(" of ", section);
    for (const auto &[name, value] : options)
      if (auto was = old->second.find(name); was != old->second.end() && was->second != value)
        changes.push_back(concat("the optimizer's ", name, of, " is ", value,
                                 " from now on, it was ", was->second, " in the checkpoint"));
  }
  for (const auto &[section, options] : before.options)
    if (!now.options.contains(section))
      changes.push_back(concat("the optimizer's ", section, " of the checkpoint ends here"));
  return changes;
}

// Whether a tensor that the plan does not have was a state of the optimizer: PARAMETER/STATE.
bool isState(const std::string &name, const Training &training) {
  size_t slash = name.rfind('/');
  return slash != std::string::npos && training.tensors.contains(name.substr(0, slash));
}

constexpr const char *kWayOut =
    "; compile with the optimizer of the checkpoint, or give --restart-optimizer to begin the "
    "optimizer's states anew";

Status compareTensors(const Checkpoint &checkpoint, const Training &training,
                      bool restartsOptimizer) {
  std::vector<std::string> missing, missingStates, surplus, surplusStates;
  for (const auto &[name, isOptimizers] : training.tensors)
    if (!checkpoint.tensors().contains(name))
      (isOptimizers ? missingStates : missing).push_back(name);
  for (const auto &[name, info] : checkpoint.tensors())
    if (!training.tensors.contains(name))
      (isState(name, training) ? surplusStates : surplus).push_back(name);
  auto refused = [&](const char *what, const std::vector<std::string> &names, const char *wayOut) {
    return Status::userError("'", checkpoint.path(), "' ", what, " ", nameList(names), wayOut);
  };
  const char *sameModel = "; resume under a plan of the same model and training options";
  if (!missing.empty())
    return refused("lacks tensors that the plan trains:", missing, sameModel);
  if (!surplus.empty())
    return refused("has tensors that the plan does not train:", surplus, sameModel);
  if (!missingStates.empty() && !restartsOptimizer)
    return refused("lacks states of the plan's optimizer:", missingStates, kWayOut);
  if (!surplusStates.empty() && !restartsOptimizer)
    return refused("has states that the plan's optimizer does not have:", surplusStates, kWayOut);
  return Status::ok();
}

} // namespace

Result<std::vector<std::string>>
compareForResume(const Checkpoint &checkpoint, const Training &training, bool restartsOptimizer) {
  const auto &extra = checkpoint.progress().extra;
  auto saved = extra.find(kOptimizerKey);
  bool isKnown = saved != extra.end() && !saved->second.empty() && !training.optimizer.empty();
  Optimizer before = parse(isKnown ? saved->second : ""), now = parse(training.optimizer);
  if (isKnown && before.kind != now.kind && !restartsOptimizer)
    return Status::userError("'", checkpoint.path(), "' was trained with the optimizer ",
                             saved->second, ", the plan trains with ", training.optimizer, kWayOut);
  CLEAVE_TRY(compareTensors(checkpoint, training, restartsOptimizer));
  std::vector<std::string> notes;
  if (restartsOptimizer)
    notes.push_back("the states of the optimizer begin anew");
  else if (isKnown)
    notes = changedOptions(before, now);
  auto schedule = extra.find(kScheduleKey);
  if (schedule != extra.end() && schedule->second != training.schedule)
    notes.push_back(concat("the learning-rate schedule is ", training.schedule,
                           " from now on, it was ", schedule->second, " in the checkpoint"));
  return notes;
}

} // namespace cleave::checkpoint
