// Recipes and rules as filters on choices.
#include "compiler/planner/choices/Pins.h"

#include "runtime/base/Glob.h"
#include "runtime/base/Nearest.h"
#include "runtime/base/RegularFile.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <filesystem>

namespace cleave::planner {

// -- reading --------------------------------------------------------------------------------------

Pins Pins::ofRules(std::vector<NamePin> rules) {
  Pins pins;
  pins.rules_ = std::move(rules);
  return pins;
}

static const std::pair<const char *, Recompute> kRecomputations[] = {
    {"full-recompute", Recompute::Full},
    {"selective-recompute", Recompute::Selective},
    {"no-recompute", Recompute::None},
    {"sharding-first", Recompute::ShardingFirst}};

static const std::pair<const char *, SpacePin::Of> kOffloads[] = {
    {"offload:states", SpacePin::Of::States},
    {"offload:parameters", SpacePin::Of::Parameters},
    {"offload:activations", SpacePin::Of::Activations}};

// The pin of `offload:states`, `offload:states:file`; nothing if the text is none.
static std::optional<SpacePin> readOffload(std::string_view text) {
  for (const auto &[name, of] : kOffloads) {
    if (text == name)
      return SpacePin{.of = of};
    if (!text.starts_with(std::string(name) + ":"))
      continue;
    if (const std::optional<Space> space =
            findSpace(text.substr(std::string_view(name).size() + 1)))
      return SpacePin{.of = of, .space = space};
  }
  return std::nullopt;
}

// The entry of a table with this name, or null.
template <typename Table> static auto find(const Table &table, std::string_view name) {
  auto it = std::find_if(std::begin(table), std::end(table),
                         [&](const auto &entry) { return name == entry.first; });
  return it == std::end(table) ? nullptr : &it->second;
}

// Whether `text` consists of the names of recipes, which are then set.
Result<bool> Pins::readRecipes(const std::string &text) {
  if (text.empty())
    return true;
  int layouts = 0, recomputations = 0;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string name = text.substr(at, end - at);
    at = end + 1;
    if (const Recompute *recompute = find(kRecomputations, name)) {
      recompute_ = *recompute;
      ++recomputations;
      continue;
    }
    if (std::optional<SpacePin> offload = readOffload(name)) {
      spaceRules_.push_back(std::move(*offload));
      continue;
    }
    CLEAVE_TRY_ASSIGN(std::optional<Recipe> recipe, Recipe::parse(name));
    if (!recipe)
      return false;
    recipe_ = *recipe;
    ++layouts;
  }
  if (layouts > 1 || recomputations > 1)
    return Status::userError("the pins ", text, " contradict each other: expected at most one ",
                             "recipe for layouts and one for recomputation");
  name_ = text;
  return true;
}

Result<Pins> Pins::parse(const std::string &text) {
  Pins recipes;
  CLEAVE_TRY_ASSIGN(bool isRecipe, recipes.readRecipes(text));
  if (isRecipe)
    return recipes;
  if (std::error_code error; !std::filesystem::exists(text, error))
    return Status::userError(
        "unknown pin ", text,
        suggestion(text,
                   {"dp", "zero1", "zero2", "zero3", "fsdp", "hsdp", "megatron", "tp", "sp", "cp",
                    "several of them joined by +", "full-recompute", "selective-recompute",
                    "no-recompute", "sharding-first", "offload:states", "offload:parameters",
                    "offload:activations"},
                   "a JSON file"));
  CLEAVE_TRY_ASSIGN(std::string content, readRegularFile(text));
  CLEAVE_TRY_ASSIGN(Pins pins, fromJson(content).withContext(text));
  pins.name_ = text;
  return pins;
}

static Result<RematPin> readRemat(const nlohmann::json &entry) {
  const nlohmann::json &recompute = entry["recompute"];
  if (entry.size() != 2 || !entry.contains("op") || !entry["op"].is_string() ||
      !recompute.is_boolean())
    return Status::userError("a pin on recomputation is malformed: expected {\"op\": \"glob\", ",
                             "\"recompute\": true or false}, found ", entry.dump());
  return RematPin{entry["op"].get<std::string>(), recompute.get<bool>()};
}

static Result<SpacePin> readSpace(const nlohmann::json &entry) {
  const char *key = entry.contains("name") ? "name" : "op";
  const nlohmann::json &text = entry["space"];
  const std::optional<Space> space =
      text.is_string() ? findSpace(text.get<std::string>()) : std::nullopt;
  if (entry.size() != 2 || !entry.contains(key) || !entry[key].is_string() || !space)
    return Status::userError("a pin on a space is malformed: expected {\"name\" or \"op\": ",
                             "\"glob\", \"space\": \"device\", \"host\" or \"file\"}, found ",
                             entry.dump());
  return SpacePin{.of = entry.contains("name") ? SpacePin::Of::Name : SpacePin::Of::Op,
                  .glob = entry[key].get<std::string>(),
                  .space = space};
}

