#include "tools/cleave-run/RunInputs.h"

#include "runtime/checkpoint/Resume.h"
#include "tools/cleave-run/Resume.h"
#include "tools/cleave-run/RunFacts.h"

#include <algorithm>
#include <cstdlib>

namespace cleave::run {

// The first step of the run before any restart: the first step of this process if it is the first
// attempt, else the one in the checkpoint that an earlier attempt has saved.
int64_t RunInputs::originOfRun(const Options &options) const {
  if (options.restart == 0 || !checkpoint || options.save.empty() ||
      !checkpoint::isIn(*checkpoint, options.save))
    return first;
  const auto &extra = checkpoint->progress().extra;
  auto found = extra.find(kOriginKey);
  return found == extra.end() ? first : std::strtoll(found->second.c_str(), nullptr, 10);
}

Status RunInputs::open(const plan::Plan &plan, const Options &options, const Session &session) {
  const int threads = session.threads();
  if (!options.resume.empty()) {
    CLEAVE_TRY_ASSIGN(checkpoint, checkpoint::Checkpoint::open(options.resume));
    first = checkpoint->progress().step;
  }
  if (!options.weights.empty()) {
    WeightRemarks remarks;
    CLEAVE_TRY_ASSIGN(weights, weightsFor(plan, options, remarks).withContext("--weights"));
    if (!remarks.note.empty())
      session.note({remarks.note});
    session.warn(remarks.warning);
  }
  CLEAVE_TRY(data.open(plan, options, checkpoint.get(), first, threads));
  session.note(data.notes());
  CLEAVE_TRY(evaluator.open(plan, options, data.source(), threads).withContext("--eval"));
  session.note(evaluator.notes());
  origin = originOfRun(options);
  const int64_t end = data.endOf(options, origin);
  count = std::max<int64_t>(0, end - first);
  CLEAVE_TRY_ASSIGN(rates, LearningRates::read(plan, options));
  CLEAVE_TRY(rates.setLength({.steps = end, .stepsPerEpoch = data.stepsPerEpoch()}));
  if (checkpoint) {
    CLEAVE_TRY_ASSIGN(auto notes, checkResume(plan, *checkpoint, rates, options.restartOptimizer));
    session.note(notes);
  }
  return Status::ok();
}

Intent RunInputs::intentAfter(const Status &opened, const plan::Plan &plan,
                              const Options &options) const {
  if (!opened)
    return {opened, {}};
  auto facts = factsOf(plan, options, first, count, values());
  if (!facts)
    return {facts.status(), {}};
  facts->push_back({"--lr-schedule", rates.schedule()});
  addContents(*facts, "data", data.source());
  addContents(*facts, "evaluation", evaluator.data());
  return {Status::ok(), *facts};
}

const checkpoint::TensorStore *RunInputs::values() const {
  return checkpoint ? checkpoint.get() : weights.tensors.get();
}

} // namespace cleave::run
