// See RunData.h.
#include "tools/cleave-run/RunData.h"

#include "runtime/artifact/Programs.h"
#include "runtime/executor/Executor.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace cleave::run {

Status RunData::open(const plan::Plan &plan, const Options &options,
                     const checkpoint::Checkpoint *checkpoint, int64_t first, int threads) {
  trains_ = plan.trains();
  slots_ = executor::slotsOf(plan);
  if (!options.dataCommand.empty())
    feed_ = std::make_unique<DataFeed>(plan, options);
  if (options.generates) {
    CLEAVE_TRY_ASSIGN(generation_, Generation::create(plan, options));
  }
  std::vector<data::InputDescription> inputs = executor::inputsOf(plan);
  if (!inputs.empty() && !options.data.empty()) {
    if (options.shuffles)
      shuffleSeed_ = options.shuffleSeed.value_or(options.seed);
    data::DataOptions data{.specs = options.data,
                           .shuffleSeed = shuffleSeed_,
                           .slots = slots_,
                           .mayHaveLabels = plan.trains(),
                           .lastBatch = options.lastBatch,
                           .noPadding = artifact::stepOf(plan, 0).no_padding(),
                           .images = trains_ ? options.images : options.images.withoutChance(),
                           .seed = options.seed,
                           .threads = threads};
    CLEAVE_TRY_ASSIGN(source_, data::DataSource::open(data, inputs));
    if (source_->samplesPerMicroBatch() > 0)
      epochs_ = source_->epochs();
  }
  if (options.epochs && !epochs_)
    return Status::userError(
        "--epochs counts passes over the data, but the plan reads no samples; use --steps N");
  if (!epochs_)
    return Status::ok();
  unit_ = std::max<int64_t>(1, source_->samples() / epochs_->samples());
  if (epochs_->samples() < epochs_->perStep() && trains_)
    warnings_.push_back(concat(
        "found ", source_->samples(), " samples, but a step takes ", samplesPerStep(),
        epochs_->lastBatch() == data::LastBatch::Pad ? ": the rest of every step is padding"
                                                     : ": every step takes samples several times",
        "; give more data, or compile with a smaller batch"));
  if (checkpoint) {
    const auto &extra = checkpoint->progress().extra;
    if (auto found = extra.find(kDataKey); found != extra.end())
      resume(found->second, first);
  }
  return Status::ok();
}

std::string RunData::order() const {
  return shuffleSeed_ ? concat("shuffled with seed ", *shuffleSeed_) : "as stored";
}

std::string RunData::stateAt(int64_t step) const {
  if (!epochs_)
    return "";
  data::DataPosition position = epochs_->positionAt(step);
  return nlohmann::json{{"epoch", position.epoch},
                        {"sample", position.sample},
                        {"samples", epochs_->samples()},
                        {"order", order()}}
      .dump();
}

// Moves to the place that a checkpoint names. One that cannot be read is left out: the place then
// follows from the number of the step.
void RunData::resume(const std::string &state, int64_t first) {
  nlohmann::json saved = nlohmann::json::parse(state, nullptr, /*allow_exceptions=*/false);
  auto number = [&](const char *key) {
    auto found = saved.is_object() ? saved.find(key) : saved.end();
    bool isNumber = saved.is_object() && found != saved.end() && found->is_number_integer();
    return isNumber ? found->get<int64_t>() : -1;
  };
  data::DataPosition position{number("epoch"), number("sample")};
  if (position.epoch < 0 || position.sample < 0)
    return;
  if (number("samples") != epochs_->samples()) {
    position = {position.epoch + (position.sample > 0 ? 1 : 0), 0};
    notes_.push_back(concat("the data have ", epochs_->samples(),
                            " samples, those before the checkpoint had ", number("samples"),
                            ": epoch ", position.epoch + 1, " begins with them"));
  } else if (std::string before = saved.value("order", order()); before != order()) {
    notes_.push_back(concat("the order of samples is ", order(), " from now on, it was ", before,
                            " before: some samples of this epoch may come twice or not at all"));
  }
  epochs_->begin(first, position);
}

double RunData::stepsPerEpoch() const {
  if (!epochs_)
    return 0;
  return epochs_->lastBatch() == data::LastBatch::Wrap
             ? double(epochs_->samples()) / double(epochs_->perStep())
             : double(epochs_->stepsPerEpoch());
}

int64_t RunData::endOf(const Options &options, int64_t origin) const {
  if (options.epochs)
    return epochs_->endOf(*options.epochs);
  return options.steps.value_or(origin + (epochs_ ? epochs_->stepsPerEpoch() : 1));
}

int64_t RunData::samplesIn(int64_t first, int64_t steps) const {
  if (!epochs_ || epochs_->lastBatch() != data::LastBatch::Pad)
    return samplesPerStep() * steps;
  data::DataPosition begin = epochs_->positionAt(first), end = epochs_->positionAt(first + steps);
  return ((end.epoch - begin.epoch) * epochs_->samples() + end.sample - begin.sample) * unit_;
}

std::pair<std::string, int64_t> RunData::amount() const {
  int64_t tokens = source() ? source()->tokensPerSample() : 0;
  return tokens > 0 ? std::pair<std::string, int64_t>{"tokens", tokens * samplesPerStep()}
                    : std::pair<std::string, int64_t>{"samples", samplesPerStep()};
}

std::string RunData::summary() const {
  if (!epochs_)
    return "";
  int64_t samples = epochs_->samples(), perStep = epochs_->perStep(), rest = samples % perStep;
  std::string text = concat("data: ", source_->description());
  if (shuffleSeed_)
    text += ", " + order();
  bool wraps = epochs_->lastBatch() == data::LastBatch::Wrap;
  char steps[64];
  std::snprintf(steps, sizeof steps, "%.4g",
                wraps ? double(samples) / double(perStep) : double(epochs_->stepsPerEpoch()));
  text += concat("; ", steps, std::string(steps) == "1" ? " step of " : " steps of ",
                 samplesPerStep(), " an epoch");
  if (rest == 0 || !trains_)
    return text;
  const char *option = data::name(epochs_->lastBatch());
  if (wraps)
    return text + concat("; a step at its end goes on with the next (--last-batch ", option, ")");
  if (epochs_->lastBatch() == data::LastBatch::Drop)
    return text +
           concat("; its last ", rest * unit_, " samples are left out (--last-batch ", option, ")");
  return text + concat("; its last step has ", rest * unit_, " samples and padding (--last-batch ",
                       option, ")");
}

} // namespace cleave::run
