// dnn-support PLAN...: prints the engines and workspaces that cuDNN of this machine chooses for the
// attention and the convolutions of plans for GPUs, without a GPU. Exits with 1 if it refuses one,
// with 77 without a cuDNN that can be asked.
#include "runtime/artifact/Artifact.h"
#include "test/unit/runtime_device_cuda/DnnSupport.h"

#include <cstdio>

using namespace cleave;

static Result<bool> print(const char *path) {
  CLEAVE_TRY_ASSIGN(plan::Plan plan, artifact::readPlan(path));
  CLEAVE_TRY_ASSIGN(std::vector<test::DnnSupport> answers, test::dnnSupport(plan));
  std::printf("%s\n%-28s %-32s %6s %6s %14s %14s\n", path, "kind", "name", "engine", "tensor",
              "workspace", "reserved");
  bool all = true;
  for (const test::DnnSupport &answer : answers) {
    all &= answer.refusal.empty();
    std::printf("%-28s %-32.32s %6lld %6s %14llu %14llu %s\n", answer.kind.c_str(),
                answer.name.c_str(), (long long)answer.plan.engine,
                answer.plan.usesTensorCores ? "cores" : "", (unsigned long long)answer.usedBytes,
                (unsigned long long)answer.reservedBytes, answer.refusal.c_str());
  }
  return all;
}

int main(int argc, char **argv) {
  constexpr int kSkipped = 77;
  if (auto table = test::devicelessDnn(); !table) {
    std::fprintf(stderr, "%s\n", table.status().message().c_str());
    return kSkipped;
  }
  bool all = true;
  for (int i = 1; i < argc; ++i) {
    Result<bool> supported = print(argv[i]);
    if (!supported)
      std::fprintf(stderr, "%s: %s\n", argv[i], supported.status().message().c_str());
    all &= supported && *supported;
  }
  return all ? 0 : 1;
}
