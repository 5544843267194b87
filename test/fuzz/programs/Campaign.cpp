#include "test/fuzz/programs/Campaign.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cleave::fuzz {

namespace {

constexpr unsigned kCaseSeconds = 600; // a case that runs longer hangs
constexpr uint64_t kBatch = 25;        // cases that one child runs

using Clock = std::chrono::steady_clock;

void copyText(char *to, size_t room, const std::string &text) {
  size_t length = std::min(room - 1, text.size());
  std::memcpy(to, text.data(), length);
  to[length] = 0;
}

// The random numbers of a seed, more than a case needs.
std::vector<uint32_t> numbersOf(uint64_t seed) {
  Choices choices(seed);
  for (int i = 0; i < 8192; ++i)
    choices.below(UINT32_MAX);
  return choices.made();
}

class Worker {
public:
  Worker(const CampaignOptions &options, Experiment experiment, int number, Clock::time_point begin)
      : options_(options), experiment_(experiment), number_(number), begin_(begin),
        report_(*sharedReport()) {}

  // Adds the counts to `totals`; returns the number of failures.
  int run(std::array<int64_t, Report::kCounts> &totals) {
    uint64_t next = options_.first + static_cast<uint64_t>(number_);
    const auto step = static_cast<uint64_t>(options_.jobs);
    int failures = 0;
    while (!isOver(next) && failures < options_.keep) {
      report_.counts.fill(0);
      uint64_t end = next + kBatch * step;
      bool passed = runGuarded(report_, [&] {
        for (uint64_t seed = next; seed < end && !isOver(seed) && !report_.failed; seed += step) {
          report_.seed = seed;
          Choices choices(seed);
          alarm(kCaseSeconds);
          experiment_(choices, report_);
        }
      });
      for (size_t i = 0; i < totals.size(); ++i)
        totals[i] += report_.counts[i];
      next = passed ? end : report_.seed + step;
      if (!passed) {
        ++failures;
        keep(report_.seed);
      }
    }
    return failures;
  }

private:
  bool isOver(uint64_t seed) const {
    if (options_.cases && seed >= options_.first + options_.cases)
      return true;
    return options_.seconds > 0 &&
           std::chrono::duration<double>(Clock::now() - begin_).count() > options_.seconds;
  }

  bool fails(const std::vector<uint32_t> &numbers) {
    return !runGuarded(report_, [&] {
      Choices choices(numbers);
      alarm(kCaseSeconds);
      experiment_(choices, report_);
    });
  }

  // Shrinks and writes the case of a seed.
  void keep(uint64_t seed) {
    std::string message = report_.message, text = report_.text;
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), message.c_str());
    std::fflush(stdout);
    std::vector<uint32_t> numbers = numbersOf(seed);
    if (options_.shrinks > 0 && fails(numbers)) {
      numbers = shrink(
          numbers, [&](const auto &candidate) { return fails(candidate); }, options_.shrinks);
      fails(numbers);
      message = report_.message;
      text = report_.text;
    }
    std::string path = options_.out + "/" + options_.name + "-" + std::to_string(seed) + ".mlir";
    std::string commented = message;
    for (size_t at = 0; (at = commented.find('\n', at)) != std::string::npos; at += 4)
      commented.replace(at, 1, "\n// ");
    std::filesystem::create_directories(options_.out);
    std::ofstream(path) << text << "\n// " << commented << "\n";
    std::printf("  the smaller case is in %s: %s\n", path.c_str(), message.c_str());
    std::fflush(stdout);
  }

  const CampaignOptions &options_;
  Experiment experiment_;
  int number_;
  Clock::time_point begin_;
  Report &report_;
};

struct Totals {
  std::array<int64_t, Report::kCounts> counts{};
  int failures = 0;
};

} // namespace

void Report::begin(const std::string &caseText) { copyText(text, sizeof text, caseText); }

void Report::fail(const std::string &what) {
  failed = true;
  copyText(message, sizeof message, what);
}

Report *sharedReport() {
  void *memory =
      mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Report *>(memory);
}

bool runGuarded(Report &report, const std::function<void()> &work) {
  report.failed = false;
  report.message[0] = 0;
  std::fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    work();
    std::exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) {
    report.fail("no process could be started");
    return false;
  }
  if (WIFSIGNALED(status))
    report.fail(WTERMSIG(status) == SIGALRM
                    ? "hangs: runs longer than " + std::to_string(kCaseSeconds) + " s"
                    : std::string("dies: ") + strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status) != 0)
    report.fail("exits with " + std::to_string(WEXITSTATUS(status)));
  return !report.failed;
}

int runCampaign(const CampaignOptions &options, Experiment experiment) {
  auto begin = Clock::now();
  void *memory = mmap(nullptr, sizeof(Totals) * static_cast<size_t>(options.jobs),
                      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto *totals = static_cast<Totals *>(memory);
  std::vector<pid_t> workers;
  for (int job = 0; job < options.jobs; ++job) {
    pid_t worker = fork();
    if (worker == 0) {
      totals[job].failures = Worker(options, experiment, job, begin).run(totals[job].counts);
      std::exit(0);
    }
    workers.push_back(worker);
  }
  for (pid_t worker : workers)
    waitpid(worker, nullptr, 0);
  Totals all;
  for (int job = 0; job < options.jobs; ++job) {
    all.failures += totals[job].failures;
    for (size_t i = 0; i < all.counts.size(); ++i)
      all.counts[i] += totals[job].counts[i];
  }
  munmap(memory, sizeof(Totals) * static_cast<size_t>(options.jobs));
  std::printf("%s from seed %llu:", options.name.c_str(),
              static_cast<unsigned long long>(options.first));
  for (size_t i = 0; i < options.counted.size(); ++i)
    std::printf(" %lld %s,", static_cast<long long>(all.counts[i]), options.counted[i]);
  std::printf(" %d failures, %.0f s\n", all.failures,
              std::chrono::duration<double>(Clock::now() - begin).count());
  return all.failures;
}

} // namespace cleave::fuzz
