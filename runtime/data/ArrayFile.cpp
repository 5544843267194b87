// Choosing the reader, and what all formats share.
#include "runtime/data/ArrayFile.h"

#include "runtime/data/ArrayFileBuilder.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace cleave::data {

int64_t ArrayView::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

int64_t ArrayView::bytes() const { return elements() * byteSize(dtype); }

const ArrayView *ArrayFile::find(const std::string &name) const {
  for (const ArrayView &array : arrays_)
    if (array.name == name)
      return &array;
  return nullptr;
}

Result<std::shared_ptr<const ArrayFile>> ArrayFile::open(const std::string &path) {
  auto file = MappedFile::open(path);
  CLEAVE_TRY(file.status());
  ArrayFileBuilder builder(path);
  builder.keep(*file);
  std::filesystem::path name(path);
  std::string ending = name.extension();
  Status status;
  if (ending == ".npz")
    status = readNpz(builder, **file);
  else if (ending == ".npy")
    status = readNpy(builder, **file, name.stem());
  else if (ending == ".safetensors")
    status = readSafetensors(builder, **file);
  else
    return Status::userError("found " + path +
                             ", expected a file that ends in .npz, .npy or .safetensors");
  CLEAVE_TRY(status.withContext(path));
  return builder.finish();
}

static Status writeAll(int descriptor, const void *data, size_t bytes) {
  for (size_t written = 0; written < bytes;) {
    ssize_t now = ::write(descriptor, static_cast<const char *>(data) + written, bytes - written);
    if (now < 0 && errno == EINTR)
      continue;
    if (now <= 0)
      return Status::userError(strerror(errno));
    written += now;
  }
  return Status::ok();
}

Status writeParts(const std::string &path,
                  const std::vector<std::pair<const void *, size_t>> &parts) {
  std::string temporary = path + ".tmp";
  int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return Status::userError("could not write " + temporary + ": " + strerror(errno));
  Status status;
  for (auto [data, bytes] : parts)
    if (status)
      status = writeAll(descriptor, data, bytes);
  if (status && fsync(descriptor) != 0)
    status = Status::userError(strerror(errno));
  close(descriptor);
  if (status && rename(temporary.c_str(), path.c_str()) != 0)
    status = Status::userError(strerror(errno));
  if (!status)
    unlink(temporary.c_str());
  return status.withContext("could not write " + path);
}

} // namespace cleave::data
