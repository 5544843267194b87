// The choice of the parameters that are trained.
#include "passes/train/Parts.h"

#include "dialects/graph/Provenance.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StopGradient.h"
#include "runtime/base/Glob.h"
#include "runtime/base/Nearest.h"

using namespace mlir;
using namespace cleave::graph;

namespace cleave::train {

// Whether the pattern matches one of the names of the parameter, which has several if it is tied.
static bool matches(func::FuncOp step, unsigned argument, const std::string &pattern) {
  StringRef name = argName(step, argument);
  auto module = step->getParentOfType<ModuleOp>();
  return matchesGlob(pattern, name.str()) ||
         (module && llvm::any_of(otherNamesOf(module, name), [&](const std::string &other) {
            return matchesGlob(pattern, other);
          }));
}

static bool matchesAny(func::FuncOp step, unsigned argument,
                       const std::vector<std::string> &patterns) {
  return llvm::any_of(patterns,
                      [&](const std::string &pattern) { return matches(step, argument, pattern); });
}

// Reports a pattern that matches no parameter.
static LogicalResult checkPatterns(func::FuncOp step, const std::vector<std::string> &patterns,
                                   StringRef option) {
  for (const std::string &pattern : patterns) {
    bool isUsed = false;
    std::vector<std::string> names;
    for (unsigned i = 0; i < step.getNumArguments(); ++i) {
      if (argRole(step, i) != Role::Parameter)
        continue;
      names.push_back(argName(step, i).str());
      isUsed |= matches(step, i, pattern);
    }
    if (!isUsed)
      return emitError(step.getLoc())
             << option << " `" << pattern << "` matches no parameter of the model"
             << (names.empty() ? ", which has none" : suggestionAmongMany(pattern, names));
  }
  return success();
}

bool isInGroup(func::FuncOp step, unsigned argument, const GroupOption &group) {
  return group.pattern == kNoDecay ? rankOf(step.getArgument(argument)) <= 1
                                   : matches(step, argument, group.pattern);
}

// The patterns of groups that match parameters by name.
static std::vector<std::string> patternsOf(const std::vector<GroupOption> &groups) {
  std::vector<std::string> patterns;
  for (const GroupOption &group : groups)
    if (group.pattern != kNoDecay)
      patterns.push_back(group.pattern);
  return patterns;
}

FailureOr<SmallVector<unsigned>> chooseParameters(func::FuncOp step, const TrainOptions &options) {
  if (failed(checkPatterns(step, options.trainable, "--trainable")) ||
      failed(checkPatterns(step, options.freeze, "--freeze")) ||
      failed(checkPatterns(step, patternsOf(options.groups), "--optimizer-group")))
    return failure();
  SmallVector<unsigned> chosen;
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (argRole(step, i) == Role::Parameter &&
        isa<FloatType>(elementTypeOf(step.getArgument(i).getType())) &&
        (options.trainable.empty() ? !isFrozen(step, i) : matchesAny(step, i, options.trainable)) &&
        !matchesAny(step, i, options.freeze))
      chosen.push_back(i);
  return chosen;
}

} // namespace cleave::train
