// See ChooseDevice.h.
#include "tools/cleave-run/ChooseDevice.h"

#include "runtime/artifact/Modules.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/cuda/CudaDevice.h"

#include <charconv>
#include <optional>

namespace cleave::run {
namespace {

constexpr std::string_view kCudaNumber = "cuda:";

// N of `cuda:N`.
std::optional<int> gpuNumber(std::string_view choice) {
  if (!choice.starts_with(kCudaNumber))
    return std::nullopt;
  choice.remove_prefix(kCudaNumber.size());
  int number = 0;
  auto [end, error] = std::from_chars(choice.data(), choice.data() + choice.size(), number);
  bool isNumber = error == std::errc() && end == choice.data() + choice.size() && number >= 0;
  return isNumber ? std::optional(number) : std::nullopt;
}

Result<std::unique_ptr<device::Device>> chooseGpu(std::optional<int> number,
                                                  const launch::RankEnvironment &environment) {
  const char *wayOut = "; compile the model with --device cpu to run it on CPUs";
  Result<int> count = device::cudaDeviceCount();
  if (!count)
    return Status::userError("the plan is for GPUs, and this machine does not offer them: ",
                             count.status().message(), wayOut);
  if (*count == 0)
    return Status::userError("the plan is for GPUs, and this machine has none", wayOut);
  const char *gpus = *count == 1 ? " GPU" : " GPUs";
  if (number && *number >= *count)
    return Status::userError("--device: found cuda:", *number, ", but this machine has ", *count,
                             gpus, ", counted from 0");
  if (!number && environment.localSize > *count)
    return Status::userError(
        "this machine has ", *count, gpus, " for ", environment.localSize,
        " ranks, expected one each; --device cuda:0 runs all of them on GPU 0");
  return device::makeCudaDevice(number.value_or(environment.localRank));
}

} // namespace

Status checkDeviceChoice(const std::string &choice) {
  bool isKnown = choice == "auto" || choice == artifact::kCpu || choice == artifact::kCuda ||
                 gpuNumber(choice);
  return isKnown ? Status::ok()
                 : Status::userError("--device: found '", choice,
                                     "', expected auto, cpu, cuda or cuda:N");
}

Result<std::unique_ptr<device::Device>> chooseDevice(const std::string &choice,
                                                     const plan::Plan &plan,
                                                     const launch::RankEnvironment &environment,
                                                     int threads, const std::string &fileFolder) {
  bool isGpu = choice == "auto" ? plan.device() == artifact::kCuda : choice != artifact::kCpu;
  const char *kind = isGpu ? artifact::kCuda : artifact::kCpu;
  if (plan.device() != kind)
    return Status::userError("the plan is for ", plan.device(), " (", artifact::targetsText(plan),
                             "), found --device ", choice,
                             "; leave --device away, or compile the "
                             "model with --device ",
                             kind);
  return isGpu ? chooseGpu(gpuNumber(choice), environment)
               : device::makeCpuDevice(threads, fileFolder);
}

} // namespace cleave::run
