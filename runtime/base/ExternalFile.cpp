// See ExternalFile.h.
#include "runtime/base/ExternalFile.h"

#include <algorithm>
#include <filesystem>

namespace cleave {

namespace fs = std::filesystem;

// Whether the path lies in the folder or below it; both are without links.
static bool isBelow(const fs::path &path, const fs::path &folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

Result<std::string> findExternalFile(const std::string &modelPath, const std::string &location) {
  fs::path relative(location);
  if (relative.is_absolute() || std::find(relative.begin(), relative.end(), "..") != relative.end())
    return Status::userError("lies outside the model's folder; move it there and export again");
  fs::path folder = fs::path(modelPath).parent_path(), path = folder / relative;
  std::error_code error;
  if (folder.empty())
    folder = ".";
  fs::path target = fs::canonical(path, error);
  if (error)
    return path.string(); // does not exist: whoever opens it says why
  fs::path named = fs::canonical(folder, error);
  fs::path stored = error ? fs::path() : fs::canonical(modelPath, error).parent_path();
  bool isInside = isBelow(target, named) || (!error && isBelow(target, stored));
  if (!isInside)
    return Status::userError("is a link to '", target.string(),
                             "', outside the model's folder; replace the link by the file");
  return path.string();
}

} // namespace cleave
