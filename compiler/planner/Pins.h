// Pins: what the user fixes of the plan: a named recipe, or rules by name from a JSON file. A
// recipe is a preference: of every node's choices those that contradict it are dropped, unless none
// would remain. A rule for a name is binding.
//
//   dp        samples split over all axes, everything that lives longer than a step on every rank
//   zero1     dp, but each rank updates (and keeps the optimizer's state of) only its part of a
//             parameter
//   zero2     zero1, and gradients are reduced only to the rank that needs them
//   zero3     zero2, and parameters live split and are gathered for use
//   megatron  along the axis `tp` (else the last) weights are split by columns or rows,
//             embeddings by words; along the others samples
//
// A file: {"pins": [{"name": "blocks.*.fc.weight", "layout": [[], ["tp"]], "use": [[], []]}, …]}:
// where arguments live whose name matches the glob, and (parameters; by default the same) the
// layout for use. With "op" instead of "name", the layout of the op's first result.
#pragma once

#include "compiler/planner/Batch.h"
#include "compiler/planner/Choices.h"
#include "runtime/base/Status.h"

namespace cleave::planner {

enum class Recipe { None, Dp, Zero1, Zero2, Zero3, Megatron };

// One rule of a file; layouts as axis names per dim.
struct NamePin {
  std::string name, op; // globs, one of them is empty
  std::vector<std::vector<std::string>> layout;
  std::optional<std::vector<std::vector<std::string>>> use;
};

class Pins {
public:
  Pins() = default;

  // `text` is the name of a recipe (or empty), or else the path of a JSON file.
  static Result<Pins> parse(const std::string &text);
  static Result<Pins> fromJson(const std::string &json);
  static Pins ofRecipe(Recipe recipe);

  Recipe recipe() const { return recipe_; }
  // What the user calls it, for messages; empty without pins.
  const std::string &name() const { return name_; }
  // The mesh that the recipe means for so many ranks when the user gives none.
  std::optional<Mesh> defaultMesh(int64_t ranks) const;

  // That rules name axes of the mesh and match something.
  Status check(const StepModel &model, const Mesh &mesh) const;

  // Fixes what follows from the model; needed before the two below.
  void prepare(const StepModel &model) { batch_ = findBatch(model); }
  void restrictOp(const StepModel &model, int op, const Mesh &mesh,
                  std::vector<OpChoice> &choices) const;
  // `choices` may become empty, or get the pinned layout added.
  // The rule of a file that binds the argument; null if there is none.
  const NamePin *ruleFor(const StepModel &model, int argument) const;
  void restrictArgument(const StepModel &model, int argument, const Mesh &mesh,
                        std::vector<ArgumentChoice> &choices) const;

private:
  Recipe recipe_ = Recipe::None;
  std::string name_;
  std::vector<NamePin> rules_;
  Batch batch_;
};

} // namespace cleave::planner
