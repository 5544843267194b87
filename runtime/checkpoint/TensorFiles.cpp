// See TensorFiles.h.
#include "runtime/checkpoint/TensorFiles.h"

#include "runtime/base/MappedFile.h"
#include "runtime/data/ArrayFile.h"
#include "runtime/data/Block.h"

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

namespace cleave::checkpoint {
namespace {

namespace fs = std::filesystem;
constexpr const char *kEnding = ".safetensors";
constexpr const char *kIndexEnding = ".safetensors.index.json";

class FileStore final : public TensorStore {
public:
  explicit FileStore(std::string path) : path_(std::move(path)) {}

  // Adds the tensors of a file: all, or those for which `isWanted` returns true.
  template <typename IsWanted>
  void add(const std::shared_ptr<const data::ArrayFile> &file, IsWanted isWanted) {
    files_.push_back(file);
    for (const data::ArrayView &array : file->arrays())
      if (isWanted(array.name)) {
        arrays_[array.name] = &array;
        infos_[array.name] = {array.dtype, array.shape};
      }
  }

  // Adds further names of tensors, which safetensors' save_model() writes into the metadata of a
  // file: of tied weights it keeps one.
  void addAliases(const std::vector<std::pair<std::string, std::string>> &metadata) {
    for (const auto &[alias, name] : metadata)
      if (auto kept = arrays_.find(name); kept != arrays_.end() && !arrays_.contains(alias)) {
        infos_[alias] = infos_.at(name);
        arrays_[alias] = kept->second;
      }
  }

  const std::string &path() const override { return path_; }
  const std::map<std::string, TensorInfo> &tensors() const override { return infos_; }

  Status read(const std::string &name, DType dtype, const std::vector<int64_t> &globalShape,
              const std::vector<int64_t> &offset, const std::vector<int64_t> &blockShape,
              void *destination) const override {
    auto found = arrays_.find(name);
    if (found == arrays_.end())
      return Status::userError("'", path(), "' has no tensor `", name, "`");
    const data::ArrayView &array = *found->second;
    if (array.shape != globalShape)
      return Status::userError("found tensor `", name, "` of shape ", data::toString(array.shape),
                               " in '", path(), "', expected ", data::toString(globalShape));
    const data::Block block{offset, blockShape},
        whole{std::vector<int64_t>(globalShape.size(), 0), globalShape};
    std::memset(destination, 0, size_t(data::elements(blockShape) * byteSize(dtype)));
    const data::Block part = data::intersection(block, whole);
    if (data::elements(part.shape) == 0)
      return Status::ok();
    Status status = data::copyPart(part, whole, array.dtype, array.data, block, dtype, destination)
                        .withContext(concat("'", path(), "', tensor `", name, "`"));
    releasePages(array.data, size_t(array.bytes()));
    return status;
  }

private:
  std::string path_;
  std::vector<std::shared_ptr<const data::ArrayFile>> files_;
  std::map<std::string, const data::ArrayView *> arrays_;
  std::map<std::string, TensorInfo> infos_;
};

class RenamedStore final : public TensorStore {
public:
  RenamedStore(std::unique_ptr<TensorStore> store, std::map<std::string, std::string> renamed)
      : store_(std::move(store)), renamed_(std::move(renamed)) {
    std::set<std::string> old;
    for (const auto &[to, from] : renamed_) {
      infos_[to] = store_->tensors().at(from);
      old.insert(from);
    }
    for (const auto &[name, info] : store_->tensors())
      if (!old.contains(name))
        infos_.emplace(name, info);
  }

  const std::string &path() const override { return store_->path(); }
  const std::map<std::string, TensorInfo> &tensors() const override { return infos_; }

  Status read(const std::string &name, DType dtype, const std::vector<int64_t> &globalShape,
              const std::vector<int64_t> &offset, const std::vector<int64_t> &blockShape,
              void *destination) const override {
    auto found = renamed_.find(name);
    return store_->read(found == renamed_.end() ? name : found->second, dtype, globalShape, offset,
                        blockShape, destination);
  }

private:
  std::unique_ptr<TensorStore> store_;
  std::map<std::string, std::string> renamed_; // old name by new one
  std::map<std::string, TensorInfo> infos_;
};

// The tensors of each file of an index.
Result<std::map<std::string, std::set<std::string>>> readIndex(const std::string &path) {
  CLEAVE_TRY_ASSIGN(auto mapped, MappedFile::open(path));
  nlohmann::json index = nlohmann::json::parse(mapped->text(), nullptr, /*allow_exceptions=*/false);
  auto map = index.is_object() ? index.find("weight_map") : index.end();
  if (!index.is_object() || map == index.end() || !map->is_object())
    return Status::userError("'", path, "' is damaged or no index, expected {\"weight_map\": {…}}");
  std::map<std::string, std::set<std::string>> files;
  for (const auto &[name, file] : map->items()) {
    std::string text = file.is_string() ? file.get<std::string>() : "";
    if (text.empty() || text.find('/') != std::string::npos || !text.ends_with(kEnding))
      return Status::userError("'", path, "' names no .safetensors file beside it for `", name,
                               "`");
    files[text].insert(name);
  }
  return files;
}

} // namespace

std::string tensorFileIn(const std::string &folder) {
  std::error_code ignored;
  for (const char *ending : {kIndexEnding, kEnding})
    if (fs::path file = fs::path(folder) / (std::string("model") + ending);
        fs::is_regular_file(file, ignored))
      return file;
  return "";
}

bool isTensorFile(const std::string &path) {
  return path.ends_with(kEnding) || path.ends_with(kIndexEnding);
}

Result<std::unique_ptr<TensorStore>>
openTensorFiles(const std::string &path,
                std::vector<std::pair<std::string, std::string>> &metadata) {
  auto store = std::make_unique<FileStore>(path);
  auto keep = [&](const data::ArrayFile &file) {
    metadata.insert(metadata.end(), file.metadata().begin(), file.metadata().end());
  };
  if (path.ends_with(kEnding)) {
    CLEAVE_TRY_ASSIGN(auto file, data::ArrayFile::open(path));
    keep(*file);
    store->add(file, [](const std::string &) { return true; });
    store->addAliases(metadata);
    return std::unique_ptr<TensorStore>(std::move(store));
  }
  CLEAVE_TRY_ASSIGN(auto files, readIndex(path));
  for (const auto &[name, tensors] : files) {
    CLEAVE_TRY_ASSIGN(auto file, data::ArrayFile::open(fs::path(path).parent_path() / name));
    for (const std::string &tensor : tensors)
      if (!file->find(tensor))
        return Status::userError("'", file->path(), "' lacks `", tensor, "`, which '", path,
                                 "' has there; copy the files again");
    keep(*file);
    store->add(file, [&](const std::string &tensor) { return tensors.contains(tensor); });
  }
  store->addAliases(metadata);
  return std::unique_ptr<TensorStore>(std::move(store));
}

std::unique_ptr<TensorStore> withNames(std::unique_ptr<TensorStore> store,
                                       std::map<std::string, std::string> renamed) {
  return std::make_unique<RenamedStore>(std::move(store), std::move(renamed));
}

} // namespace cleave::checkpoint
