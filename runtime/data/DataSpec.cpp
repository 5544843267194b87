// See DataSpec.h.
#include "runtime/data/DataSpec.h"

#include "runtime/data/Sources.h"

#include <filesystem>
#include <glob.h>

namespace cleave::data {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string &path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

Result<std::vector<std::string>> filesOf(const std::string &path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return Status::userError("--data: '", path, "' is a folder, expected files, for example '",
                             (fs::path(path) / "*.npz").string(), "' in quotes");
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

} // namespace

Result<DataSpec> readSpec(const std::string &text, const std::vector<InputDescription> &inputs) {
  DataSpec spec;
  std::string path = text;
  if (size_t equals = text.find('='); equals != std::string::npos) {
    std::string name = text.substr(0, equals);
    for (const InputDescription &input : inputs)
      if (input.name == name)
        spec.input = &input;
    if (!spec.input && !exists(text))
      return Status::userError("found --data ", text, ", but the model has no input `", name,
                               "`; its inputs are ",
                               listNames(inputs, [](auto &input) { return input.name; }));
    if (spec.input)
      path = text.substr(equals + 1);
  }
  CLEAVE_TRY_ASSIGN(spec.files, filesOf(path));
  return spec;
}

} // namespace cleave::data
