// LayerLayout: which layers a stage has, in the notation of Megatron-LM's
// --pipeline-model-parallel-layout: one letter per layer, and `|` between stages.
//
//   Et*2|(t*2|)*34,t*3|(t*2|)*3,tL
//
//   E, t, m, L       embedding, transformer layer, multi-token prediction, loss (with the head)
//   x*N, (text)*N    a letter or `|`, or a text without other parentheses, N times
//   ,                has no meaning
//
// Stages are numbered along the model: those of all ranks, then the second stages of all ranks, and
// so on. A stage may be empty.
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::pipelines {

struct LayerLayout {
  std::vector<std::string> stages; // the letters of each stage

  // Transformer layers by stage.
  std::vector<uint32_t> transformerLayers() const;
  bool operator==(const LayerLayout &) const = default;
};

// A user error that names the column, from 1, if a character is unknown, a repetition has no
// number, or the result has more than a million characters; or if the layers do not begin with the
// only embedding and end with the only loss. With `ranks` above 0, the number of stages must be a
// multiple of it.
Result<LayerLayout> parseLayerLayout(std::string_view text, uint32_t ranks = 0);

// The layout in few characters: repeated letters and stages as `x*N` and `(text|)*N`.
std::string textOf(const LayerLayout &layout);

// A model of E, transformer layers and L, whose stages have `sizes` layers; their sum is at least
// 2.
LayerLayout layoutOf(const std::vector<uint32_t> &sizes);

} // namespace cleave::pipelines
