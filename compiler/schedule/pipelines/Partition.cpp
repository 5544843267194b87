// A dynamic program over prefixes of the layers, twice: with the maximum of the stages' seconds,
// then with the sum of their squares among stages within that maximum.
#include "compiler/schedule/pipelines/Partition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace cleave::pipelines {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class PartitionSearch {
public:
  PartitionSearch(const std::vector<double> &seconds, uint32_t stages, std::vector<double> borders)
      : stages_(stages), layers_(static_cast<uint32_t>(seconds.size())), until_{0},
        borders_(std::move(borders)) {
    borders_.resize(layers_ + 1);
    for (double layer : seconds)
      until_.push_back(until_.back() + layer);
  }

  std::vector<uint32_t> run() {
    solve([](double before, double stage) { return std::max(before, stage); });
    const double slowest = best_[stages_][layers_];
    solve([slowest](double before, double stage) {
      return stage <= slowest ? before + stage * stage : kInfinity;
    });
    std::vector<uint32_t> sizes(stages_);
    uint32_t end = layers_;
    for (uint32_t stage = stages_; stage > 0; --stage) {
      sizes[stage - 1] = end - begin_[stage][end];
      end = begin_[stage][end];
    }
    return sizes;
  }

private:
  double secondsOf(uint32_t begin, uint32_t end) const {
    return until_[end] - until_[begin] + borders_[begin] + borders_[end];
  }

  // Fills best_ and begin_; `join` is the cost of some stages and the seconds of one more. Ties go
  // to longer later stages: earlier ones have more micro-batches in flight.
  template <typename Join> void solve(Join join) {
    best_.assign(stages_ + 1, std::vector<double>(layers_ + 1, kInfinity));
    begin_.assign(stages_ + 1, std::vector<uint32_t>(layers_ + 1));
    best_[0][0] = 0;
    for (uint32_t stage = 1; stage <= stages_; ++stage)
      for (uint32_t end = stage; end <= layers_ - (stages_ - stage); ++end)
        for (uint32_t begin = stage - 1; begin < end; ++begin)
          if (const double cost = join(best_[stage - 1][begin], secondsOf(begin, end));
              cost < best_[stage][end]) {
            best_[stage][end] = cost;
            begin_[stage][end] = begin;
          }
  }

  const uint32_t stages_, layers_;
  std::vector<double> until_;                // seconds of the layers before each one
  std::vector<double> borders_;              // seconds of the border before each one
  std::vector<std::vector<double>> best_;    // by number of stages and of layers in them
  std::vector<std::vector<uint32_t>> begin_; // by the same: the first layer of the last stage
};

} // namespace

Result<std::vector<uint32_t>> balancedPartition(const std::vector<double> &seconds, uint32_t stages,
                                                std::vector<double> borders) {
  if (stages == 0 || stages > seconds.size())
    return Status::userError("found ", seconds.size(), " layers for ", stages,
                             " stages; expected at least one stage, and a layer for each");
  for (size_t layer = 0; layer < seconds.size(); ++layer)
    if (!(seconds[layer] >= 0) || std::isinf(seconds[layer]))
      return Status::userError("layer ", layer, " takes ", seconds[layer],
                               " seconds; expected a finite number of at least 0");
  if (!borders.empty() && borders.size() != seconds.size() + 1)
    return Status::userError("found ", borders.size(), " borders of ", seconds.size(),
                             " layers; expected one before each layer and one after the last");
  return PartitionSearch(seconds, stages, std::move(borders)).run();
}

} // namespace cleave::pipelines
