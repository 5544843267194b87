// Advisory locks of open files: how one process learns that another one still uses a file.
#pragma once

namespace cleave {

// The result of lockFile().
enum class FileLock {
  Held,        // by this process
  Busy,        // held by another open file, of this process or another one
  Unsupported, // the file system has no locks
};

// Locks an open file exclusively, without waiting (F_OFD_SETLK). `descriptor` is open for writing.
// The lock ends when the last copy of the descriptor is closed, also by the death of its process.
// On NFS it holds across hosts, as reliably as the server's locks do.
FileLock lockFile(int descriptor);

// Whether the open file is still the one at `path`: not removed or replaced in the meantime.
bool isFileAt(int descriptor, const char *path);

} // namespace cleave