static Result<GatherPin> readGather(const nlohmann::json &entry) {
  const nlohmann::json &kept = entry["gathered"];
  if (entry.size() != 2 || !entry.contains("name") || !entry["name"].is_string() ||
      (kept != "keep" && kept != "again"))
    return Status::userError("a pin on gathering is malformed: expected {\"name\": \"glob\", ",
                             "\"gathered\": \"keep\" or \"again\"}, found ", entry.dump());
  return GatherPin{entry["name"].get<std::string>(), kept == "keep"};
}

// Whether the value is a list of axes per dim, which is then read.
static bool readLayout(const nlohmann::json &value, std::vector<std::vector<std::string>> &layout) {
  if (!value.is_array())
    return false;
  for (const nlohmann::json &dim : value) {
    if (!dim.is_array() || !std::all_of(dim.begin(), dim.end(), [](const nlohmann::json &axis) {
          return axis.is_string();
        }))
      return false;
    layout.push_back(dim.get<std::vector<std::string>>());
  }
  return true;
}

Result<Pins> Pins::fromJson(const std::string &json) {
  nlohmann::json root = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object() || !root.contains("pins") || !root["pins"].is_array())
    return Status::userError(
        "not a file of pins: expected {\"pins\": [{\"name\": …, \"layout\": …}]}");
  Pins pins;
  for (const nlohmann::json &entry : root["pins"]) {
    if (entry.is_object() && entry.contains("gathered")) {
      CLEAVE_TRY_ASSIGN(GatherPin pin, readGather(entry));
      pins.gatherRules_.push_back(std::move(pin));
      continue;
    }
    if (entry.is_object() && entry.contains("space")) {
      CLEAVE_TRY_ASSIGN(SpacePin pin, readSpace(entry));
      pins.spaceRules_.push_back(std::move(pin));
      continue;
    }
    if (entry.is_object() && entry.contains("recompute")) {
      CLEAVE_TRY_ASSIGN(RematPin pin, readRemat(entry));
      pins.rematRules_.push_back(std::move(pin));
      continue;
    }
    NamePin pin;
    bool ok = entry.is_object() && entry.contains("layout") &&
              readLayout(entry["layout"], pin.layout) &&
              entry.contains("name") + entry.contains("op") == 1;
    for (const char *key : {"name", "op"})
      if (ok && entry.contains(key)) {
        ok = entry[key].is_string();
        if (ok)
          (std::string(key) == "op" ? pin.op : pin.name) = entry[key].get<std::string>();
      }
    if (ok && entry.contains("use"))
      ok = readLayout(entry["use"], pin.use.emplace());
    if (!ok)
      return Status::userError("pin ", pins.rules_.size() + 1,
                               " is malformed: expected {\"name\" or \"op\": \"glob\", \"layout\": "
                               "[[axis, …] per dim]}, found ",
                               entry.dump());
    pins.rules_.push_back(std::move(pin));
  }
  return pins;
}

// The layout with axis indices; an unknown axis is -1.
static Sharding toSharding(const std::vector<std::vector<std::string>> &layout, const Mesh &mesh) {
  Sharding sharding = Sharding::replicated(layout.size());
  for (size_t d = 0; d < layout.size(); ++d)
    for (const std::string &axis : layout[d])
      sharding.dims[d].push_back(mesh.axisIndex(axis));
  return sharding;
}

// The same for ops, which are never split by an axis of one rank.
static std::vector<std::vector<int>> splits(const std::vector<std::vector<std::string>> &layout,
                                            const Mesh &mesh) {
  std::vector<std::vector<int>> dims = toSharding(layout, mesh).dims;
  for (std::vector<int> &axes : dims)
    std::erase_if(axes, [&](int axis) { return axis >= 0 && mesh.axes[axis].size == 1; });
  return dims;
}

// The glob of a rule, on arguments or ops.
static const std::string &globOf(const NamePin &pin) {
  return pin.name.empty() ? pin.op : pin.name;
}

bool matchesName(const std::string &glob, const Argument &argument) {
  return matchesGlob(glob, argument.name) ||
         std::any_of(argument.otherNames.begin(), argument.otherNames.end(),
                     [&](const std::string &name) { return matchesGlob(glob, name); });
}

