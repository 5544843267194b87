// cleave-calibrate: measures this machine's CPU and writes its cluster file.
#include "compiler/cluster/Measure.h"
#include "compiler/cluster/Presets.h"
#include "runtime/base/FileWriter.h"
#include "tools/commandline/CommandLine.h"

#include <cstdio>
#include <filesystem>

using namespace cleave;
using namespace cleave::cluster;

static int fail(const Status &status) { return fail("cleave-calibrate", status); }

int main(int argc, char **argv) {
  CLI::App app("Measures this machine's CPU and writes its cluster file.", "cleave-calibrate");
  std::string path = localCpuFile();
  double seconds = 3;
  app.add_option("-o,--output", path,
                 "output file; default: the file that --cluster local-cpu reads");
  app.add_option("--seconds", seconds, "duration of the measurement")
      ->check(positive())
      ->capture_default_str();
  if (std::optional<int> code = readCommandLine(app, argc, argv))
    return *code;
  if (path.empty())
    return fail(Status::userError("neither XDG_CACHE_HOME nor HOME is set; pass -o FILE"));
  Result<Cluster> measured = measureLocalCpu(seconds);
  if (!measured)
    return fail(measured.status());
  Cluster &cluster = *measured;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::absolute(path).parent_path(), error);
  if (Status status = writeFile(path, toJson(cluster) + "\n"); !status)
    return fail(status);
  const Link &link = cluster.levels[0].link(CollectiveKind::AllReduce, 2);
  std::printf(
      "%lld cores, %.1f GFLOP/s f32 each, memory %.1f GB/s, all-reduce %.2f GB/s and %.1f us\n"
      "written to %s\n",
      static_cast<long long>(cluster.devicesPerNode), cluster.compute["f32"].peakFlops * 1e-9,
      cluster.memoryBytesPerSecond * 1e-9, link.bytesPerSecond * 1e-9, link.latencySeconds * 1e6,
      path.c_str());
  return 0;
}
