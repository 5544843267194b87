// Selects the reader by the ending of the file name. See ArrayFile.h.
#include "runtime/data/ArrayFile.h"

#include "runtime/base/FileWriter.h"
#include "runtime/data/ArrayFileBuilder.h"

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

std::vector<std::string> ArrayFile::names() const {
  std::vector<std::string> names;
  for (const ArrayView &array : arrays_)
    names.push_back(array.name);
  names.insert(names.end(), skipped_.begin(), skipped_.end());
  return names;
}

uint64_t ReadOptions::machineMemory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
}

Result<std::shared_ptr<const ArrayFile>> ArrayFile::open(const std::string &path,
                                                         const ReadOptions &options) {
  CLEAVE_TRY_ASSIGN(auto file, MappedFile::open(path));
  ArrayFileBuilder builder(path);
  builder.keep(file);
  std::filesystem::path name(path);
  std::string ending = name.extension();
  Status status;
  if (ending == ".npz")
    status = readNpz(builder, *file, options);
  else if (ending == ".npy")
    status = readNpy(builder, *file, name.stem());
  else if (ending == ".safetensors")
    status = readSafetensors(builder, file->data(), file->size());
  else
    return Status::userError("found ", path,
                             ", expected a file that ends in .npz, .npy or .safetensors");
  CLEAVE_TRY(status.withContext(path));
  return builder.finish();
}

Status writeParts(const std::string &path,
                  const std::vector<std::pair<const void *, size_t>> &parts) {
  FileWriter file(path);
  for (auto [data, bytes] : parts)
    CLEAVE_TRY(file.write(data, bytes));
  return file.publish();
}

} // namespace cleave::data
