// See ProductAlgorithm.h.
#include "runtime/device/cuda/ProductAlgorithm.h"

#include <cmath>
#include <optional>

namespace cleave::device {
namespace {

using blas::HeuristicResult;

constexpr int32_t kHopperFamily = 66;
// Of the custom option: all warps work on the same tile. Undocumented; seen on an H200.
constexpr int32_t kTogether = 4;
// In rounds, each of which has a tile per SM: from here on a kernel has several tiles per SM.
constexpr double kSeveralRounds = 2;
// The least gain of a kernel whose warps take turns, as a factor of its time.
constexpr double kGain = 1.04;

std::optional<int32_t> attributeOf(const blas::BlasTable &table, const HeuristicResult &result,
                                   int attribute) {
  int32_t value = 0;
  size_t written = 0;
  const int error = table.matmulAlgoConfigGetAttribute(&result.algorithm, attribute, &value,
                                                       sizeof value, &written);
  return error == blas::kSuccess && written == sizeof value ? std::optional(value) : std::nullopt;
}

bool isWholeHopperKernel(const blas::BlasTable &table, const HeuristicResult &result) {
  return attributeOf(table, result, blas::kAlgorithmId) == kHopperFamily &&
         attributeOf(table, result, blas::kAlgorithmSplits) == 1;
}

bool takesTurns(const blas::BlasTable &table, const HeuristicResult &result) {
  auto option = attributeOf(table, result, blas::kAlgorithmOption);
  return option && !(*option & kTogether);
}

// The rounds that a kernel takes, as a multiple of those that it would take if the last one were
// full, or less than one SM in a thousand short of it.
double emptiness(const HeuristicResult &result) {
  return result.waves > 0 ? std::ceil(result.waves - 1e-3) / result.waves : HUGE_VAL;
}

} // namespace

size_t chooseAlgorithm(const blas::BlasTable &table, std::span<const HeuristicResult> proposed) {
  if (!isWholeHopperKernel(table, proposed[0]) || takesTurns(table, proposed[0]))
    return 0;
  size_t best = 0;
  double least = emptiness(proposed[0]) * kGain;
  for (size_t i = 1; i < proposed.size(); ++i)
    if (proposed[i].waves >= kSeveralRounds && isWholeHopperKernel(table, proposed[i]) &&
        takesTurns(table, proposed[i]) && emptiness(proposed[i]) < least)
      best = i, least = emptiness(proposed[i]);
  return best;
}

} // namespace cleave::device
