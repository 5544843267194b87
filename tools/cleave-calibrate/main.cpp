// cleave-calibrate: measures this machine's CPU, or its GPUs, and writes a cluster file.
#include "compiler/cluster/Measure.h"
#include "compiler/cluster/Presets.h"
#include "runtime/base/FileWriter.h"
#include "tools/cleave-calibrate/MeasureGpus.h"
#include "tools/commandline/CommandLine.h"

#include <cstdio>
#include <filesystem>

using namespace cleave;
using namespace cleave::cluster;

namespace {

struct Options {
  std::string path, device = "cpu", like;
  double seconds = 3;
  int gpus = 1;
};

bool isQuiet() { return verbosity() == Verbosity::Quiet; }

int fail(const Status &status) { return cleave::fail("cleave-calibrate", status); }

Status write(const std::string &path, const Cluster &cluster) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::absolute(path).parent_path(), error);
  CLEAVE_TRY(writeFile(path, toJson(cluster) + "\n"));
  if (!isQuiet())
    std::printf("written to %s\n", path.c_str());
  return Status::ok();
}

Status calibrateCpu(const Options &options) {
  std::string path = options.path.empty() ? localCpuFile() : options.path;
  if (path.empty())
    return Status::userError("neither XDG_CACHE_HOME nor HOME is set; pass -o FILE");
  CLEAVE_TRY_ASSIGN(Cluster cluster, measureLocalCpu(options.seconds));
  const Link &link = cluster.levels[0].link(CollectiveKind::AllReduce, 2);
  if (!isQuiet())
    std::printf(
        "%lld cores, %.1f GFLOP/s f32 each, memory %.1f GB/s, all-reduce %.2f GB/s and %.1f us\n",
        static_cast<long long>(cluster.devicesPerNode), cluster.compute["f32"].peakFlops * 1e-9,
        cluster.memoryBytesPerSecond * 1e-9, link.bytesPerSecond * 1e-9, link.latencySeconds * 1e6);
  return write(path, cluster);
}

Status calibrateGpus(const Options &options) {
  if (options.like.empty() || options.path.empty())
    return Status::userError("--device cuda needs --like CLUSTER, which gives what is not measured "
                             "(sizes of memories, the network), and -o FILE");
  CLEAVE_TRY_ASSIGN(Cluster like, findCluster(options.like));
  if (like.isCpu)
    return Status::userError("--like: found a cluster of CPUs, expected one of GPUs, such as "
                             "h100-node");
  return calibrate::measureGpus(options.gpus, [&](DeviceTimes &times, bool isFirst) -> Status {
    CLEAVE_TRY_ASSIGN(Cluster cluster, measureDevice(like, times));
    if (!isFirst)
      return Status::ok();
    if (!isQuiet())
      std::printf("%d GPU%s: products of %.1f TFLOP/s in bf16 and %.1f in f32, memory %.0f GB/s, "
                  "host link %.1f GB/s\n",
                  times.ranks(), times.ranks() == 1 ? "" : "s",
                  cluster.compute["bf16"].peakFlops * 1e-12,
                  cluster.compute["f32"].peakFlops * 1e-12, cluster.memoryBytesPerSecond * 1e-9,
                  cluster.hostLink.bytesPerSecond * 1e-9);
    return write(options.path, cluster);
  });
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Measures this machine's CPU, or its GPUs, and writes a cluster file.",
               "cleave-calibrate");
  Options options;
  app.add_option("-o,--output", options.path,
                 "output file; default for CPUs: the file that --cluster local-cpu reads")
      ->type_name("FILE");
  app.add_option("--seconds", options.seconds, "duration of the measurement of a CPU")
      ->check(positive())
      ->capture_default_str();
  app.add_option("--device", options.device, "what to measure: cpu, or cuda")
      ->check(isOneOf({"cpu", "cuda"}))
      ->capture_default_str();
  app.add_option(
         "--gpus", options.gpus,
         "with --device cuda: number of GPUs, whose links are measured if there are several")
      ->check(positive())
      ->capture_default_str();
  app.add_option("--like", options.like,
                 "with --device cuda: cluster that gives what is not measured (name or file)")
      ->type_name(valuesType(presetNames()) + "|FILE");
  if (std::optional<int> code = readCommandLine(app, argc, argv))
    return *code;
  Status status = options.device == "cuda" ? calibrateGpus(options) : calibrateCpu(options);
  return status ? 0 : fail(status);
}
