// A cluster comes from a file, a built-in text, or a measurement that is kept in a file.
#include "compiler/cluster/Presets.h"

#include "compiler/cluster/Measure.h"
#include "runtime/base/Nearest.h"
#include "runtime/base/RegularFile.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace cleave::cluster {

// In the generated PresetTexts.cpp: (name, JSON), sorted by name.
std::vector<std::pair<std::string, std::string>> presetTexts();

std::vector<std::string> presetNames() {
  std::vector<std::string> names;
  for (auto &[name, text] : presetTexts())
    names.push_back(name);
  names.insert(std::lower_bound(names.begin(), names.end(), kLocalCpu), kLocalCpu);
  return names;
}

std::string localCpuFile() {
  const char *cache = std::getenv("XDG_CACHE_HOME");
  const char *home = std::getenv("HOME");
  std::filesystem::path folder;
  if (cache && *cache)
    folder = cache;
  else if (home && *home)
    folder = std::filesystem::path(home) / ".cache";
  else
    return "";
  return folder / "cleave" / "local-cpu.json";
}

static Result<Cluster> readFile(const std::string &path) {
  CLEAVE_TRY_ASSIGN(std::string text, readRegularFile(path));
  return fromJson(text).withContext(path);
}

// Writes to a temporary name and renames, since several processes may do this at once. Failures are
// ignored: the next run measures again.
static void keep(const Cluster &cluster, const std::string &path) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  std::string aside = concat(path, ".", std::hash<std::string>()(toJson(cluster)));
  if (!(std::ofstream(aside) << toJson(cluster) << "\n"))
    return;
  std::filesystem::rename(aside, path, error);
}

static Result<Cluster> findLocalCpu() {
  std::string path = localCpuFile();
  if (!path.empty() && std::filesystem::exists(path))
    if (Result<Cluster> kept = readFile(path))
      return kept;
  CLEAVE_TRY_ASSIGN(Cluster measured, measureLocalCpu().withContext("measuring this machine"));
  if (!path.empty())
    keep(measured, path);
  return measured;
}

Result<Cluster> findCluster(const std::string &nameOrPath) {
  if (std::error_code error; std::filesystem::is_regular_file(nameOrPath, error))
    return readFile(nameOrPath);
  if (nameOrPath == kLocalCpu)
    return findLocalCpu();
  for (auto &[name, text] : presetTexts())
    if (name == nameOrPath)
      return fromJson(text);
  return Status::userError("unknown cluster '", nameOrPath, "'",
                           suggestion(nameOrPath, presetNames(), "a cluster file"));
}

} // namespace cleave::cluster
