// AxisUse: what each axis of a mesh splits, in the words of the model: an axis that is named `tp`
// may split the batch, and one named `dp` features.
#pragma once

#include "compiler/planner/Decisions.h"

#include <array>
#include <set>

namespace cleave::planner {

// What the dims of a model's tensors count.
enum class DimUse {
  Batch,      // samples
  Sequence,   // positions of tokens in a sample
  Positions,  // other places in a sample, such as the rows of an image
  Vocabulary, // tokens, or classes, that there are
  Experts,    // parts of a layer, of which a sample may use some
  Features,   // all others
};
constexpr size_t kDimUses = 6;
const char *name(DimUse use); // `batch`, `sequence`, …

// One axis of the mesh.
struct AxisUse {
  // Shares of the FLOPs of matrix products, convolutions and attention whose factors of this use
  // the axis splits. An op may split two.
  std::array<double, kDimUses> flops{};
  // Shares of the bytes of parameters, and of their optimizer's states, of which a rank stores only
  // the part of its place on the axis although the passes compute with more (ZeRO).
  double parameters = 0, states = 0;
};

// `vocabularies`: the numbers of tokens or classes that inputs index, as far as they are known.
std::vector<AxisUse> axisUses(const StepModel &model, const Decisions &decisions,
                              const std::set<int64_t> &vocabularies);

// `batch 92.1 %, features 7.9 %`; empty if the axis splits no product.
std::string splitText(const AxisUse &use);
// The same as a clause: `splits batch 92.1 % of the FLOPs of products; stores parts of …`.
std::string text(const AxisUse &use);

} // namespace cleave::planner
