// What a save folder contains besides the checkpoint that is being written. See SaveFolder.h and
// FolderLock.h.
#include "runtime/checkpoint/SaveFolder.h"

#include "runtime/base/FileWriter.h"
#include "runtime/checkpoint/Best.h"
#include "runtime/checkpoint/Index.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace cleave::checkpoint {

namespace fs = std::filesystem;

Status systemError(const std::string &what) {
  return Status::userError("could not ", what, ": ", strerror(errno));
}

Status createFolder(const fs::path &directory) {
  std::error_code error;
  bool isNew = fs::create_directories(directory, error);
  if (error)
    return Status::userError("could not create the folder ", directory.string(), ": ",
                             error.message());
  fs::path absolute = fs::absolute(directory, error).lexically_normal();
  if (absolute.filename().empty()) // `saved/`
    absolute = absolute.parent_path();
  return isNew && !error ? syncFolder(absolute.parent_path().string()) : Status::ok();
}

void sweepTemporaries(const fs::path &directory) {
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(directory, ignored)) {
    std::string name = entry.path().filename();
    if (name.starts_with(".step-") && name.ends_with(".tmp"))
      fs::remove_all(entry.path(), ignored);
  }
}

Status publish(const fs::path &temporary, const fs::path &final) {
  auto moved = [](const fs::path &from, const fs::path &to) {
    return rename(from.c_str(), to.c_str()) == 0;
  };
  std::error_code ignored;
  if (!moved(temporary, final)) {
    if (errno != EEXIST && errno != ENOTEMPTY)
      return systemError("rename " + temporary.string() + " to " + final.string());
    if (renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, final.c_str(), RENAME_EXCHANGE) != 0) {
      // Not possible on every file system; a crash between the two calls loses the older of both.
      fs::path replaced = temporary.parent_path() / (".step-replaced.tmp");
      fs::remove_all(replaced, ignored);
      if (!moved(final, replaced) || !moved(temporary, final))
        return systemError("replace " + final.string());
      fs::remove_all(replaced, ignored);
    }
    fs::remove_all(temporary, ignored); // after an exchange, the old checkpoint
  }
  return syncFolder(final.parent_path().string());
}

// Removes a checkpoint such that it is never seen in part.
static void removeStep(const fs::path &step) {
  fs::path hidden = step.parent_path() / ("." + step.filename().string() + ".removed.tmp");
  std::error_code ignored;
  fs::remove_all(hidden, ignored);
  fs::rename(step, hidden, ignored);
  fs::remove_all(hidden, ignored);
}

void removeOld(const fs::path &directory, const fs::path &current, int keep) {
  std::vector<fs::path> steps = completeSteps(directory);
  while (!steps.empty() && steps.back().filename() != current.filename()) {
    removeStep(steps.back());
    steps.pop_back();
  }
  const fs::path *usable = newestUsable(steps);
  const std::optional<Best> best = bestIn(directory);
  for (size_t i = 0; i + static_cast<size_t>(std::max(1, keep)) < steps.size(); ++i)
    if (&steps[i] != usable && !(best && steps[i].filename() == folderOfStep(best->step)))
      removeStep(steps[i]);
}

Status checkSaveFolder(const std::string &directory, const std::string &resumed) {
  CLEAVE_TRY(createFolder(directory));
  if (access(directory.c_str(), W_OK | X_OK) != 0)
    return systemError("write into the folder " + directory);
  std::vector<fs::path> steps = completeSteps(directory);
  const fs::path *newest = newestUsable(steps);
  std::error_code error;
  if (!newest || (!resumed.empty() && fs::equivalent(*newest, resumed, error)))
    return Status::ok();
  return Status::userError("'", newest->string(),
                           "' is the checkpoint of another run and would be lost; continue it "
                           "(--resume), save to another folder, or remove it");
}

std::string pathOf(const std::string &directory, int64_t step) {
  return fs::path(directory) / folderOfStep(step);
}

bool isIn(const Checkpoint &checkpoint, const std::string &directory) {
  std::error_code error;
  return fs::equivalent(fs::path(checkpoint.path()).parent_path(), directory, error);
}

} // namespace cleave::checkpoint
