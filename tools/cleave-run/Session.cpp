#include "tools/cleave-run/Session.h"

#include "tools/cleave-run/Gather.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <thread>

namespace cleave::run {

Status Session::join() {
  communication_.timeout = std::chrono::seconds(options_.timeoutSeconds);
  CLEAVE_TRY_ASSIGN(world_, launch::joinWorld(environment_, communication_));
  std::vector<int> ranks(static_cast<size_t>(environment_.size));
  std::iota(ranks.begin(), ranks.end(), 0);
  CLEAVE_TRY_ASSIGN(everyone_, world_->connect(ranks));
  barrier_ = std::make_unique<comm::PatientBarrier>(
      *world_, *everyone_, communication_.timeout,
      [this](uint64_t cpuTime) { reporter_.cpuTime(cpuTime); });
  reporter_.place(launch::Place::Loading);
  return Status::ok();
}

int Session::threads() const {
  const int cores = std::max(1, int(std::thread::hardware_concurrency()));
  return options_.threads ? options_.threads : std::max(1, cores / environment_.localSize);
}

Status Session::agreeAfter(const std::string &doing, const Intent &own) {
  CLEAVE_TRY(barrier_->wait(doing));
  isJoint_ = true;
  CLEAVE_TRY(agreeOnRun(*everyone_, own));
  isJoint_ = false;
  return Status::ok();
}

Status Session::described(const Status &failure) const {
  if (environment_.launcher == "cleave-run" || isJoint_) // its launcher adds rank and place
    return failure;
  launch::RankReport report = reporter_.report(environment_.rank);
  return failure.withContext(
      concat("rank ", report.rank, ", ", launch::placeText(report.place, report.step)));
}

void Session::note(const std::vector<std::string> &notes) const {
  for (const std::string &note : notes)
    if (isFirst() && !options_.quiet)
      std::fprintf(stderr, "cleave-run: note: %s\n", note.c_str());
}

void Session::warn(const std::string &text) const {
  if (isFirst() && !text.empty() && !options_.quiet)
    std::fprintf(stderr, "cleave-run: warning: %s\n", text.c_str());
}

Status Session::printFromAll(const char *title, const std::string &text) const {
  CLEAVE_TRY_ASSIGN(auto texts, gatherStrings(*everyone_, text));
  for (size_t rank = 0; rank < texts.size(); ++rank)
    std::printf("%s%zu\n%s", title, rank, texts[rank].c_str());
  std::fflush(stdout);
  return Status::ok();
}

} // namespace cleave::run
