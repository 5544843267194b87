// Finding clusters by name and by file.
#include "compiler/cluster/Presets.h"
#include "compiler/cluster/Measure.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace cleave;
using namespace cleave::cluster;

TEST_CASE("every preset is a valid cluster of its name") {
  for (const std::string &name : presetNames()) {
    if (name == "local-cpu")
      continue;
    Result<Cluster> cluster = findCluster(name);
    INFO(name << ": " << cluster.status().message());
    REQUIRE(cluster);
    CHECK(cluster->name == name);
    CHECK(cluster->usableBytes() > 0);
  }
  CHECK(presetNames().size() == 12);
}

TEST_CASE("an unknown cluster is an error that suggests the similar one, or lists all") {
  std::string message = findCluster("h101-node").status().message();
  CHECK(message == "unknown cluster 'h101-node'; did you mean h100-node?");
  message = findCluster("moon").status().message();
  CHECK(message.find("h100-500w-node, h100-node, h200-node, local-cpu") != std::string::npos);
}

TEST_CASE("local-cpu is measured once, kept, and read from then on") {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("cleave-presets-test-" + std::to_string(getpid()));
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  Result<Cluster> first = findCluster("local-cpu");
  INFO(first.status().message());
  REQUIRE(first);
  CHECK(first->compute["f32"].peakFlops > 1e8);
  CHECK(first->memoryBytesPerSecond > 1e8);
  REQUIRE(std::filesystem::exists(localCpuFile()));
  Result<Cluster> second = findCluster("local-cpu");
  CHECK(*second == *first);
  Result<Cluster> byPath = findCluster(localCpuFile());
  CHECK(*byPath == *first);
  std::ofstream(localCpuFile()) << "{}";
  CHECK(findCluster("local-cpu")); // a malformed file is measured again
  std::filesystem::remove_all(folder);
}
