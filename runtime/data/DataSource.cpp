// Interprets the --data options: assigns arrays to inputs, or finds the token file. See
// DataSource.h.
#include "runtime/data/DataSource.h"

#include "runtime/data/Block.h"
#include "runtime/data/DataSpec.h"
#include "runtime/data/Sources.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace cleave::data {

bool isLabel(const InputDescription &input) {
  return input.label || input.name.ends_with(".label");
}

bool canConvert(DType from, DType to) {
  auto whole = [](DType type) { return isInteger(type) || type == DType::Bool; };
  return whole(from) || !whole(to);
}

bool isAllowed(const InputDescription &input, int64_t value) {
  return !input.vocabulary || value == input.ignored ||
         (value >= input.lowest && value < *input.vocabulary);
}

std::optional<BadValue> findBadValue(const InputDescription &input, const void *values,
                                     int64_t count) {
  if (!input.vocabulary || !isInteger(input.dtype))
    return std::nullopt;
  for (int64_t i = 0; i < count; ++i) {
    int64_t value = 0; // of any integer type
    (void)convert(static_cast<const char *>(values) + i * byteSize(input.dtype), input.dtype,
                  &value, DType::I64, 1);
    if (!isAllowed(input, value))
      return BadValue{i, value};
  }
  return std::nullopt;
}

int64_t paddingOf(bool isEvaluation, const InputDescription &label) {
  return isEvaluation ? kFiller : label.ignored.value_or(kFiller);
}

Status refuse(const InputDescription &input, int64_t value, const std::string &place) {
  bool label = isLabel(input) || input.ignored;
  return Status::userError("found ", label ? "label " : "token ", value, " for input `", input.name,
                           "` in ", place, ", expected ", input.lowest, " to ",
                           *input.vocabulary - 1,
                           input.ignored ? concat(", or ", *input.ignored, " to ignore it") : "");
}

Status checkLastBatch(const DataOptions &options, const std::vector<InputDescription> &inputs,
                      int64_t samples, int64_t perStep) {
  if (options.lastBatch == LastBatch::Drop && samples < perStep)
    return Status::userError("found ", samples, " samples, but a step takes ", perStep,
                             ", and --last-batch drop leaves out what does not fill a step; give "
                             "more data, compile with a smaller batch, or use pad or wrap");
  if (options.lastBatch != LastBatch::Pad)
    return Status::ok();
  const char *wayOut = "; use --last-batch drop or wrap";
  if (!options.noPadding.empty())
    return Status::userError("--last-batch pad: ", options.noPadding, wayOut);
  if (options.isEvaluation)
    return Status::ok();
  bool hasLabels = false;
  for (const InputDescription &input : inputs) {
    if (!isLabel(input))
      continue;
    hasLabels = true;
    if (!isInteger(input.dtype) || !input.ignored)
      return Status::userError("--last-batch pad: the loss cannot ignore values of the label `",
                               input.name, "`, which is ", name(input.dtype), toString(input.shape),
                               ", expected class numbers with one ignore-index", wayOut);
  }
  return hasLabels
             ? Status::ok()
             : Status::userError(
                   "--last-batch pad: the plan has no labels that a loss could ignore", wayOut);
}

namespace {

std::string endingOf(const std::string &path) { return std::filesystem::path(path).extension(); }

bool isFolder(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

// The arrays and token files of the options processed so far.
struct Gathered {
  static constexpr const char *kLabel = "label";

  const std::vector<InputDescription> &inputs;
  std::vector<std::vector<FoundArray>> arrays; // per input, in the order of the files
  std::vector<std::shared_ptr<const ArrayFile>> files;
  std::vector<std::string> tokenFiles, folders, archives; // of images: folders and archives
  uint64_t inflated = 0;                                  // bytes of compressed arrays in memory

  bool isInput(const std::string &name) const {
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](const InputDescription &input) { return input.name == name; });
  }

  // Inflates the compressed arrays that are needed only.
  Result<std::shared_ptr<const ArrayFile>>
  openFor(const std::string &path, const std::function<bool(const std::string &)> &isWanted) {
    ReadOptions options;
    options.isWanted = isWanted;
    options.mostInflated -= std::min(options.mostInflated, inflated);
    CLEAVE_TRY_ASSIGN(auto file, ArrayFile::open(path, options));
    inflated += file->inflatedBytes();
    files.push_back(file);
    return file;
  }

  // NAME=FILE.npy (or another format with one array, or one of that name).
  Status addNamed(const InputDescription &input, const std::string &path) {
    const std::string &name = input.name;
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
    arrays[size_t(&input - inputs.data())].push_back({file, array});
    return Status::ok();
  }

  // The labels of an output X are called `X.label`; the only labels of a model may also be called
  // `label`.
  bool isCalledLabel(const InputDescription &input) const {
    return isLabel(input) && !isInput(kLabel) && std::ranges::count_if(inputs, isLabel) == 1;
  }

