// See ProductAlgorithm.h.
#include "runtime/device/cuda/ProductAlgorithm.h"

#include <cmath>
#include <optional>

namespace cleave::device {
namespace {

using blas::HeuristicResult;

constexpr int32_t kHopperFamily = 66;
// This bit of the custom option says that all warps work on the same tile (decision 0082; NVIDIA
// does not document it).
constexpr int32_t kTogether = 4;
// Rounds of tiles from which on an SM computes several tiles; a round is one tile per SM.
constexpr double kSeveralRounds = 2;
// How much more of its time a kernel whose warps take turns may waste on the last round.
constexpr double kMoreWaste = 1.04;

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

// The rounds that a kernel takes, divided by the rounds that its tiles fill: 1 if the last round is
// full. A round that is full but for one SM in a thousand counts as full.
double waste(const HeuristicResult &result) {
  return result.waves > 0 ? std::ceil(result.waves - 1e-3) / result.waves : HUGE_VAL;
}

} // namespace

size_t chooseAlgorithm(const blas::BlasTable &table, std::span<const HeuristicResult> proposed) {
  if (!isWholeHopperKernel(table, proposed[0]) || takesTurns(table, proposed[0]))
    return 0;
  size_t best = 0;
  double least = waste(proposed[0]) * kMoreWaste;
  for (size_t i = 1; i < proposed.size(); ++i)
    if (proposed[i].waves >= kSeveralRounds && isWholeHopperKernel(table, proposed[i]) &&
        takesTurns(table, proposed[i]) && waste(proposed[i]) < least)
      best = i, least = waste(proposed[i]);
  return best;
}

} // namespace cleave::device