// Whether the rule is about the argument, or about the op.
static bool binds(const NamePin &pin, const StepModel &model, const Argument &argument) {
  return !pin.name.empty() && matchesName(pin.name, argument) &&
         model.values[argument.value].shape.size() == pin.layout.size();
}
static bool binds(const NamePin &pin, const StepModel &, const Op &op) {
  return !pin.op.empty() && matchesGlob(pin.op, op.name);
}

// A user error if two rules say different things about one argument or op.
template <typename Bound>
static Status checkAgreement(const std::vector<NamePin> &rules, const StepModel &model,
                             const std::vector<Bound> &all) {
  for (const Bound &bound : all) {
    const NamePin *first = nullptr;
    for (const NamePin &pin : rules) {
      if (!binds(pin, model, bound))
        continue;
      if (first && (first->layout != pin.layout ||
                    first->use.value_or(first->layout) != pin.use.value_or(pin.layout)))
        return Status::userError("the pins for ", globOf(*first), " and for ", globOf(pin),
                                 " give ", bound.name,
                                 " different layouts; leave it out of one of them");
      first = first ? first : &pin;
    }
  }
  return Status::ok();
}

static Status checkLayout(const NamePin &pin, const std::vector<std::vector<std::string>> &layout,
                          const Mesh &mesh) {
  std::vector<std::string> seen;
  for (const std::vector<std::string> &dim : layout)
    for (const std::string &axis : dim) {
      if (mesh.axisIndex(axis) < 0)
        return Status::userError("the pin for ", globOf(pin), " names the axis ", axis,
                                 ", which the mesh does not have: give --mesh");
      if (std::find(seen.begin(), seen.end(), axis) != seen.end())
        return Status::userError("the pin for ", globOf(pin), " names the axis ", axis, " twice");
      seen.push_back(axis);
    }
  return Status::ok();
}

bool Pins::namesAxis() const {
  auto names = [](const std::vector<std::vector<std::string>> &layout) {
    return std::any_of(layout.begin(), layout.end(),
                       [](const std::vector<std::string> &dim) { return !dim.empty(); });
  };
  return std::any_of(rules_.begin(), rules_.end(), [&](const NamePin &pin) {
    return names(pin.layout) || (pin.use && names(*pin.use));
  });
}

Status Pins::check(const StepModel &model, const Mesh &mesh) const {
  CLEAVE_TRY(recipe_.check(mesh));
  for (const NamePin &pin : rules_) {
    CLEAVE_TRY(checkLayout(pin, pin.layout, mesh));
    if (pin.use)
      CLEAVE_TRY(checkLayout(pin, *pin.use, mesh));
    if (pin.use && pin.use->size() != pin.layout.size())
      return Status::userError("the pin for ", globOf(pin), " has a layout of ", pin.layout.size(),
                               " dims and a use of ", pin.use->size(), ", expected as many");
    auto isBound = [&](const auto &bound) { return binds(pin, model, bound); };
    if (std::none_of(model.arguments.begin(), model.arguments.end(), isBound) &&
        std::none_of(model.ops.begin(), model.ops.end(), isBound))
      return Status::userError("the pin for ", globOf(pin), " matches nothing with ",
                               pin.layout.size(), " dims");
  }
  for (const GatherPin &pin : gatherRules_)
    if (std::none_of(model.arguments.begin(), model.arguments.end(), [&](const Argument &argument) {
          return argument.role == Role::Parameter && matchesName(pin.name, argument);
        }))
      return Status::userError("the pin on gathering ", pin.name, " matches no parameter");
  CLEAVE_TRY(checkAgreement(rules_, model, model.arguments));
  return checkAgreement(rules_, model, model.ops);
}

// -- filtering ------------------------------------------------------------------------------------

// Drops the choices that do not satisfy the predicate, unless none does.
template <typename Choice, typename Predicate>
static void prefer(std::vector<Choice> &choices, Predicate predicate) {
  if (std::any_of(choices.begin(), choices.end(), predicate))
    std::erase_if(choices, [&](const Choice &choice) { return !predicate(choice); });
}

static bool hasAxis(const std::vector<int> &axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

static bool isSplitBy(const Sharding &sharding, int axis) {
  return std::any_of(sharding.dims.begin(), sharding.dims.end(),
                     [&](const std::vector<int> &axes) { return hasAxis(axes, axis); });
}

// An axis that splits samples or sequences.
namespace {
struct DataAxis {
  int axis;
  AxisRole role;
};

// The axes of the mesh by what they split.
struct AxesByRole {
  std::vector<DataAxis> data; // of one rank: left out
  int weights = -1;           // the axis that splits weights, or -1
};
} // namespace

static AxesByRole axesByRole(const Mesh &mesh, const Recipe &recipe) {
  AxesByRole axes;
  for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis) {
    const AxisRole role = recipe.roleOf(mesh, axis);
    if (role.splits == AxisRole::Splits::Weights)
      axes.weights = axis;
    else if (mesh.axes[axis].size > 1)
      axes.data.push_back({axis, role});
  }
  return axes;
}

