// Plan files. The content hash would stop nearly every changed file, so the message in it is verified by itself too.
#include "runtime/artifact/Artifact.h"
#include "runtime/artifact/Verify.h"
#include "test/fuzz/Targets.h"

namespace cleave::fuzz {

void plan(std::string_view bytes) {
  mustBeTheirs(artifact::parsePlan(std::string(bytes), "x.plan").status());
  plan::Plan message;
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    (void)artifact::verifyPlan(message); // whatever it answers
}

} // namespace cleave::fuzz
