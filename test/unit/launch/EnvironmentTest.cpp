// Detection of jobs that torchrun, mpirun or Slurm has started.
#include "runtime/launch/Launch.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <unistd.h>
#include <vector>

using namespace cleave;
using namespace cleave::launch;

// Sets the given launcher variables and unsets all others during its lifetime.
class Variables {
public:
  using Values = std::map<std::string, std::string>;
  explicit Variables(Values values) {
    for (const char *name :
         {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
          "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "SLURM_PROCID",
          "SLURM_STEP_NUM_TASKS", "TORCHELASTIC_USE_AGENT_STORE", "TORCHELASTIC_RUN_ID",
          "CLEAVE_JOB_SECRET"})
      unsetenv(name);
    for (auto &[name, value] : values)
      setenv(name.c_str(), value.c_str(), 1);
    names = std::move(values);
  }
  Variables(const Variables &) = delete;
  ~Variables() {
    for (auto &[name, value] : names)
      unsetenv(name.c_str());
  }

private:
  std::map<std::string, std::string> names;
};

TEST_CASE("nothing is detected without an outer launcher, or in a Slurm batch script") {
  Variables variables({{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}});
  auto found = detectRankEnvironment();
  REQUIRE(found);
  CHECK_FALSE(found->has_value());
}

TEST_CASE("torchrun's variables are read, and its agent's port is not used") {
  Variables variables({{"RANK", "5"},
                       {"WORLD_SIZE", "8"},
                       {"LOCAL_RANK", "1"},
                       {"LOCAL_WORLD_SIZE", "4"},
                       {"MASTER_ADDR", "node7"},
                       {"MASTER_PORT", "29400"},
                       {"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  auto found = detectRankEnvironment();
  REQUIRE(found);
  REQUIRE(found->has_value());
  RankEnvironment &environment = **found;
  CHECK(environment.rank == 5);
  CHECK(environment.size == 8);
  CHECK(environment.localRank == 1);
  CHECK(environment.localSize == 4);
  CHECK(environment.masterAddress == "node7");
  CHECK(environment.masterPort == 29401);
  CHECK(environment.launcher == "torchrun");
}

TEST_CASE("mpirun on one machine needs no address") {
  Variables variables({{"OMPI_COMM_WORLD_RANK", "1"},
                       {"OMPI_COMM_WORLD_SIZE", "2"},
                       {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                       {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  auto found = detectRankEnvironment();
  REQUIRE(found);
  CHECK((*found)->masterAddress == "127.0.0.1");
  CHECK((*found)->masterPort > 1024);
}

TEST_CASE("mpirun on several machines requires the address") {
  Variables variables({{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"MPI_LOCALNRANKS", "2"}});
  auto found = detectRankEnvironment();
  CHECK(found.status().message().find("set MASTER_ADDR") != std::string::npos);
}

TEST_CASE("rank 0 runs on Slurm's first node") {
  for (auto [list, first] : std::map<std::string, std::string>{
           {"gpu[003-005,9],x1", "gpu003"}, {"a,b", "a"}, {"n[7]", "n7"}, {"one", "one"}}) {
    Variables variables({{"SLURM_PROCID", "3"},
                         {"SLURM_STEP_NUM_TASKS", "4"},
                         {"SLURM_LOCALID", "1"},
                         {"SLURM_STEP_NODELIST", list}});
    auto found = detectRankEnvironment();
    REQUIRE(found);
    CHECK((*found)->masterAddress == first);
    CHECK((*found)->localRank == 1);
  }
}

TEST_CASE("the number of ranks per node comes from Slurm, also if nodes have different numbers") {
  for (auto [node, ranks] : std::map<std::string, int>{{"0", 4}, {"1", 4}, {"2", 3}, {"7", 11}}) {
    Variables variables({{"SLURM_PROCID", "3"},
                         {"SLURM_STEP_NUM_TASKS", "11"},
                         {"SLURM_STEP_NODELIST", "n[1-3]"},
                         {"SLURM_STEP_TASKS_PER_NODE", "4(x2),3"},
                         {"SLURM_NODEID", node}});
    auto found = detectRankEnvironment();
    REQUIRE(found);
    CHECK((*found)->localSize == ranks);
  }
}

TEST_CASE("contradictory variables are rejected by name") {
  {
    Variables variables(Variables::Values{{"WORLD_SIZE", "2"}});
    CHECK(detectRankEnvironment().status().message().find("expected RANK beside it") !=
          std::string::npos);
  }
  {
    Variables variables({{"RANK", "2"}, {"WORLD_SIZE", "2"}});
    CHECK(detectRankEnvironment().status().message() ==
          "found RANK=2 with WORLD_SIZE=2, expected a smaller rank");
  }
  Variables variables({{"RANK", "one"}, {"WORLD_SIZE", "2"}});
  CHECK(detectRankEnvironment().status().message() ==
        "found RANK=one, expected a number from 0 to 1000000");
}

static comm::JobSecret secretWith(Variables::Values more) {
  more.insert({{"RANK", "0"}, {"WORLD_SIZE", "1"}});
  Variables variables(std::move(more));
  auto found = detectRankEnvironment();
  REQUIRE(found);
  return (*found)->secret;
}

TEST_CASE("the secret of a job is the user's, or follows from the job's name") {
  const char *name = "TORCHELASTIC_RUN_ID", *secret = "CLEAVE_JOB_SECRET";
  comm::JobSecret a = secretWith({{name, "a"}}),
                  chosen = secretWith({{secret, "sixteen letters!"}});
  CHECK(a.isSet());
  CHECK(a.bytes == secretWith({{name, "a"}}).bytes);
  CHECK(a.bytes != secretWith({{name, "b"}}).bytes);
  CHECK(chosen.bytes == secretWith({{name, "a"}, {secret, "sixteen letters!"}}).bytes);
  CHECK(chosen.bytes != secretWith({{secret, "sixteen letters?"}}).bytes);
  CHECK(chosen.bytes != secretWith({{name, "sixteen letters!"}}).bytes);
  Variables variables({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {secret, "fifteen letters"}});
  CHECK(detectRankEnvironment().status().message() ==
        "found CLEAVE_JOB_SECRET with 15 characters, expected at least 16, such as the output of "
        "'openssl rand -hex 32'");
}

TEST_CASE("every local launch has a secret of its own") {
  std::vector<std::string> seen;
  for (int job = 0; job < 2; ++job) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    auto outcome = launchLocal(1, {}, [&](const RankEnvironment &environment, StepReporter &) {
      const auto &bytes = environment.secret.bytes;
      return write(ends[1], bytes.data(), bytes.size()) == ssize_t(bytes.size()) ? 0 : 1;
    });
    REQUIRE(outcome);
    CHECK(outcome->exitCode == 0);
    std::string secret(32, '\0');
    CHECK(read(ends[0], secret.data(), secret.size()) == 32);
    seen.push_back(secret);
    close(ends[0]);
    close(ends[1]);
  }
  CHECK(seen[0] != seen[1]);
  CHECK(seen[0] != std::string(32, '\0'));
}
