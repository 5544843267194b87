// See Describe.h.
#include "tools/cleave-run/Describe.h"

#include "runtime/artifact/Access.h"
#include "runtime/artifact/Enums.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/Modules.h"
#include "runtime/artifact/Programs.h"
#include "runtime/base/Units.h"
#include "runtime/comm/Communicator.h"
#include "runtime/data/DataSpec.h"
#include "tools/cleave-run/Gather.h"

#include <cstdio>
#include <filesystem>
#include <map>
#include <thread>
#include <unistd.h>

namespace cleave::run {
namespace {

namespace fs = std::filesystem;

// Appends `part` behind a separator.
void append(std::string &text, const std::string &part, const char *separator = ", ") {
  text += (text.empty() ? "" : separator) + part;
}

std::string counted(size_t count, const std::string &noun) {
  return concat(count, ' ', noun, count == 1 ? "" : "s");
}

// The number of instructions that one run of the program executes.
size_t instructionsIn(const plan::Program &program) {
  size_t count = 0;
  for (const plan::ScheduleStep &step : program.schedule())
    count += size_t(program.segments(int(step.segment())).instructions_size());
  return count;
}

} // namespace

std::string runLine(const plan::Plan &plan, int ranks, int threads,
                    const executor::Executor &executor) {
  std::string who =
      concat(ranks, " ranks (", artifact::meshOf(plan).str(), ") over ", executor.communication());
  if (ranks == 1)
    who = "1 rank";
  std::string where = concat(", ", counted(size_t(threads), "thread"), " each");
  if (plan.device() != artifact::kCpu)
    where = ranks == 1 ? " on a GPU" : " on GPUs";
  return concat(who, where, "; ", bytesText(executor.memory().allocated), " of arenas on rank 0");
}

std::string crowdText(const plan::Plan &plan, int ranks) {
  const unsigned cores = std::thread::hardware_concurrency(); // 0: unknown
  if (plan.device() != artifact::kCpu || cores == 0 || unsigned(ranks) <= cores)
    return "";
  return concat(ranks, " ranks share ", counted(cores, "core"),
                " of this machine: steps take longer than predicted, which is for a core per rank");
}

std::string planLine(const plan::Plan &plan, const std::string &path) {
  std::string text = concat("plan '", path, "': ");
  if (std::string mesh = artifact::meshOf(plan).str(); !mesh.empty())
    text += "mesh " + mesh + "; ";
  text += counted(instructionsIn(artifact::stepOf(plan, 0)), "instruction") + " a step";
  if (const plan::Program *evaluation = artifact::findProgram(plan, plan::Program::EVALUATION, 0))
    text += concat(", ", instructionsIn(*evaluation), " an evaluation");
  return text + concat(", predicted ", secondsText(plan.predicted().step_seconds()), " a step on ",
                       plan.predicted().cluster(), "; made by ", plan.producer());
}

std::string placeOfRank(const plan::Plan &plan, const launch::RankEnvironment &environment,
                        const std::string &device, int threads,
                        const executor::MemoryNumbers &memory) {
  char host[256] = "?";
  ::gethostname(host, sizeof host - 1);
  std::string runs = plan.device() == artifact::kCpu ? counted(size_t(threads), "thread") : device;
  return concat("process ", ::getpid(), " on ", host, ", started by ", environment.launcher, "; ",
                runs, "; arenas ", bytesText(memory.allocated), ", scratch of libraries ",
                bytesText(memory.library));
}

std::vector<std::string> communicatorLines(const plan::Plan &plan, int rank) {
  const plan::Program &program = artifact::stepOf(plan, rank);
  std::map<std::vector<uint32_t>, std::map<std::string, size_t>> groups; // by axes, then kind
  for (const plan::ScheduleStep &step : program.schedule())
    for (const plan::Instruction &one : program.segments(int(step.segment())).instructions())
      if (one.has_collective()) {
        const plan::Collective &collective = one.collective();
        ++groups[{collective.axes().begin(), collective.axes().end()}]
                [std::string(name(artifact::kindOf(collective)))];
      }
  std::vector<std::string> lines;
  for (const auto &[axes, kinds] : groups) {
    std::string names, ranks, calls;
    size_t sum = 0;
    for (uint32_t axis : axes)
      append(names, plan.mesh(int(axis)).name(), "+");
    for (uint32_t member : artifact::groupOf(plan, uint32_t(rank), axes))
      append(ranks, concat(member));
    for (const auto &[kind, count] : kinds) {
      append(calls, concat(count, ' ', kind));
      sum += count;
    }
    lines.push_back(concat("communicator ", names, " of rank ", rank, ": with ranks ", ranks, "; ",
                           counted(sum, "collective"), " a step (", calls, ")"));
  }
  return lines;
}

std::string memoryLine(const plan::Plan &plan, int rank) {
  const plan::Program &program = artifact::stepOf(plan, rank);
  const std::pair<plan::Role, const char *> kinds[] = {
      {plan::PARAMETER, "parameters"}, {plan::STATE, "states"}, {plan::CONSTANT, "constants"}};
  uint64_t rest = 0;
  for (const plan::Arena &arena : program.arenas())
    rest += arena.bytes();
  std::string text;
  for (const auto &[role, name] : kinds) {
    uint64_t bytes = 0;
    for (const plan::Buffer &buffer : program.buffers())
      bytes += buffer.role() == role ? buffer.bytes() : 0;
    rest -= std::min(rest, bytes);
    append(text, concat(name, ' ', bytesText(bytes)));
  }
  return concat("memory of rank ", rank, ": ", text, ", values of a step ", bytesText(rest));
}

namespace {

std::string fileLine(const std::string &kind, const std::string &path) {
  std::error_code error;
  const uint64_t bytes = fs::file_size(path, error);
  return concat(kind, ": '", path, "'", error ? "" : ", " + bytesText(bytes));
}

// The files of --data or --eval.
Status addDataFiles(std::vector<std::string> &lines, const std::string &kind,
                    const std::vector<std::string> &specs,
                    const std::vector<data::InputDescription> &inputs) {
  constexpr size_t kListed = 10;
  std::vector<std::string> found;
  for (const std::string &text : specs) {
    CLEAVE_TRY_ASSIGN(data::DataSpec spec, data::readSpec(text, inputs));
    for (const std::string &path : spec.files)
      found.push_back(fileLine(spec.input ? concat(kind, " of ", spec.input->name) : kind, path));
  }
  const size_t listed = std::min(found.size(), kListed);
  lines.insert(lines.end(), found.begin(), found.begin() + ptrdiff_t(listed));
  if (found.size() > listed)
    lines.push_back(concat(kind, ": and ", found.size() - listed, " more files"));
  return Status::ok();
}

} // namespace

Result<std::vector<std::string>> fileLines(const plan::Plan &plan, const Options &options,
                                           const std::string &checkpoint) {
  std::vector<std::string> lines;
  const std::string model = options.model.empty() ? plan.source().path() : options.model;
  if (!model.empty())
    lines.push_back(fileLine("model", model));
  if (auto inputs = executor::inputsOf(plan); !inputs.empty()) {
    CLEAVE_TRY(addDataFiles(lines, "data", options.data, inputs));
    CLEAVE_TRY(addDataFiles(lines, "evaluation data", options.eval, inputs));
  }
  if (!checkpoint.empty())
    lines.push_back(fileLine(options.resume.empty() ? "weights" : "checkpoint", checkpoint));
  return lines;
}

void describeRun(const plan::Plan &plan, const Options &options, const Session &session,
                 const RunInputs &inputs, const executor::Executor &executor) {
  const launch::RankEnvironment &environment = session.environment();
  if (session.isFirst() && !options.quiet) {
    std::printf("%s\n", runLine(plan, environment.size, session.threads(), executor).c_str());
    if (std::string summary = inputs.data.summary(); !summary.empty())
      std::printf("%s\n", summary.c_str());
    std::fflush(stdout);
  }
  for (const std::string &warning : inputs.data.warnings())
    session.warn(warning);
  session.warn(crowdText(plan, environment.localSize));
}

Status describeRanks(const plan::Plan &plan, const Options &options, const Session &session,
                     const RunInputs &inputs, const std::string &device,
                     const executor::Executor &executor) {
  const launch::RankEnvironment &environment = session.environment();
  CLEAVE_TRY_ASSIGN(auto places, gatherStrings(session.everyone(),
                                               placeOfRank(plan, environment, device,
                                                           session.threads(), executor.memory())));
  if (!session.isFirst())
    return Status::ok();
  std::string text = planLine(plan, options.plan) + "\n";
  for (size_t rank = 0; rank < places.size(); ++rank)
    text += concat("rank ", rank, ": ", places[rank], "\n");
  for (const std::string &line : communicatorLines(plan, environment.rank))
    text += line + "\n";
  text += memoryLine(plan, environment.rank) + "\n";
  const checkpoint::TensorStore *values = inputs.values();
  CLEAVE_TRY_ASSIGN(auto files, fileLines(plan, options, values ? values->path() : ""));
  for (const std::string &line : files)
    text += line + "\n";
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  return Status::ok();
}

} // namespace cleave::run
