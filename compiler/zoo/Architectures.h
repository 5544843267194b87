// The architectures, by family; each builds the whole graph from its sizes. Zoo.cpp names them.
#pragma once

#include "compiler/zoo/Builder.h"

namespace cleave::zoo {

// The sizes of an architecture by the names that users give: `layers`, `hidden`, …
using Sizes = std::map<std::string, int64_t>;

// Decoders.
void buildGpt(Builder &b, const Sizes &sizes);
// With `experts` in its sizes every feed-forward layer is a mixture of `experts`, of which every
// token takes `top-k`: a Mixtral whose experts take so many tokens at most, as on accelerators.
void buildLlama(Builder &b, const Sizes &sizes);

// Encoders, and encoders with decoders.
void buildBert(Builder &b, const Sizes &sizes);
void buildT5(Builder &b, const Sizes &sizes);
void buildWhisper(Builder &b, const Sizes &sizes);

// Images.
void buildVit(Builder &b, const Sizes &sizes);
void buildUnet(Builder &b, const Sizes &sizes);
enum class Block { Basic, Bottleneck };
// `blocks` per stage; a bottleneck's inner width is that of a ResNet times `width`.
void buildResnet(Builder &b, const Sizes &sizes, Block block, const std::vector<int> &blocks,
                 int64_t width = 1);
// Channels of the convolutions; 0 is a pooling layer.
void buildVgg(Builder &b, const Sizes &sizes, const std::vector<int> &channels);
void buildDensenet(Builder &b, const Sizes &sizes, int64_t first, int64_t growth,
                   const std::vector<int> &blocks);

} // namespace cleave::zoo
