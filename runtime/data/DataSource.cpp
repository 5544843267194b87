// Interprets the --data options: assigns arrays to inputs, or finds the token file. See
// DataSource.h.
#include "runtime/data/DataSource.h"

#include "runtime/data/Block.h"
#include "runtime/data/Sources.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace cleave::data {

bool isLabel(const InputDescription &input) {
  return input.label || input.name.ends_with(".label");
}

Status checkVocabulary(const InputDescription &input, const void *values, int64_t count,
                       const std::string &where) {
  if (!input.vocabulary || !isInteger(input.dtype))
    return Status::ok();
  for (int64_t i = 0; i < count; ++i) {
    int64_t value = 0;
    CLEAVE_TRY(convert(static_cast<const char *>(values) + i * byteSize(input.dtype), input.dtype,
                       &value, DType::I64, 1));
    bool ignored = value == -100 && isLabel(input);
    if (!ignored && (value < 0 || value >= *input.vocabulary))
      return Status::userError("found token ", value, " for input `", input.name, "` in ", where,
                               ", expected 0 to ", *input.vocabulary - 1);
  }
  return Status::ok();
}

namespace {

std::string endingOf(const std::string &path) { return std::filesystem::path(path).extension(); }

// The arrays and token files of the options processed so far.
struct Gathered {
  const std::vector<InputDescription> &inputs;
  std::vector<FoundArray> arrays; // per input; `file` is null if none was found
  std::vector<std::shared_ptr<const ArrayFile>> files;
  std::vector<std::string> tokenFiles;

  const InputDescription *inputNamed(const std::string &name) const {
    for (const InputDescription &input : inputs)
      if (input.name == name)
        return &input;
    return nullptr;
  }

  Status take(size_t input, std::shared_ptr<const ArrayFile> file, const ArrayView *array) {
    if (arrays[input].file)
      return Status::userError("input `", inputs[input].name, "` is given twice: in ",
                               arrays[input].file->path(), " and in ", file->path());
    arrays[input] = {std::move(file), array};
    return Status::ok();
  }

  // Inflates the compressed arrays that are needed only.
  static Result<std::shared_ptr<const ArrayFile>>
  openFor(const std::string &path, const std::function<bool(const std::string &)> &isWanted) {
    ReadOptions options;
    options.isWanted = isWanted;
    return ArrayFile::open(path, options);
  }

  // NAME=FILE.npy (or another format with one array, or one of that name).
  Status addNamed(const std::string &name, const std::string &path) {
    CLEAVE_TRY_ASSIGN(auto file, openFor(path, [&](const std::string &n) { return n == name; }));
    const ArrayView *array = file->find(name);
    if (!array && file->arrays().size() == 1 && file->skipped().empty())
      array = &file->arrays()[0];
    if (!array && !file->unreadable().empty())
      return Status::userError(path, " cannot be used for input `", name,
                               "`: ", file->unreadable()[0].second);
    if (!array)
      return Status::userError(path, " has no array `", name, "`; it has ",
                               listNames(file->names(), [](auto &name) { return name; }));
    files.push_back(file);
    return take(inputNamed(name) - inputs.data(), file, array);
  }

  Status addArchive(const std::string &path) {
    CLEAVE_TRY_ASSIGN(auto file,
                      openFor(path, [&](const std::string &n) { return inputNamed(n); }));
    files.push_back(file);
    for (size_t i = 0; i < inputs.size(); ++i)
      if (const ArrayView *array = file->find(inputs[i].name))
        CLEAVE_TRY(take(i, file, array));
    return Status::ok();
  }

  Status add(const std::string &spec) {
    size_t equals = spec.find('=');
    if (equals != std::string::npos && inputNamed(spec.substr(0, equals)))
      return addNamed(spec.substr(0, equals), spec.substr(equals + 1));
    std::string ending = endingOf(spec);
    std::error_code ignored;
    if (equals != std::string::npos && !std::filesystem::exists(spec, ignored))
      return Status::userError("found --data ", spec, ", but the model has no input `",
                               spec.substr(0, equals), "`; its inputs are ",
                               listNames(inputs, [](auto &input) { return input.name; }));
    if (ending == ".npz" || ending == ".safetensors")
      return addArchive(spec);
    tokenFiles.push_back(spec);
    return Status::ok();
  }

  Status checkComplete() const {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (arrays[i].file)
        continue;
      std::string present, reason;
      for (const auto &file : files) {
        present += concat(present.empty() ? "" : "; ", file->path(), " has ",
                          listNames(file->names(), [](auto &name) { return name; }));
        for (const auto &[name, why] : file->unreadable())
          if (name == inputs[i].name)
            reason = concat(" (`", name, "` exists, but ", why, ")");
      }
      return Status::userError("no data for input `", inputs[i].name, "` ", toString(inputs[i]),
                               reason, "; ", present);
    }
    return Status::ok();
  }

  static std::string toString(const InputDescription &input) {
    return concat(name(input.dtype), data::toString(input.shape));
  }
};

} // namespace

Result<std::unique_ptr<DataSource>> DataSource::open(const DataOptions &options,
                                                     const std::vector<InputDescription> &inputs) {
  if (options.specs.empty())
    return Status::userError(
        "the model reads ", listNames(inputs, [](auto &input) { return input.name; }),
        ": give --data FILE.npz, FILE.safetensors, NAME=FILE.npy or, for tokens, a text file");
  Gathered gathered{inputs, std::vector<FoundArray>(inputs.size())};
  for (const std::string &spec : options.specs)
    CLEAVE_TRY(gathered.add(spec));
  if (gathered.tokenFiles.empty()) {
    CLEAVE_TRY(gathered.checkComplete());
    return openArrays(options, inputs, gathered.arrays);
  }
  if (options.specs.size() > 1)
    return Status::userError("found the token file ", gathered.tokenFiles[0],
                             " beside other --data, expected it alone");
  CLEAVE_TRY_ASSIGN(auto tokens, openTokens(gathered.tokenFiles[0]));
  return openWindows(options, inputs, std::move(tokens));
}

} // namespace cleave::data
