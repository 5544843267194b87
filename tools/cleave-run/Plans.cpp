// See Plans.h.
#include "tools/cleave-run/Plans.h"

#include "runtime/artifact/Artifact.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/Verify.h"

#include <map>
#include <string>

namespace cleave::run {
namespace {

// The keys of --trust.
Result<std::vector<artifact::PublicKey>> trustedKeys(const Options &options) {
  std::vector<artifact::PublicKey> trusted;
  for (const std::string &file : options.trust) {
    CLEAVE_TRY_ASSIGN(auto keys, artifact::readPublicKeys(file).withContext("--trust"));
    trusted.insert(trusted.end(), keys.begin(), keys.end());
  }
  return trusted;
}

// Reads and verifies a plan. With --trust, its signature is checked before anything else. The
// compiler verifies each plan that it writes; a plan that fails here is bad input.
Result<std::unique_ptr<plan::Plan>> readVerified(const std::string &path,
                                                 const std::vector<artifact::PublicKey> &trusted) {
  CLEAVE_TRY_ASSIGN(plan::Plan plan, artifact::readPlan(path, trusted));
  if (Status status = artifact::verifyPlan(plan); !status)
    return Status::userError("plan file '", path, "' cannot be run: ", status.message(),
                             "; compile the model again");
  return std::make_unique<plan::Plan>(std::move(plan));
}

// What a plan trains, apart from how it is divided: by the name of every parameter, state and input
// its role, type and shape.
std::map<std::string, std::string> tensorsOf(const plan::Plan &plan) {
  std::map<std::string, std::string> tensors;
  for (const plan::Tensor &tensor : plan.tensors()) {
    if (tensor.role() == plan::CONSTANT)
      continue; // may depend on the division
    std::string text = concat(int(tensor.role()), ' ', int(tensor.dtype()));
    for (int64_t size : tensor.shape())
      text += concat(' ', size);
    tensors[tensor.name()] = text;
  }
  return tensors;
}

// A user error unless both plans are of the same model and training.
Status checkSame(const plan::Plan &first, const plan::Plan &other, const std::string &path) {
  std::string what;
  if (first.source().sha256() != other.source().sha256())
    what = "another model";
  else if (first.optimizer() != other.optimizer() || first.trains() != other.trains())
    what = "another optimizer";
  else if (tensorsOf(first) != tensorsOf(other))
    what = "other tensors";
  return what.empty() ? Status::ok()
                      : Status::userError("--plans: '", path, "' has ", what,
                                          " than the first plan; compile both from the same model "
                                          "with the same options but --ranks, --mesh and --pin");
}

} // namespace

Result<Plans> Plans::read(const Options &options) {
  Plans plans;
  CLEAVE_TRY_ASSIGN(auto trusted, trustedKeys(options));
  CLEAVE_TRY_ASSIGN(auto first, readVerified(options.plan, trusted));
  plans.plans_.push_back(std::move(first));
  for (const std::string &path : options.plans) {
    CLEAVE_TRY_ASSIGN(auto plan, readVerified(path, trusted));
    CLEAVE_TRY(checkSame(plans.first(), *plan, path));
    int ranks = int(artifact::rankCount(*plan));
    if (plans.forRanks(ranks))
      return Status::userError("--plans: '", path, "' is for ", ranks,
                               " ranks, as another plan is; expected one plan per number of ranks");
    plans.plans_.push_back(std::move(plan));
  }
  return plans;
}

const plan::Plan *Plans::forRanks(int ranks) const {
  for (const auto &plan : plans_)
    if (int(artifact::rankCount(*plan)) == ranks)
      return plan.get();
  return nullptr;
}

} // namespace cleave::run
