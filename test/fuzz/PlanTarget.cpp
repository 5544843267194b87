// Target: plan files. The content hash rejects nearly every changed file; the message inside is
// therefore verified separately, too.
#include "runtime/artifact/Artifact.h"
#include "runtime/artifact/Verify.h"
#include "test/fuzz/Targets.h"

namespace cleave::fuzz {

void plan(std::string_view bytes) {
  mustBeTheirs(artifact::parsePlan(std::string(bytes), "x.plan").status());
  plan::Plan message;
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    (void)artifact::verifyPlan(message); // any status is fine
}

} // namespace cleave::fuzz
