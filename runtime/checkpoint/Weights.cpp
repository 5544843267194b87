// See Weights.h.
#include "runtime/checkpoint/Weights.h"

#include "runtime/base/Nearest.h"
#include "runtime/checkpoint/NameList.h"
#include "runtime/checkpoint/TensorFiles.h"
#include "runtime/data/Block.h"

#include <filesystem>
#include <sstream>

namespace cleave::checkpoint {
namespace {

std::set<std::string> linesOf(const std::string &text) {
  std::set<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.insert(line);
  return lines;
}

std::string counted(size_t tensors) {
  return concat(tensors, tensors == 1 ? " tensor" : " tensors");
}

// Whether the weights have this tensor beside those of the model: an optimizer's state is called
// PARAMETER/STATE.
bool isOfTraining(const std::string &name, const TensorStore::TensorInfo &info,
                  const TensorStore &store) {
  const size_t slash = name.rfind('/');
  return info.shape.empty() || !isFloat(info.dtype) ||
         (slash != std::string::npos && store.tensors().contains(name.substr(0, slash)));
}

} // namespace

Result<Weights> openWeights(const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  Weights weights;
  if (std::string file = tensorFileIn(path); !file.empty())
    return openWeights(file);
  if (fs::is_directory(path, ignored)) {
    CLEAVE_TRY_ASSIGN(auto checkpoint, Checkpoint::open(path));
    const auto &extra = checkpoint->progress().extra;
    if (auto found = extra.find(kUntrainedKey); found != extra.end())
      weights.untrained = linesOf(found->second);
    weights.tensors = std::move(checkpoint);
    return weights;
  }
  if (!isTensorFile(path))
    return Status::userError(
        "found '", path, fs::exists(path, ignored) ? "'" : "', which does not exist",
        ", expected a folder that cleave-run --save wrote, or a .safetensors file");
  std::vector<std::pair<std::string, std::string>> metadata;
  CLEAVE_TRY_ASSIGN(weights.tensors, openTensorFiles(path, metadata));
  for (const auto &[key, value] : metadata)
    if (key == kUntrainedKey)
      weights.untrained.merge(linesOf(value));
  return weights;
}

// The beginning of `longer` before `.shorter`, with the point; empty if it does not end so.
static std::string prefixBefore(const std::string &longer, const std::string &shorter) {
  return longer.ends_with("." + shorter) ? longer.substr(0, longer.size() - shorter.size()) : "";
}

std::string fitPrefix(Weights &weights, const ModelTensors &model) {
  const auto &found = weights.tensors->tensors();
  std::vector<std::string> names;
  for (const auto &[name, shape] : model.needed)
    if (found.contains(name))
      return "";
    else if (!weights.untrained.contains(name))
      names.push_back(name);
  if (names.empty())
    return "";
  for (const auto &[first, info] : found) {
    std::string lacked = prefixBefore(names[0], first), added = prefixBefore(first, names[0]);
    if (lacked.empty() && added.empty())
      continue;
    std::map<std::string, std::string> renamed; // by the name in the model
    for (const std::string &name : names) {
      std::string old = lacked.empty()             ? added + name
                        : name.starts_with(lacked) ? name.substr(lacked.size())
                                                   : "";
      if (!found.contains(old))
        break;
      renamed[name] = old;
    }
    if (renamed.size() < names.size())
      continue;
    for (const auto &[name, ignored] : found) { // running counts and others
      std::string to = lacked.empty() ? (name.starts_with(added) ? name.substr(added.size()) : "")
                                      : lacked + name;
      if (model.known.contains(to))
        renamed.emplace(to, name);
    }
    std::string note = concat("all names in '", weights.tensors->path(),
                              lacked.empty() ? "' have the prefix '" : "' lack the prefix '",
                              lacked.empty() ? added : lacked,
                              lacked.empty() ? "', which is taken away" : "', which is added");
    weights.tensors = withNames(std::move(weights.tensors), std::move(renamed));
    return note;
  }
  return "";
}

// `'h.0.w' (like 'h.0.weight'), 'h.1.w' (…) and 4 more`: missing names with the most similar of
// those that are surplus.
static std::string missingText(const std::vector<std::string> &missing,
                               const std::vector<std::string> &surplus) {
  std::vector<std::string> described;
  for (size_t i = 0; i < missing.size(); ++i) {
    const std::vector<std::string> nearest =
        i < kListedNames ? nearestNames(missing[i], surplus, 1) : std::vector<std::string>();
    const bool isLike =
        !nearest.empty() && editDistance(missing[i], nearest[0]) <= missing[i].size() / 2;
    described.push_back(concat('\'', missing[i], '\'',
                               isLike ? concat(" (similar: '", nearest[0], "')") : std::string()));
  }
  return nameList(described, "");
}

Result<std::string> checkWeights(const Weights &weights, const ModelTensors &model) {
  const auto &found = weights.tensors->tensors();
  std::vector<std::string> missing, surplus;
  std::string misshapen;
  bool isAnyFound = false;
  for (const auto &[name, shape] : model.needed) {
    auto at = found.find(name);
    isAnyFound |= at != found.end();
    if (at == found.end() && !weights.untrained.contains(name))
      missing.push_back(name);
    if (at != found.end() && at->second.shape != shape && misshapen.empty())
      misshapen = concat("its '", name, "' has the shape ", data::toString(at->second.shape),
                         ", expected ", data::toString(shape));
  }
  for (const auto &[name, info] : found)
    if (!model.needed.contains(name) && !model.known.contains(name) &&
        !isOfTraining(name, info, *weights.tensors))
      surplus.push_back(name);
  const std::string more =
      surplus.empty() ? "" : concat("it has ", nameList(surplus), ", which the plan does not have");
  if (missing.empty() && misshapen.empty() && (isAnyFound || surplus.empty()))
    return surplus.empty()
               ? std::string()
               : concat("'", weights.tensors->path(), "' has ", counted(surplus.size()),
                        " which the plan does not have and does not read: ", nameList(surplus));
  std::string text;
  auto add = [&](const std::string &part) {
    if (!part.empty())
      text += concat(text.empty() ? "" : "; ", part);
  };
  if (!missing.empty())
    add(concat("it lacks ", missingText(missing, surplus)));
  add(more);
  add(misshapen);
  return Status::userError("'", weights.tensors->path(), "' does not fit the plan: ", text,
                           "; expected weights of the plan's model, under ", "its names");
}

Status takeAverages(Weights &weights) {
  constexpr std::string_view kAverage = "/ema";
  std::map<std::string, std::string> renamed; // by the name of the parameter
  for (const auto &[name, info] : weights.tensors->tensors()) {
    const std::string parameter =
        name.substr(0, name.size() - std::min(name.size(), kAverage.size()));
    if (name.ends_with(kAverage) && weights.tensors->tensors().contains(parameter))
      renamed[parameter] = name;
  }
  if (renamed.empty())
    return Status::userError("'", weights.tensors->path(),
                             "' has no moving averages; --ema needs the checkpoint of a plan that "
                             "was compiled with --ema");
  weights.tensors = withNames(std::move(weights.tensors), std::move(renamed));
  return Status::ok();
}

} // namespace cleave::checkpoint
