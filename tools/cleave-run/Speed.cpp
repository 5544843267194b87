// See Speed.h.
#include "tools/cleave-run/Speed.h"

#include "runtime/artifact/Utilization.h"
#include "runtime/base/Units.h"

namespace cleave::run {

std::vector<std::pair<std::string, double>> Speed::numbers(double seconds) const {
  std::vector<std::pair<std::string, double>> numbers;
  if (int64_t samples = data_.samplesPerStep()) {
    numbers.emplace_back("samples_per_second", double(samples) / seconds);
    if (auto [unit, count] = data_.amount(); unit == "tokens")
      numbers.emplace_back("tokens_per_second", double(count) / seconds);
  }
  if (double utilization = artifact::utilizationOf(plan_, seconds); utilization > 0)
    numbers.emplace_back("mfu", utilization);
  return numbers;
}

std::vector<std::string> Speed::texts(double seconds) const {
  std::vector<std::string> texts;
  if (auto [unit, count] = data_.amount(); count > 0)
    texts.push_back(countText(double(count) / seconds, unit + "/s"));
  std::string utilization = artifact::utilizationText(artifact::utilizationOf(plan_, seconds));
  if (!utilization.empty())
    texts.push_back(std::move(utilization));
  return texts;
}

} // namespace cleave::run
