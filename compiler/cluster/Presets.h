// Presets: the clusters that Cleave knows by name, and `local-cpu`, which is measured.
#pragma once

#include "compiler/cluster/Cluster.h"

namespace cleave::cluster {

// The names that findCluster knows besides files, sorted; `local-cpu` is one.
std::vector<std::string> presetNames();

// A file if there is one of that path, else a preset (presets/NAME.json, built in). `local-cpu`
// comes from localCpuFile(), and is measured (under a second) and stored there if that is missing
// or unreadable.
Result<Cluster> findCluster(const std::string &nameOrPath);

// $XDG_CACHE_HOME/cleave/local-cpu.json, or under ~/.cache; empty if neither variable is set.
std::string localCpuFile();

} // namespace cleave::cluster