// Whether the axis splits a factor over samples; without such a factor, whether it splits none.
static bool followsBatch(const OpChoice &choice, const std::vector<bool> &isBatch, bool hasBatch,
                         int axis) {
  for (size_t f = 0; f < choice.factors.size(); ++f)
    if (hasAxis(choice.factors[f], axis))
      return isBatch[f];
  return !hasBatch;
}

static bool splitsSamples(const OpChoice &choice, const std::vector<bool> &isBatch, int axis) {
  for (size_t f = 0; f < choice.factors.size(); ++f)
    if (isBatch[f] && hasAxis(choice.factors[f], axis))
      return true;
  return false;
}

static bool feedsUpdate(const StepModel &model, const Op &op) {
  for (int value : op.results)
    for (const Use &use : model.values[value].uses)
      if (op.part == Part::Backward && model.ops[use.op].part == Part::Update)
        return true;
  return false;
}

// Along an axis that splits samples: what runs over samples is split; updates and the gradients
// that they read follow the recipe. Other work on gradients is free where updates are split.
static void preferSplitSamples(const StepModel &model, const Op &op,
                               const std::vector<bool> &isBatch, ParameterStorage storage, int axis,
                               std::vector<OpChoice> &choices) {
  const bool hasBatch = std::find(isBatch.begin(), isBatch.end(), true) != isBatch.end();
  const bool splits = splitsUpdate(storage);
  if (splits && op.part == Part::Update)
    prefer(choices, [&](const OpChoice &choice) {
      return std::any_of(choice.factors.begin(), choice.factors.end(),
                         [&](const std::vector<int> &axes) { return hasAxis(axes, axis); });
    });
  else if (!splits || hasBatch || op.part != Part::Backward)
    prefer(choices, [&](const OpChoice &c) { return followsBatch(c, isBatch, hasBatch, axis); });
  if (splits && feedsUpdate(model, op))
    prefer(choices, [&](const OpChoice &choice) {
      return !hasAxis(choice.results[0].partial, axis) &&
             isSplitBy(choice.results[0], axis) != (storage == ParameterStorage::Zero1);
    });
}

// Along the axis that splits weights: no samples are split; a product uses its block of the weight;
// the gradient of a weight is computed on the block of the weight, not as a partial sum.
static void preferSplitWeights(const StepModel &model, const Op &op,
                               const std::vector<bool> &isBatch, const std::vector<int> &weightDims,
                               int axis, std::vector<OpChoice> &choices) {
  prefer(choices, [&](const OpChoice &choice) { return !splitsSamples(choice, isBatch, axis); });
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const int dim = op.part == Part::Update ? -1 : weightDims[op.operands[i]];
    if (dim >= 0)
      prefer(choices,
             [&](const OpChoice &choice) { return hasAxis(choice.operands[i].dims[dim], axis); });
  }
  bool sumsSamples = false;
  for (size_t f = 0; f < isBatch.size(); ++f)
    sumsSamples |= isBatch[f] && op.rule.factors[f].kind == FactorKind::Reduction;
  if (op.part != Part::Backward || !sumsSamples)
    return;
  prefer(choices,
         [&](const OpChoice &choice) { return !hasAxis(choice.natural[0].partial, axis); });
  if (model.values[op.results[0]].shape.size() >= 2)
    prefer(choices, [&](const OpChoice &choice) { return isSplitBy(choice.natural[0], axis); });
}

