// The seconds that the simulation of a step of 1,024 ranks and its trace take: a pipeline of 32
// stages and 16 micro-batches, 1F1B. CPU seconds, the least of 5 runs.
#include "compiler/schedule/Simulate.h"
#include "compiler/schedule/Trace.h"
#include "runtime/base/FileWriter.h"
#include "test/unit/schedule/Pipeline.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

using namespace cleave;

namespace {

// The least CPU seconds of 5 calls.
template <typename Run> double leastSeconds(Run run) {
  double least = 1e9;
  for (int i = 0; i < 5; ++i) {
    const std::clock_t begin = std::clock();
    run();
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

} // namespace

// With an argument, writes the trace to this file.
int main(int argc, char **argv) {
  const schedule::Timeline timeline = schedule::pipeline({});
  Result<schedule::Simulation> found = schedule::simulate(timeline);
  if (!found) {
    std::fprintf(stderr, "%s\n", found.status().message().c_str());
    return 1;
  }
  std::string trace;
  const double simulating = leastSeconds([&] { found = schedule::simulate(timeline); });
  const double tracing = leastSeconds([&] { trace = schedule::traceOf(timeline, *found); });
  std::printf("1,024 ranks, %zu tasks: simulated in %.3f s, traced in %.3f s (%.1f MB); the step "
              "takes %.1f s\n",
              timeline.tasks.size(), simulating, tracing, double(trace.size()) / 1e6,
              found->seconds);
  if (argc < 2)
    return 0;
  const Status written = writeFile(argv[1], trace);
  if (!written)
    std::fprintf(stderr, "%s\n", written.message().c_str());
  return written.exitCode();
}
