// See Weights.h.
#include "runtime/checkpoint/Weights.h"

#include "runtime/base/MappedFile.h"
#include "runtime/data/ArrayFile.h"
#include "runtime/data/Block.h"

#include <cstring>
#include <filesystem>
#include <sstream>

namespace cleave::checkpoint {
namespace {

// The tensors of a safetensors file.
class FileStore final : public TensorStore {
public:
  explicit FileStore(std::shared_ptr<const data::ArrayFile> file) : file_(std::move(file)) {
    for (const data::ArrayView &array : file_->arrays())
      infos_[array.name] = {array.dtype, array.shape};
  }

  const std::string &path() const override { return file_->path(); }
  const std::map<std::string, TensorInfo> &tensors() const override { return infos_; }

  Status read(const std::string &name, DType dtype, const std::vector<int64_t> &globalShape,
              const std::vector<int64_t> &offset, const std::vector<int64_t> &blockShape,
              void *destination) const override {
    const data::ArrayView *array = file_->find(name);
    if (!array)
      return Status::userError("'", path(), "' has no tensor `", name, "`");
    if (array->shape != globalShape)
      return Status::userError("found tensor `", name, "` of shape ", data::toString(array->shape),
                               " in '", path(), "', expected ", data::toString(globalShape));
    const data::Block block{offset, blockShape},
        whole{std::vector<int64_t>(globalShape.size(), 0), globalShape};
    std::memset(destination, 0, size_t(data::elements(blockShape) * byteSize(dtype)));
    const data::Block part = data::intersection(block, whole);
    if (data::elements(part.shape) == 0)
      return Status::ok();
    Status status =
        data::copyPart(part, whole, array->dtype, array->data, block, dtype, destination)
            .withContext(concat("'", path(), "', tensor `", name, "`"));
    releasePages(array->data, size_t(array->bytes()));
    return status;
  }

private:
  std::shared_ptr<const data::ArrayFile> file_;
  std::map<std::string, TensorInfo> infos_;
};

std::set<std::string> linesOf(const std::string &text) {
  std::set<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.insert(line);
  return lines;
}

// `'a', 'b', 'c' and 4 more`
std::string listOf(const std::vector<std::string> &names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < 3; ++i)
    text += concat(i ? ", '" : "'", names[i], '\'');
  return names.size() > 3 ? concat(text, " and ", names.size() - 3, " more") : text;
}

// Whether the weights have this tensor beside those of the model: an optimizer's state is called
// PARAMETER/STATE.
bool isOfTraining(const std::string &name, const TensorStore::TensorInfo &info,
                  const TensorStore &store) {
  const size_t slash = name.rfind('/');
  return info.shape.empty() || !isFloat(info.dtype) ||
         (slash != std::string::npos && store.tensors().contains(name.substr(0, slash)));
}

} // namespace

Result<Weights> openWeights(const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  Weights weights;
  if (fs::is_directory(path, ignored)) {
    CLEAVE_TRY_ASSIGN(auto checkpoint, Checkpoint::open(path));
    const auto &extra = checkpoint->progress().extra;
    if (auto found = extra.find(kUntrainedKey); found != extra.end())
      weights.untrained = linesOf(found->second);
    weights.tensors = std::move(checkpoint);
    return weights;
  }
  if (!path.ends_with(".safetensors"))
    return Status::userError(
        "found '", path, fs::exists(path, ignored) ? "'" : "', which does not exist",
        ", expected a folder that cleave-run --save wrote, or a .safetensors file");
  CLEAVE_TRY_ASSIGN(auto file, data::ArrayFile::open(path));
  for (const auto &[key, value] : file->metadata())
    if (key == kUntrainedKey)
      weights.untrained = linesOf(value);
  weights.tensors = std::make_unique<FileStore>(std::move(file));
  return weights;
}

Status checkWeights(const Weights &weights, const ModelTensors &model) {
  const auto &found = weights.tensors->tensors();
  std::vector<std::string> missing, surplus;
  std::string misshapen;
  for (const auto &[name, shape] : model.needed) {
    auto at = found.find(name);
    if (at == found.end() && !weights.untrained.contains(name))
      missing.push_back(name);
    if (at != found.end() && at->second.shape != shape && misshapen.empty())
      misshapen = concat("its '", name, "' has the shape ", data::toString(at->second.shape),
                         ", expected ", data::toString(shape));
  }
  for (const auto &[name, info] : found)
    if (!model.needed.contains(name) && !model.known.contains(name) &&
        !isOfTraining(name, info, *weights.tensors))
      surplus.push_back(name);
  std::string text;
  auto add = [&](const std::string &part) { text += concat(text.empty() ? "" : "; ", part); };
  if (!missing.empty())
    add(concat("it lacks ", listOf(missing)));
  if (!surplus.empty())
    add(concat("it has ", listOf(surplus), ", which the plan does not have"));
  if (!misshapen.empty())
    add(misshapen);
  return text.empty()
             ? Status::ok()
             : Status::userError("'", weights.tensors->path(), "' does not fit the plan: ", text,
                                 "; expected weights of the plan's model, under ", "its names");
}

} // namespace cleave::checkpoint
