// The architectures by family. Each function builds the whole graph from its sizes; Zoo.cpp has the
// names.
#pragma once

#include "compiler/zoo/Builder.h"

namespace cleave::zoo {

// The sizes of an architecture by name: `layers`, `hidden`, … (sizeNames() in Zoo.h).
using Sizes = std::map<std::string, int64_t>;

// Decoders.
void buildGpt(Builder &b, const Sizes &sizes);
// If `sizes` has `experts`, every feed-forward layer is a mixture of that many experts, of which
// every token uses `top-k`: a Mixtral whose experts have a fixed capacity of tokens, as on
// accelerators.
void buildLlama(Builder &b, const Sizes &sizes);

// Encoders, and encoders with decoders.
void buildBert(Builder &b, const Sizes &sizes);
void buildT5(Builder &b, const Sizes &sizes);
void buildWhisper(Builder &b, const Sizes &sizes);

// Images.
void buildVit(Builder &b, const Sizes &sizes);
void buildUnet(Builder &b, const Sizes &sizes);
// The residual blocks of a ResNet.
enum class Block { Basic, Bottleneck };
// `blocks`: number per stage. `width`: factor on the inner width of a bottleneck.
void buildResnet(Builder &b, const Sizes &sizes, Block block, const std::vector<int> &blocks,
                 int64_t width = 1);
// `channels` of the convolutions in order; 0 is a pooling layer.
void buildVgg(Builder &b, const Sizes &sizes, const std::vector<int> &channels);
// `first`: channels of the first convolution; `growth`: channels added per layer; `blocks`: layers
// per block.
void buildDensenet(Builder &b, const Sizes &sizes, int64_t first, int64_t growth,
                   const std::vector<int> &blocks);

} // namespace cleave::zoo
