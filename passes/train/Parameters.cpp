// The choice of the parameters that are trained.
#include "passes/train/Parts.h"

#include "dialects/graph/Step.h"
#include "dialects/graph/StopGradient.h"
#include "runtime/base/Glob.h"

using namespace mlir;
using namespace cleave::graph;

namespace cleave::train {

static bool matchesAny(StringRef name, const std::vector<std::string> &patterns) {
  return llvm::any_of(patterns, [&](const std::string &p) { return matchesGlob(p, name.str()); });
}

// Reports a pattern that matches no parameter.
static LogicalResult checkPatterns(func::FuncOp step, const std::vector<std::string> &patterns,
                                   StringRef option) {
  for (const std::string &pattern : patterns) {
    bool isUsed = false, hasAny = false;
    for (unsigned i = 0; i < step.getNumArguments(); ++i) {
      bool isParameter = argRole(step, i) == "parameter";
      hasAny |= isParameter;
      isUsed |= isParameter && matchesGlob(pattern, argName(step, i).str());
    }
    if (!isUsed)
      return emitError(step.getLoc())
             << option << " `" << pattern << "` matches no parameter of the model"
             << (hasAny ? "" : ", which has none");
  }
  return success();
}

bool isInGroup(func::FuncOp step, unsigned argument, const GroupOption &group) {
  return group.pattern == kNoDecay ? rankOf(step.getArgument(argument)) <= 1
                                   : matchesGlob(group.pattern, argName(step, argument).str());
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
    if (argRole(step, i) == "parameter" &&
        isa<FloatType>(elementTypeOf(step.getArgument(i).getType())) &&
        (options.trainable.empty() ? !isFrozen(step, i)
                                   : matchesAny(argName(step, i), options.trainable)) &&
        !matchesAny(argName(step, i), options.freeze))
      chosen.push_back(i);
  return chosen;
}

} // namespace cleave::train