  Status addArchive(const std::string &path) {
    auto isWanted = [&](const std::string &name) {
      return isInput(name) || (name == kLabel && std::ranges::any_of(inputs, [&](auto &input) {
                                 return isCalledLabel(input);
                               }));
    };
    CLEAVE_TRY_ASSIGN(auto file, openFor(path, isWanted));
    for (size_t i = 0; i < inputs.size(); ++i) {
      const ArrayView *array = file->find(inputs[i].name);
      if (!array && isCalledLabel(inputs[i]))
        array = file->find(kLabel);
      if (array)
        arrays[i].push_back({file, array});
    }
    return Status::ok();
  }

  Status add(const DataSpec &spec) {
    for (const std::string &path : spec.files) {
      std::string ending = endingOf(path);
      if (spec.input)
        CLEAVE_TRY(addNamed(*spec.input, path));
      else if (ending == ".npz" || ending == ".safetensors")
        CLEAVE_TRY(addArchive(path));
      else if (isFolder(path))
        folders.push_back(path);
      else if (ending == ".tar" || ending == ".tgz" || path.ends_with(".tar.gz"))
        archives.push_back(path);
      else
        tokenFiles.push_back(path);
    }
    return Status::ok();
  }

  Status checkComplete() const {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!arrays[i].empty())
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
                               reason, "; ", present, renaming(inputs[i]));
    }
    return Status::ok();
  }

  // How the only array that is not an input becomes the data of these labels.
  std::string renaming(const InputDescription &input) const {
    std::set<std::string> others;
    for (const auto &file : files)
      for (const std::string &name : file->names())
        if (!isInput(name))
          others.insert(name);
    return isLabel(input) && others.size() == 1
               ? concat("; rename the array to `", input.name, "`, or name the labels `",
                        *others.begin(), "` with cleave-compile --loss KIND:OUTPUT,",
                        *others.begin())
               : "";
  }

  // The kinds of data that were found, each with one file: `tokens in text.bin`.
  std::vector<std::string> kinds() const {
    std::vector<std::string> found;
    if (!files.empty())
      found.push_back("arrays in " + files[0]->path());
    if (!tokenFiles.empty())
      found.push_back("tokens in " + tokenFiles[0]);
    if (!folders.empty() || !archives.empty())
      found.push_back("images in " + (folders.empty() ? archives[0] : folders[0]));
    return found;
  }

  static std::string toString(const InputDescription &input) {
    return concat(name(input.dtype), data::toString(input.shape));
  }
};

} // namespace

namespace {

// For a model without inputs: whatever the files hold, nothing reads it.
class NoInputs final : public DataSource {
public:
  int64_t samples() const override { return 0; }
  int64_t samplesPerMicroBatch() const override { return 0; }
  Status fill(size_t input, int64_t, int64_t, const std::vector<int64_t> &,
              const std::vector<int64_t> &, void *) const override {
    return Status::defect("found input ", input, " of a model without inputs");
  }
};

} // namespace

Result<std::unique_ptr<DataSource>> DataSource::open(const DataOptions &options,
                                                     const std::vector<InputDescription> &inputs) {
  if (inputs.empty())
    return std::unique_ptr<DataSource>(std::make_unique<NoInputs>());
  if (options.specs.empty())
    return Status::userError("the model reads ",
                             listNames(inputs, [](auto &input) { return input.name; }),
                             ": give --data FILE.npz, FILE.safetensors, NAME=FILE.npy; for tokens "
                             "a text file; for images a folder or FILE.tar");
  Gathered gathered{inputs, std::vector<std::vector<FoundArray>>(inputs.size())};
  for (const std::string &text : options.specs) {
    CLEAVE_TRY_ASSIGN(DataSpec spec, readSpec(text, inputs));
    CLEAVE_TRY(gathered.add(spec));
  }
  if (const std::vector<std::string> kinds = gathered.kinds(); kinds.size() > 1)
    return Status::userError("found ", kinds[0], " beside ", kinds[1],
                             ", expected one kind of data");
  if (!gathered.folders.empty() || !gathered.archives.empty())
    return openImages(options, inputs, gathered.folders, gathered.archives);
  if (options.images != image::TransformOptions())
    return Status::userError("found options for images, but --data with ",
                             gathered.kinds().empty() ? "other files" : gathered.kinds()[0],
                             "; expected a folder of images or .tar files");
  if (gathered.tokenFiles.empty()) {
    CLEAVE_TRY(gathered.checkComplete());
    return openArrays(options, inputs, gathered.arrays);
  }
  std::vector<TokenFile> files;
  for (const std::string &path : gathered.tokenFiles) {
    CLEAVE_TRY_ASSIGN(TokenFile file, openTokens(path));
    files.push_back(std::move(file));
  }
  return openWindows(options, inputs, std::move(files));
}

} // namespace cleave::data
