// Presets: clusters by name, built in or measured (`local-cpu`).
#pragma once

#include "compiler/cluster/Cluster.h"

namespace cleave::cluster {

// The name of this machine.
inline constexpr char kLocalCpu[] = "local-cpu";

// The names that findCluster accepts besides files, sorted, with `local-cpu`.
std::vector<std::string> presetNames();

// Reads the file if the path exists, else the preset of that name (presets/NAME.json, built in).
// `local-cpu` is read from localCpuFile(); if that is missing or malformed, it is measured (in less
// than a second) and written there. A user error lists the known names.
Result<Cluster> findCluster(const std::string &nameOrPath);

// $XDG_CACHE_HOME/cleave/local-cpu.json, by default in ~/.cache/cleave; empty if neither
// XDG_CACHE_HOME nor HOME is set.
std::string localCpuFile();

} // namespace cleave::cluster
