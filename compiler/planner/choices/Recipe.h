// Recipe: a named way to lay out a step, composed of parts that are joined by `+`. Each part gives
// a role to mesh axes.
//
// Along the axis `dp` (every axis that no other part takes) samples are split:
//
//   dp        parameters and states are replicated
//   zero1     dp, but each rank updates only its part of a parameter and keeps only that part of
//             the optimizer state
//   zero2     zero1, and each rank receives only its part of the reduced gradients
//   zero3     zero2, and parameters are stored split and gathered for use
//   fsdp      zero3, with every parameter split along its first dim and gathered again for the
//             backward pass, as PyTorch's fully_shard does
//   hsdp      fsdp along the axis `shard`, dp along the others
//
// Along one axis each, beside at most one of these:
//
//   megatron  the axis `tp`: weights are split by columns or rows and embeddings by words; `tp` is
//             another name of this part
//   sp        megatron, and what runs over sequences between the products is split, too, by
//             sequences where nothing else can be split (Megatron's sequence parallelism)
//   cp        the axis `cp`: sequences are split (context parallelism); parameters and states are
//             kept as along `dp`
//
// A part takes the axis of its name; without one, the last axis that no other part takes. `tp:8`
// gives the axis of the part 8 ranks in the default mesh.
#pragma once

#include "dialects/interfaces/Sharding.h"
#include "runtime/base/Status.h"

#include <optional>
#include <string>

namespace cleave::planner {

// How parameters, their gradients and their states are kept along an axis.
enum class ParameterStorage { Dp, Zero1, Zero2, Zero3, Fsdp };

// Whether parameters are stored split and gathered for use.
bool splitsParameters(ParameterStorage storage);
// Whether each rank updates its part of a parameter only.
bool splitsUpdate(ParameterStorage storage);

// The role of one mesh axis.
struct AxisRole {
  enum class Splits { Samples, Sequences, Weights };
  Splits splits = Splits::Samples;
  ParameterStorage storage =
      ParameterStorage::Dp; // of parameters that the axis does not split in use
};

class Recipe {
public:
  Recipe() = default; // none

  // Nothing if the text does not consist of names of parts. User errors: two parts for one axis;
  // a size that is not a positive number.
  static Result<std::optional<Recipe>> parse(const std::string &text);

  bool isNone() const { return !hasStorage_ && !splitsWeights_ && !splitsSequences_; }
  // Whether nothing that runs over sequences is repeated along the axis that splits weights.
  bool sharesSequences() const { return sharesSequences_; }

  // The mesh for a number of ranks, used if the user gives none; nothing without a recipe. Its axes
  // are `dp` (of hsdp `replicate` and `shard`), `cp` and `tp`, as far as there are such parts. The
  // outermost axis takes the ranks that the others leave. An inner axis without a size stays inside
  // a node of `nodeRanks` ranks; tp is sized first, then cp, then shard. If the sizes do not divide
  // `ranks`, the mesh has another number of ranks, and planStep() refuses it.
  std::optional<Mesh> defaultMesh(int64_t ranks, int64_t nodeRanks) const;

  // A user error if the mesh has an axis too few, or an axis whose size the recipe gives otherwise.
  Status check(const Mesh &mesh) const;

  AxisRole roleOf(const Mesh &mesh, int axis) const;
  // Whether parameters are gathered again for the backward pass.
  bool gathersAgain() const { return storage_ == ParameterStorage::Fsdp; }

  bool operator==(const Recipe &) const = default;

private:
  // The axis of a part, or -1: that of the name, else the last one that is not `taken`.
  int weightsAxis(const Mesh &mesh) const;
  int sequencesAxis(const Mesh &mesh) const;
  int shardAxis(const Mesh &mesh) const;

  std::string name_;
  bool hasStorage_ = false;      // a part names the storage
  bool isHybrid_ = false;        // hsdp
  bool splitsWeights_ = false;   // megatron
  bool sharesSequences_ = false; // sp
  bool splitsSequences_ = false; // cp
  ParameterStorage storage_ = ParameterStorage::Dp;
  int64_t samplesSize_ = 0, weightsSize_ = 0, sequencesSize_ = 0; // of axes; 0: not given
};

} // namespace cleave::planner
