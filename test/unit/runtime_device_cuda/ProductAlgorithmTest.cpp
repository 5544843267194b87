// The choice among proposed algorithms; a table reads attributes from an algorithm's data.
#include "runtime/device/cuda/ProductAlgorithm.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

using namespace cleave::device;
using blas::HeuristicResult;

namespace {

const blas::BlasTable &table() {
  static const blas::BlasTable table = [] {
    blas::BlasTable t{};
    t.matmulAlgoConfigGetAttribute = [](const blas::Algorithm *algorithm, int attribute,
                                        void *value, size_t bytes, size_t *written) {
      const int32_t found = int32_t(algorithm->data[attribute]);
      std::memcpy(value, &found, bytes);
      *written = bytes;
      return blas::kSuccess;
    };
    return t;
  }();
  return table;
}

HeuristicResult kernel(int32_t option, float waves, int32_t splits = 1, int32_t family = 66) {
  HeuristicResult result{};
  result.algorithm.data[blas::kAlgorithmId] = uint64_t(family);
  result.algorithm.data[blas::kAlgorithmSplits] = uint64_t(splits);
  result.algorithm.data[blas::kAlgorithmOption] = uint64_t(option);
  result.waves = waves;
  return result;
}

size_t chosen(const std::vector<HeuristicResult> &proposed) {
  return chooseAlgorithm(table(), proposed);
}

} // namespace

// 3072 x 16384 x 1024 on an H200: the times of the candidates relative to the last one are 1.13,
// 1.14, 1.15 and 1.
TEST_CASE("a kernel whose warps take turns is preferred to one whose warps work together") {
  CHECK(chosen({kernel(7, 11.64f), kernel(4, 11.64f), kernel(7, 15.5f), kernel(1, 18.7f)}) == 3);
  CHECK(chosen({kernel(1, 7.76f), kernel(7, 3.88f)}) == 0);
  CHECK(chosen({kernel(7, 3.88f), kernel(4, 3.88f)}) == 0);
}

TEST_CASE("among kernels whose warps take turns, the one with the fullest last round is taken") {
  CHECK(chosen({kernel(7, 2.909f), kernel(1, 4.682f), kernel(1, 5.818f)}) == 2);
  // 4.05 rounds take the time of 5.
  CHECK(chosen({kernel(7, 3.95f), kernel(1, 4.05f)}) == 0);
}

TEST_CASE("the library's first algorithm stays where the rule has no ground") {
  CHECK(chosen({kernel(7, 0.97f), kernel(1, 1.94f)}) == 0);      // no second tile per SM
  CHECK(chosen({kernel(7, 3.9f), kernel(1, 7.8f, 2)}) == 0);     // in parts that are added up
  CHECK(chosen({kernel(7, 3.9f, 2), kernel(1, 7.8f)}) == 0);     // the library wants parts
  CHECK(chosen({kernel(7, 3.9f), kernel(1, 7.8f, 1, 71)}) == 0); // another family
  CHECK(chosen({kernel(7, 3.9f, 1, 21), kernel(1, 7.8f, 1, 21)}) == 0);
  CHECK(chosen({kernel(7, 0), kernel(1, 0)}) == 0); // unknown rounds
}

TEST_CASE("an algorithm whose attributes the library does not tell is not preferred") {
  blas::BlasTable silent{};
  silent.matmulAlgoConfigGetAttribute = [](const blas::Algorithm *, int, void *, size_t, size_t *) {
    return blas::kNotSupported;
  };
  const std::vector<HeuristicResult> proposed{kernel(7, 3.9f), kernel(1, 7.8f)};
  CHECK(chooseAlgorithm(silent, proposed) == 0);
}
