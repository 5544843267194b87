// The folder that a run saves into. Private to this folder of the sources; its public parts are in
// Checkpoint.h.
#pragma once

#include "runtime/base/Status.h"

#include <filesystem>

namespace cleave::checkpoint {

// `could not WHAT: REASON` with the system's reason, errno.
Status systemError(const std::string &what);

// Creates the folder with its parents, on disk. A user error if that is impossible.
Status createFolder(const std::filesystem::path &directory);

// Removes the temporary folders of interrupted saves. The caller is the only job that saves here.
void sweepTemporaries(const std::filesystem::path &directory);

// Renames a complete temporary folder to `final`, which it replaces, and flushes the folder.
Status publish(const std::filesystem::path &temporary, const std::filesystem::path &final);

// After saving `current`: removes the checkpoints of later steps, and of the others all but the
// newest `keep`, the newest finite one and the best one (Best.h).
void removeOld(const std::filesystem::path &directory, const std::filesystem::path &current,
               int keep);

} // namespace cleave::checkpoint
