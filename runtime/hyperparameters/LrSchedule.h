// Schedules of the learning rate: functions of the step, as the schedulers of PyTorch and of
// transformers compute them (docs/howto/schedules-and-optimizers.md).
#pragma once

#include "runtime/base/Status.h"
#include "runtime/hyperparameters/RateFile.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace cleave::hyperparameters {

// How long a run is.
struct RunLength {
  int64_t steps = 0;        // all of them, those before a resume included
  double stepsPerEpoch = 0; // in the mean; 0: there are no epochs
};

class LrSchedule {
public:
  // The same rate in all steps.
  LrSchedule() : LrSchedule(*parse("constant")) {}

  // Parses `KIND[:OPTION=VALUE,…]`, or `FILE[:factors]`, and reads the file. User errors say what
  // was expected.
  static Result<LrSchedule> parse(const std::string &text);

  // Whether an option counts epochs, so that RunLength.stepsPerEpoch must be known.
  bool countsEpochs() const;

  // The learning rate in `step`, counted from 0. `base` is the rate of the optimizer, or that of
  // one of its groups; `reference` is that of the optimizer, which the rates of a file replace.
  double at(int64_t step, const RunLength &run, double base, double reference) const;

  // With all options, in steps: `cosine:warmup=10,…,steps=100`. Equal texts are equal functions.
  std::string text(const RunLength &run) const;

private:
  enum class Unit { None, Share, Epochs }; // Share: of the schedule's steps; of these: of the run's
  // The value of an option; of a word its index.
  struct Setting {
    double value;
    Unit unit = Unit::None;
  };
  LrSchedule(std::string kind, std::map<std::string, Setting> settings,
             std::optional<RateFile> file = std::nullopt)
      : kind_(std::move(kind)), settings_(std::move(settings)), file_(std::move(file)) {}

  Status set(const std::string &setting);
  // The steps of an option that counts them.
  double count(const std::string &option, const RunLength &run) const;

  std::string kind_;                        // `file` with a file
  std::map<std::string, Setting> settings_; // every option of the kind
  std::optional<RateFile> file_;
};

} // namespace cleave::hyperparameters
