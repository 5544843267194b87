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
// Ties go to the upper one. What is only stored in parts does not count: an axis that splits no
// product is `dp`. Axes of one name are numbered: `dp1`, `dp2`.
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
  // Shares of the bytes of parameters, and of their optimizer's states, that are sharded along the
  // axis: a rank stores a part of what it computes with, and the parameters are gathered for that.
  double parameters = 0, states = 0;
  bool hasStates = false; // whether there are any
};

// A share from which on it is printed as all.
constexpr double kAll = 0.9995;

// `vocabularies`: the numbers of tokens or classes that inputs index, as far as they are known.
std::vector<AxisUse> axisUses(const StepModel &model, const Decisions &decisions,
                              const std::set<int64_t> &vocabularies);

// The mesh with its axes named by these uses, one for each axis.
Mesh namedByUse(const Mesh &mesh, const std::vector<AxisUse> &uses);

// `batch 92.1 %, features 7.9 %`; empty if the axis splits no product.
std::string splitText(const AxisUse &use);
// The same as a clause: `splits the batch; shards parameters and optimizer states`.
std::string text(const AxisUse &use);

} // namespace cleave::planner
