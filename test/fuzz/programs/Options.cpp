#include "test/fuzz/programs/Options.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>

namespace cleave::fuzz {

namespace {

std::vector<std::string> filesOf(const std::vector<std::string> &paths) {
  std::vector<std::string> files;
  for (const std::string &path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto &entry : std::filesystem::directory_iterator(path))
      if (entry.path().extension() == ".mlir")
        files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace

int runTool(int argc, char **argv, CampaignOptions &options, Experiment experiment,
            int (*replay)(const std::string &path)) {
  CLI::App app("random " + options.name + " against the interpreter; see test/fuzz/programs");
  std::vector<std::string> files;
  app.add_option("files", files, "cases to replay instead, or folders of them");
  app.add_option("--first", options.first, "first seed");
  app.add_option("--cases", options.cases, "seeds; 0: until the time is over");
  app.add_option("--seconds", options.seconds, "0: no limit");
  app.add_option("--jobs", options.jobs, "processes");
  app.add_option("--keep", options.keep, "failures of one process after which it ends");
  app.add_option("--shrinks", options.shrinks, "runs that make a failing case smaller");
  app.add_option("--out", options.out, "folder for failing cases");
  CLI11_PARSE(app, argc, argv);
  if (files.empty())
    return runCampaign(options, experiment) == 0 ? 0 : 1;
  int failures = 0;
  std::vector<std::string> all = filesOf(files);
  for (const std::string &file : all)
    failures += replay(file);
  std::printf("%zu passed, %d failed\n", all.size() - static_cast<size_t>(failures), failures);
  return failures == 0 ? 0 : 1;
}

} // namespace cleave::fuzz
