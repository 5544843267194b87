// See DataSpec.h.
#include "runtime/data/DataSpec.h"

#include "runtime/base/Nearest.h"
#include "runtime/data/Sources.h"

#include <filesystem>
#include <glob.h>
#include <regex>

namespace cleave::data {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string &path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// The paths that `{A..B}` in a pattern stands for; the pattern itself without it.
Result<std::vector<std::string>> rangesOf(const std::string &pattern) {
  constexpr size_t kMostPaths = 1'000'000;
  std::vector<std::string> paths{""};
  std::regex range("\\{([0-9]{1,9})\\.\\.([0-9]{1,9})\\}");
  auto rest = pattern.cbegin();
  for (std::sregex_iterator found(pattern.begin(), pattern.end(), range), end; found != end;
       ++found) {
    const std::string first = (*found)[1], between(rest, (*found)[0].first);
    const int64_t begin = std::stoll(first), last = std::stoll((*found)[2]);
    if (last < begin || uint64_t(last - begin + 1) > kMostPaths / paths.size())
      return Status::userError("--data: found '", (*found)[0].str(), "' in '", pattern,
                               "', expected a range of at most ", kMostPaths, " files");
    std::vector<std::string> longer;
    for (const std::string &path : paths)
      for (int64_t number = begin; number <= last; ++number) {
        const std::string digits = std::to_string(number);
        const size_t zeros = first.size() - std::min(first.size(), digits.size());
        longer.push_back(concat(path, between, std::string(zeros, '0'), digits));
      }
    paths = std::move(longer);
    rest = (*found)[0].second;
  }
  for (std::string &path : paths)
    path.append(rest, pattern.cend());
  return paths;
}

Result<std::vector<std::string>> matches(const std::string &path) {
  if (exists(path) || path.find_first_of("*?[") == std::string::npos)
    return std::vector<std::string>{path};
  glob_t found{};
  int code = ::glob(path.c_str(), 0, nullptr, &found); // sorted
  std::vector<std::string> files(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (code != 0 || files.empty())
    return Status::userError("--data: no file matches '", path, "'");
  return files;
}

Result<std::vector<std::string>> filesOf(const std::string &path) {
  if (exists(path))
    return std::vector<std::string>{path};
  CLEAVE_TRY_ASSIGN(std::vector<std::string> ranges, rangesOf(path));
  std::vector<std::string> files;
  for (const std::string &range : ranges) {
    CLEAVE_TRY_ASSIGN(std::vector<std::string> found, matches(range));
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

} // namespace

Result<DataSpec> readSpec(const std::string &text, const std::vector<InputDescription> &inputs) {
  DataSpec spec;
  std::string path = text;
  if (size_t equals = text.find('='); equals != std::string::npos) {
    std::string name = text.substr(0, equals);
    std::vector<std::string> names;
    for (const InputDescription &input : inputs) {
      names.push_back(input.name);
      if (input.name == name)
        spec.input = &input;
    }
    if (!spec.input && !exists(text))
      return Status::userError("found --data ", text, ", but the model has no input `", name, "`",
                               suggestion(name, names));
    if (spec.input)
      path = text.substr(equals + 1);
  }
  CLEAVE_TRY_ASSIGN(spec.files, filesOf(path));
  return spec;
}

} // namespace cleave::data
