// Pins: restrictions of the plan by the user: a named recipe, or rules by name from a JSON file. A
// recipe is a preference: choices that contradict it are dropped unless none would remain. A rule
// is binding.
//
// Recipes for layouts, such as `dp`, `fsdp+tp:8` or `megatron+zero1`, are explained in Recipe.h.
// Recipes for recomputation:
//
//   full-recompute       what crosses the boundaries of blocks is kept for the backward pass, all
//                        between is recomputed (RematPolicy.h)
//   selective-recompute  what is cheap per byte and reads kept values is recomputed
//   no-recompute         everything is kept
//   sharding-first       layouts are those that are best without a limit of memory; only
//                        recomputation is chosen for the budget
//
// Recipes for what is kept outside of device memory (--host-memory, --file-memory):
//
//   offload:states       the states of the optimizer, from step to step
//   offload:parameters   parameters, from step to step
//   offload:activations  what is kept for the backward pass, until it is read there
//
// each with the space if both are given: `offload:states:file`. Others: the planner decides.
//
// A recipe for layouts, one for recomputation and any for other spaces can be joined by a comma:
// `zero3,full-recompute`.
//
// A file: {"pins": [{"name": "blocks.*.fc.weight", "layout": [[], ["tp"]], "use": [[], []]}, …]}:
// the layout between steps of arguments whose name matches the glob, and (for parameters; default:
// the same) the layout for use. With "op" instead of "name": the layout of the op's first result.
// Where rules name an axis and the planner chooses the mesh, its axes are `dp`, the first one, and
// `tp`, whatever they split. Only `dp` can be named: not all meshes that are tried have two axes.
// {"op": "blocks.*.fc", "recompute": true} or false: whether the op is recomputed, or kept.
// {"name": "blocks.*", "space": "host"}, "file" or "device": where arguments are from step to step.
// {"op": "blocks.*.fc", "space": "host"}, …: where the op's results are kept for the backward pass.
// {"name": "blocks.*", "gathered": "keep"} or "again": whether parameters that are gathered for use
// stay gathered from the forward to the backward pass.
#pragma once

#include "compiler/planner/choices/Choices.h"
#include "compiler/planner/choices/Recipe.h"
#include "compiler/planner/model/Batch.h"
#include "compiler/planner/model/WeightDims.h"
#include "runtime/base/Space.h"
#include "runtime/base/Status.h"

namespace cleave::planner {

// The recipes for recomputation; Free: the planner decides.
enum class Recompute { Free, Full, Selective, None, ShardingFirst };

// One rule of a file on recomputation.
struct RematPin {
  std::string op; // glob on names of ops
  bool recompute = false;
};

// One rule of a file on parameters that are gathered.
struct GatherPin {
  std::string name; // glob on names of arguments
  bool keep = false;
};

// Values for which a recipe or a rule of a file determines the space.
struct SpacePin {
  enum class Of { States, Parameters, Activations, Name, Op };
  Of of = Of::States;
  std::string glob = {};           // on names of arguments (Name) or of ops (Op)
  std::optional<Space> space = {}; // nothing: the one that there is beside device memory
};

// One rule of a file; layouts as axis names per dim.
struct NamePin {
  std::string name, op; // globs on names of arguments or of ops; one of them is empty
  std::vector<std::vector<std::string>> layout;
  std::optional<std::vector<std::vector<std::string>>> use; // nothing: as `layout`
};

// Whether the glob of a rule matches one of the names of an argument, which a tied parameter has
// several of.
bool matchesName(const std::string &glob, const Argument &argument);

// A recipe or a list of rules, applied as a filter to choices.
class Pins {
public:
  Pins() = default;

  // `text` is the name of a recipe, or of two, empty for no pins, or else the path of a JSON file.
  // User errors: an unknown recipe that is not a file; two recipes of one sort; a malformed rule,
  // with its number and content.
  static Result<Pins> parse(const std::string &text);
  static Result<Pins> fromJson(const std::string &json);
  static Pins ofRules(std::vector<NamePin> rules);

  const Recipe &recipe() const { return recipe_; }
  Recompute recompute() const { return recompute_; }
  const std::vector<RematPin> &rematRules() const { return rematRules_; }
  // In the order in which they are given: later ones win.
  const std::vector<SpacePin> &spaceRules() const { return spaceRules_; }
  // Whether any pin restricts layouts.
  bool restrictsLayouts() const {
    return !recipe_.isNone() || !rules_.empty() || !gatherRules_.empty();
  }
  // The recipe's name or the file's path, for messages; empty without pins.
  const std::string &name() const { return name_; }
  // The recipe's mesh (Recipe::defaultMesh).
  std::optional<Mesh> defaultMesh(int64_t ranks, int64_t nodeRanks) const {
    return recipe_.defaultMesh(ranks, nodeRanks);
  }

  // Whether a rule names an axis.
  bool namesAxis() const;
  // A user error if the recipe does not go with the mesh (Recipe::check), or a rule names an axis
  // that the mesh does not have, matches nothing, or contradicts another one.
  Status check(const StepModel &model, const Mesh &mesh) const;

  // Finds what runs over samples and sequences, and how weights are split. Comes before restrictOp
  // and restrictArgument.
  void prepare(const StepModel &model) {
    batch_ = findBatch(model);
    sequences_ = findSequences(model);
    weightDims_ = weightDims(model);
  }
  // Drops the choices of an op that contradict the pins; under a rule none may remain.
  void restrictOp(const StepModel &model, int op, const Mesh &mesh,
                  std::vector<OpChoice> &choices) const;
  // Ops that are alike keep the same choices if these numbers are equal.
  std::vector<int64_t> restrictionOf(const StepModel &model, int op) const;
  // The rule that binds the argument; null if there is none.
  const NamePin *ruleFor(const StepModel &model, int argument) const;
  // Drops the choices of an argument that contradict the recipe; a rule on its layout replaces them
  // all by the pinned one. Of several rules on gathering the last one holds.
  void restrictArgument(const StepModel &model, int argument, const Mesh &mesh,
                        std::vector<ArgumentChoice> &choices) const;

private:
  Result<bool> readRecipes(const std::string &text);
  void restrictLayouts(const StepModel &model, int argument, const Mesh &mesh,
                       std::vector<ArgumentChoice> &choices) const;

  Recipe recipe_;
  Recompute recompute_ = Recompute::Free;
  std::vector<RematPin> rematRules_;
  std::vector<SpacePin> spaceRules_;
  std::vector<GatherPin> gatherRules_;
  std::string name_;
  std::vector<NamePin> rules_;
  Batch batch_, sequences_;
  std::vector<int> weightDims_; // by value
};

} // namespace cleave::planner
