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

class LrSchedule {
public:
  // The same rate in all steps.
  LrSchedule() : LrSchedule(*parse("constant")) {}

  // Parses `KIND[:OPTION=VALUE,…]`, or `FILE[:factors]`, and reads the file. User errors say what
  // was expected.
  static Result<LrSchedule> parse(const std::string &text);

  // The learning rate in `step`, counted from 0, of a run of `steps` steps in all. `base` is the
  // rate of the optimizer, or that of one of its groups; `reference` is that of the optimizer,
  // which the rates of a file replace.
  double at(int64_t step, int64_t steps, double base, double reference) const;

  // With all options, `cosine:warmup=10,…,steps=100`. Equal texts are equal functions.
  std::string text(int64_t steps) const;

private:
  // The value of an option; of a word its index. A share is one of all steps.
  struct Setting {
    double value;
    bool isShare;
  };
  LrSchedule(std::string kind, std::map<std::string, Setting> settings,
             std::optional<RateFile> file = std::nullopt)
      : kind_(std::move(kind)), settings_(std::move(settings)), file_(std::move(file)) {}

  Status set(const std::string &setting);
  // An option that counts steps, for a run of `steps`.
  double count(const std::string &option, int64_t steps) const;

  std::string kind_;                        // `file` with a file
  std::map<std::string, Setting> settings_; // every option of the kind
  std::optional<RateFile> file_;
};

} // namespace cleave::hyperparameters
