// Reads the environment variables of torchrun, mpirun and Slurm. See Launch.h.
#include "runtime/launch/Launch.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace cleave::launch {
namespace {

const char *variable(const char *name) {
  const char *value = std::getenv(name);
  return value && *value ? value : nullptr;
}

// Reads a non-negative number; does not change `value` if the variable is not set.
Status readNumber(const char *name, int &value) {
  const char *text = variable(name);
  if (!text)
    return Status::ok();
  char *end = nullptr;
  long number = std::strtol(text, &end, 10);
  if (*end || number < 0 || number > 1'000'000)
    return Status::userError("found ", name, "=", text, ", expected a number from 0 to 1000000");
  value = static_cast<int>(number);
  return Status::ok();
}

// The environment variables of a launcher; `present` identifies it.
struct Launcher {
  const char *name, *present, *rank, *size, *localRank, *localSize;
};

constexpr Launcher kLaunchers[] = {
    {"torchrun", "WORLD_SIZE", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    // Slurm's own PMI sets PMI_SIZE, too, but not the other variables.
    {"mpirun", "MPI_LOCALNRANKS", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    // Set only inside srun: the batch script has SLURM_NTASKS, too, but is not a task.
    {"slurm", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID",
     nullptr}, // local size: ranksOfNode
};

// The number of ranks on node number `node` of a Slurm step. `2(x3),1` stands for three nodes with
// two ranks and one node with one rank. Nothing if the text has no entry for the node.
std::optional<int> ranksOfNode(const std::string &text, int node) {
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    int ranks = 0, nodes = 1;
    if (std::sscanf(text.substr(at, end - at).c_str(), "%d(x%d)", &ranks, &nodes) < 1 || ranks < 1)
      return std::nullopt;
    if ((node -= nodes) < 0)
      return ranks;
    at = end + 1;
  }
  return std::nullopt;
}

// `node[03-05,9],other` -> `node03`.
std::string firstHost(const std::string &list) {
  size_t bracket = list.find('['), comma = list.find(',');
  if (bracket == std::string::npos || comma < bracket)
    return list.substr(0, comma);
  size_t end = list.find_first_of("-,]", bracket);
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1);
}

// The port of a job that sets none: a hash of its name, so that two jobs on a machine rarely
// collide.
int portOf(const std::string &job) {
  uint32_t hash = 2166136261u;
  for (char c : job)
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return 29600 + static_cast<int>(hash % 2000);
}

std::string jobName() {
  for (const char *name : {"TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid",
                           "PMI_JOBID", "SLURM_JOB_ID"})
    if (const char *value = variable(name)) {
      const char *step = variable("SLURM_STEP_ID");
      return std::string(value) + (step ? std::string(".") + step : "");
    }
  return "cleave";
}

// The secret that the user has set, or one derived from the job's name, which keeps two jobs apart,
// but not strangers who know or guess the name.
Status findSecret(RankEnvironment &environment) {
  const char *text = variable("CLEAVE_JOB_SECRET");
  if (text && std::string_view(text).size() < 16)
    return Status::userError("found CLEAVE_JOB_SECRET with ", std::string_view(text).size(),
                             " characters, expected at least 16, such as the output of "
                             "'openssl rand -hex 32'");
  environment.secret = text ? comm::JobSecret::of(concat("secret ", text))
                            : comm::JobSecret::of(concat("job ", environment.job));
  return Status::ok();
}

Status findMaster(RankEnvironment &environment) {
  environment.job = jobName();
  if (const char *address = variable("MASTER_ADDR"))
    environment.masterAddress = address;
  else if (const char *nodes = variable("SLURM_STEP_NODELIST");
           nodes && environment.launcher == "slurm")
    environment.masterAddress = firstHost(nodes);
  else if (environment.size > environment.localSize)
    return Status::userError(
        "rank ", environment.rank, " of ", environment.size, " (", environment.launcher,
        ") does not know the address of rank 0; set MASTER_ADDR and MASTER_PORT");
  environment.masterPort = portOf(environment.job);
  CLEAVE_TRY(readNumber("MASTER_PORT", environment.masterPort));
  // MASTER_PORT is taken by torchrun's agent.
  const char *agent = variable("TORCHELASTIC_USE_AGENT_STORE");
  if (agent && agent == std::string("True"))
    ++environment.masterPort;
  return Status::ok();
}

} // namespace

Result<std::optional<RankEnvironment>> detectRankEnvironment() {
  for (const Launcher &launcher : kLaunchers) {
    if (!variable(launcher.present))
      continue;
    if (!variable(launcher.rank))
      return Status::userError("found ", launcher.present, " in the environment, expected ",
                               launcher.rank,
                               " beside it (unset both to start the ranks on this machine)");
    RankEnvironment environment;
    environment.launcher = launcher.name;
    CLEAVE_TRY(readNumber(launcher.rank, environment.rank));
    CLEAVE_TRY(readNumber(launcher.size, environment.size));
    environment.localRank = environment.rank;
    environment.localSize = environment.size;
    CLEAVE_TRY(readNumber(launcher.localRank, environment.localRank));
    if (launcher.localSize) {
      CLEAVE_TRY(readNumber(launcher.localSize, environment.localSize));
    } else if (const char *tasks = variable("SLURM_STEP_TASKS_PER_NODE")) {
      int node = 0;
      CLEAVE_TRY(readNumber("SLURM_NODEID", node));
      environment.localSize = ranksOfNode(tasks, node).value_or(environment.size);
    }
    if (environment.rank >= environment.size)
      return Status::userError("found ", launcher.rank, "=", environment.rank, " with ",
                               launcher.size, "=", environment.size, ", expected a smaller rank");
    CLEAVE_TRY(readNumber("TORCHELASTIC_RESTART_COUNT", environment.restarts));
    CLEAVE_TRY(findMaster(environment));
    CLEAVE_TRY(findSecret(environment));
    return std::optional<RankEnvironment>(environment);
  }
  return std::optional<RankEnvironment>();
}

} // namespace cleave::launch
