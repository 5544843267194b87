// Times collectives of processes on this machine, in every implementation, and checks each result
// before it is timed.
//
//   bench-comm [ranks] [bytes] [shm|gloo]        prints milliseconds (median) and the bytes of a
//   buffer per second
#include "runtime/comm/Communicator.h"
#include "runtime/launch/Launch.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

using namespace cleave;
using namespace cleave::comm;

struct Timing {
  double seconds;   // median; negative if the result was wrong
  double processor; // mean CPU time of this process
};

static double processorSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

// One kind on one kind of memory.
static Timing timeCall(Communicator &group, CollectiveKind kind, float *send, float *recv,
                       int64_t elements, int repetitions) {
  int64_t p = group.size(), count = kind == CollectiveKind::AllReduce ? elements : elements / p;
  for (int64_t i = 0; i < elements; ++i)
    send[i] = static_cast<float>(group.rank() + 1);
  Call call{.kind = kind, .pairs = {{send, recv, count, DType::F32}}};
  std::vector<double> seconds;
  double processor = processorSeconds();
  for (int i = 0; i < repetitions; ++i) {
    if (!group.barrier())
      return {-1, -1};
    auto begun = std::chrono::steady_clock::now();
    Status status = group.run(call);
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
    if (!status) {
      fprintf(stderr, "%s\n", status.message().c_str());
      return {-1, -1};
    }
  }
  processor = (processorSeconds() - processor) / repetitions;
  float sum = p * (p + 1) / 2.0f;
  float first = reduces(kind) ? sum : 1, last = reduces(kind) ? sum : p;
  int64_t received = kind == CollectiveKind::ReduceScatter ? count : elements / p * p;
  if (recv[0] != first || recv[received - 1] != last)
    return {-1, -1};
  std::sort(seconds.begin(), seconds.end());
  return {seconds[seconds.size() / 2], processor};
}

static int benchRank(const launch::RankEnvironment &environment, launch::StepReporter &reporter,
                     int64_t bytes) {
  auto world = launch::joinWorld(environment);
  if (!world) {
    reporter.fail(world.status());
    return world.status().exitCode();
  }
  std::vector<int> everyone;
  for (int i = 0; i < environment.size; ++i)
    everyone.push_back(i);
  auto group = (*world)->connect(everyone);
  std::vector<float> send(bytes / 4), recv(bytes / 4);
  for (CollectiveKind kind : {CollectiveKind::AllReduce, CollectiveKind::AllGather,
                              CollectiveKind::ReduceScatter, CollectiveKind::AllToAll}) {
    Timing large = timeCall(**group, kind, send.data(), recv.data(), bytes / 4, 15),
           small = timeCall(**group, kind, send.data(), recv.data(), environment.size, 2000);
    if (environment.rank == 0)
      printf("%-5s %d ranks  %-14s %8.2f ms %7.2f GB/s, CPU %7.2f ms;  %d elements: %.2f us\n",
             (*world)->implementation().c_str(), environment.size, std::string(name(kind)).c_str(),
             large.seconds * 1e3, bytes / large.seconds * 1e-9, large.processor * 1e3,
             environment.size, small.seconds * 1e6);
    if (large.seconds < 0 || small.seconds < 0) {
      reporter.fail(Status::defect("wrong result of " + std::string(name(kind))));
      return 4;
    }
  }
  return 0;
}

int main(int argc, char **argv) {
  int ranks = argc > 1 ? atoi(argv[1]) : 4;
  int64_t bytes = argc > 2 ? atoll(argv[2]) : 64 << 20;
  for (std::string choice : {"shm", "gloo"}) {
    if (argc > 3 && choice != argv[3])
      continue;
    setenv("CLEAVE_COMM", choice.c_str(), 1);
    auto outcome = launch::launchLocal(
        ranks, {}, [&](const launch::RankEnvironment &environment, launch::StepReporter &reporter) {
          return benchRank(environment, reporter, bytes);
        });
    if (!outcome || outcome->exitCode) {
      fprintf(stderr, "%s\n",
              outcome ? outcome->message.c_str() : outcome.status().message().c_str());
      return 1;
    }
  }
}
