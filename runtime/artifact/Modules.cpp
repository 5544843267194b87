// See Modules.h.
#include "runtime/artifact/Modules.h"

#include <charconv>

namespace cleave::artifact {

int computeCapabilityOf(const std::string &target) {
  constexpr std::string_view prefix = "sm_";
  int number = 0;
  const char *end = target.data() + target.size();
  if (!target.starts_with(prefix) || target.size() > prefix.size() + 4)
    return 0;
  auto [rest, error] = std::from_chars(target.data() + prefix.size(), end, number);
  return error == std::errc() && rest == end && number > 0 ? number : 0;
}

const plan::Module *cpuModuleOf(const plan::Plan &plan) {
  for (const plan::Module &module : plan.modules())
    if (module.target() == kCpu)
      return &module;
  return nullptr;
}

std::string targetsText(const plan::Plan &plan) {
  std::string text;
  for (const plan::Module &module : plan.modules())
    text += (text.empty() ? "" : ", ") + module.target();
  return text.empty() ? "no kernels" : text;
}

} // namespace cleave::artifact
