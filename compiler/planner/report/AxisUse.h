// AxisUse: what each axis of a mesh splits, in the words of the model, and the names that follow.
//
// Axes of a mesh that the planner chose are named by what its plan splits over them; those of a
// mesh that the user gave keep his names, whatever they split. An axis has the name of the dims
// that it splits in most of the FLOPs of products:
//
//   dp   the batch
//   sp   sequences, and other positions
//   ep   experts
//   tp   features and vocabularies
//
// Of equal shares the upper one counts. What is stored in parts only (ZeRO) does not count: an axis
// that splits no product is `dp`. Axes of one name are numbered: `dp1`, `dp2`.
#pragma once

#include "compiler/planner/choices/Decisions.h"

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

// The mesh with its axes named by these uses, one for each axis.
Mesh namedByUse(const Mesh &mesh, const std::vector<AxisUse> &uses);

// `batch 92.1 %, features 7.9 %`; empty if the axis splits no product.
std::string splitText(const AxisUse &use);
// The same as a clause: `splits batch 92.1 % of the FLOPs of products; stores parts of …`.
std::string text(const AxisUse &use);

} // namespace cleave::planner