void Pins::restrictOp(const StepModel &model, int index, const Mesh &mesh,
                      std::vector<OpChoice> &choices) const {
  const Op &op = model.ops[index];
  for (const NamePin &pin : rules_)
    if (!pin.op.empty() && matchesGlob(pin.op, op.name))
      std::erase_if(choices, [&](const OpChoice &choice) {
        return choice.results.empty() || !choice.results[0].partial.empty() ||
               choice.results[0].dims != splits(pin.layout, mesh);
      });
  if (recipe_.isNone())
    return;
  const AxesByRole axes = axesByRole(mesh, recipe_);
  const bool hasBatch = batch_.hasFactor(index);
  for (const auto &[axis, role] : axes.data) {
    const bool isSamples = role.splits == AxisRole::Splits::Samples;
    // Samples and sequences that a reshape has joined cannot be split by sequences.
    if (!isSamples && hasBatch && !sequences_.hasFactor(index))
      continue;
    preferSplitSamples(model, op, (isSamples ? batch_ : sequences_).factors[index], role.storage,
                       axis, choices);
  }
  if (axes.weights >= 0 && hasBatch)
    preferSplitWeights(model, op, batch_.factors[index], weightDims_, axes.weights, choices);
  if (axes.weights >= 0 && recipe_.sharesSequences() && sequences_.hasFactor(index))
    prefer(choices, [&](const OpChoice &choice) {
      return std::any_of(
          choice.factors.begin(), choice.factors.end(),
          [&](const std::vector<int> &splitBy) { return hasAxis(splitBy, axes.weights); });
    });
}

// Rules look at names; recipes look at the op's place in the step too.
std::vector<int64_t> Pins::restrictionOf(const StepModel &model, int index) const {
  if (!recipe_.isNone())
    return {index};
  std::vector<int64_t> matching;
  for (size_t i = 0; i < rules_.size(); ++i)
    if (!rules_[i].op.empty() && matchesGlob(rules_[i].op, model.ops[index].name))
      matching.push_back(static_cast<int64_t>(i));
  return matching;
}

const NamePin *Pins::ruleFor(const StepModel &model, int argument) const {
  const Argument &what = model.arguments[argument];
  size_t dims = model.values[what.value].shape.size();
  for (const NamePin &pin : rules_)
    if (!pin.name.empty() && matchesName(pin.name, what) && pin.layout.size() == dims)
      return &pin;
  return nullptr;
}

void Pins::restrictArgument(const StepModel &model, int index, const Mesh &mesh,
                            std::vector<ArgumentChoice> &choices) const {
  restrictLayouts(model, index, mesh, choices);
  std::optional<bool> keep;
  for (const GatherPin &pin : gatherRules_)
    if (matchesName(pin.name, model.arguments[index]))
      keep = pin.keep;
  const bool mayStay = std::any_of(choices.begin(), choices.end(),
                                   [](const ArgumentChoice &c) { return c.staysGathered; });
  if (keep && mayStay)
    std::erase_if(choices, [&](const ArgumentChoice &choice) {
      return choice.isGathered() && choice.staysGathered != *keep;
    });
}

void Pins::restrictLayouts(const StepModel &model, int index, const Mesh &mesh,
                           std::vector<ArgumentChoice> &choices) const {
  const Argument &argument = model.arguments[index];
  const Value &value = model.values[argument.value];
  if (const NamePin *pin = ruleFor(model, index)) {
    ArgumentChoice pinned;
    pinned.storage = toSharding(pin->layout, mesh);
    pinned.compute = toSharding(pin->use.value_or(pin->layout), mesh);
    const bool mayStay = std::any_of(choices.begin(), choices.end(),
                                     [](const ArgumentChoice &c) { return c.staysGathered; });
    choices = {pinned};
    if (mayStay && pinned.isGathered())
      choices.push_back({pinned.storage, pinned.compute, true});
    return;
  }
  if (recipe_.isNone() || argument.role != Role::Parameter)
    return;
  const AxesByRole axes = axesByRole(mesh, recipe_);
  for (const auto &[axis, role] : axes.data) {
    const ParameterStorage storage = role.storage;
    prefer(choices, [&, axis = axis](const ArgumentChoice &choice) {
      return !isSplitBy(choice.compute, axis);
    });
    prefer(choices, [&, axis = axis](const ArgumentChoice &choice) {
      return isSplitBy(choice.storage, axis) == splitsParameters(storage);
    });
    if (storage == ParameterStorage::Fsdp)
      prefer(choices, [](const ArgumentChoice &choice) { return !choice.staysGathered; });
    if (storage == ParameterStorage::Fsdp && !value.shape.empty())
      prefer(choices, [&, axis = axis](const ArgumentChoice &choice) {
        return hasAxis(choice.storage.dims[0], axis);
      });
  }
  const int weights = axes.weights;
  if (weights < 0)
    return;
  prefer(choices, [&](const ArgumentChoice &choice) {
    return isSplitBy(choice.storage, weights) == isSplitBy(choice.compute, weights);
  });
  if (const int dim = weightDims_[argument.value]; dim >= 0)
    prefer(choices, [&](const ArgumentChoice &choice) {
      return hasAxis(choice.storage.dims[dim], weights);
    });
}

} // namespace cleave::planner
