// See MeasureGpus.h.
#include "tools/cleave-calibrate/MeasureGpus.h"

#include "compiler/cluster/device/TimedDevice.h"
#include "runtime/comm/devices/ConnectDevices.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/launch/Launch.h"

namespace cleave::calibrate {
namespace {

using Measure = std::function<Status(cluster::DeviceTimes &times, bool isFirst)>;

Status measureAsRank(const launch::RankEnvironment &environment, const Measure &measure) {
  CLEAVE_TRY_ASSIGN(auto world, launch::joinWorld(environment));
  CLEAVE_TRY_ASSIGN(auto device, device::makeCudaDevice(environment.localRank));
  CLEAVE_TRY_ASSIGN(auto devices, comm::connectDevices(*world, *device));
  cluster::TimedDevice times(*device, *world, *devices);
  CLEAVE_TRY(times.begin());
  return measure(times, environment.rank == 0);
}

} // namespace

Status measureGpus(int gpus, const Measure &measure) {
  CLEAVE_TRY_ASSIGN(launch::LaunchOutcome outcome,
                    launch::launchLocal(gpus, {},
                                        [&](const launch::RankEnvironment &environment,
                                            launch::StepReporter &reporter) {
                                          Status status = measureAsRank(environment, measure);
                                          reporter.fail(status);
                                          return status.exitCode();
                                        }));
  if (outcome.exitCode == int(StatusKind::UserError))
    return Status::userError(outcome.message);
  return outcome.exitCode ? Status::lost(outcome.message) : Status::ok();
}

} // namespace cleave::calibrate
