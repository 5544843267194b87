// See RunFacts.h.
#include "tools/cleave-run/RunFacts.h"

#include "runtime/base/Sha256.h"
#include "runtime/data/DataSpec.h"
#include "runtime/executor/Executor.h"
#include "tools/commandline/CommandLine.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace cleave::run {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kEndBytes = 64 << 10; // of a file's beginning and of its end, for the digest
constexpr size_t kDigits = 12;          // of a digest, in messages

std::string yesOrNo(bool value) { return value ? "yes" : "no"; }
std::string pathOrNone(const std::string &path) {
  return path.empty() ? "none" : concat("'", path, "'");
}

// Appends the bytes at [begin, end) of a file, as far as they exist.
void append(std::string &bytes, int descriptor, int64_t begin, int64_t end) {
  std::string piece(size_t(std::max<int64_t>(0, end - begin)), '\0');
  ssize_t read = pread(descriptor, piece.data(), piece.size(), begin);
  bytes.append(piece, 0, size_t(std::max<ssize_t>(0, read)));
}

std::string textOf(const image::TransformOptions &images) {
  std::string text = concat(images.resize.value_or(0), " ", int(images.crop), " ", images.padding,
                            " ", images.leastArea, " ", int(images.flips));
  for (const auto *values : {&images.mean, &images.deviation})
    for (double value : *values)
      text += concat(" ", value);
  return text;
}

void addOptions(std::vector<Fact> &facts, const Options &options) {
  const char *onNan[] = {"stop", "skip", "continue"};
  auto add = [&](const char *name, const std::string &value) { facts.push_back({name, value}); };
  add("--steps", options.steps ? concat(*options.steps) : "none");
  add("--data-command", options.dataCommand.empty() ? "none" : options.dataCommand);
  add("--epochs", options.epochs ? concat(*options.epochs) : "none");
  add("--last-batch", data::name(options.lastBatch));
  std::string rates;
  for (const std::string &rate : options.lr)
    rates += concat(rates.empty() ? "" : ", ", rate);
  add("the --image options", textOf(options.images));
  add("--lr", rates.empty() ? "none" : rates);
  add("--seed", concat(options.seed));
  add("--shuffle",
      options.shuffles ? concat(options.shuffleSeed.value_or(options.seed)) : "no shuffling");
  add("--save", pathOrNone(options.save));
  add("--save-every", options.saveEvery ? concat(options.saveEvery) : "none");
  add("--keep", concat(options.keep));
  add("--eval-every", options.evalEvery ? concat(options.evalEvery) : "none");
  add("--eval-steps", options.evalSteps ? concat(options.evalSteps) : "none");
  add("--keep-best", options.keepBest.empty() ? "none" : options.keepBest);
  add("--ema", yesOrNo(options.averages));
  add("--on-nan", onNan[size_t(options.onNan)]);
  add("--restart-optimizer", yesOrNo(options.restartOptimizer));
  add("the use of --out", yesOrNo(!options.out.empty()));
  add("the steps of --profile", options.profile.empty() ? "none" : concat(options.profiledSteps));
  add("--verbose", yesOrNo(options.verbose));
  add("--memory-report", yesOrNo(options.memoryReport));
  add("CLEAVE_CHECK_KERNELS", options.waits ? "wait" : yesOrNo(options.checked));
}

// The first files one by one, the others together. `kind`: of the files, `data` or `evaluation`.
Status addData(std::vector<Fact> &facts, const std::string &kind,
               const std::vector<std::string> &specs,
               const std::vector<data::InputDescription> &inputs) {
  constexpr size_t kListed = 32;
  std::vector<std::string> prints;
  for (const std::string &text : specs) {
    CLEAVE_TRY_ASSIGN(data::DataSpec spec, data::readSpec(text, inputs));
    for (const std::string &path : spec.files) {
      if (fs::is_directory(path))
        continue; // addContents
      CLEAVE_TRY_ASSIGN(auto print, fingerprint(path));
      prints.push_back(spec.input ? spec.input->name + "=" + print : print);
    }
  }
  facts.push_back({concat("the number of ", kind, " files"), concat(prints.size())});
  std::string others;
  for (size_t i = 0; i < prints.size(); ++i)
    if (i < kListed)
      facts.push_back({concat(kind, " file ", i + 1), prints[i]});
    else
      others += prints[i] + "\n";
  if (!others.empty())
    facts.push_back({concat("the other ", kind, " files"), sha256(others).substr(0, kDigits)});
  return Status::ok();
}

// The files with the plan's weights.
Status addModel(std::vector<Fact> &facts, const plan::Plan &plan, const Options &options) {
  fs::path model = options.model.empty() ? plan.source().path() : options.model;
  std::set<std::string> paths;
  for (const plan::Tensor &tensor : plan.tensors())
    if (tensor.source().has_file())
      paths.insert(tensor.source().file().path());
  for (const std::string &path : paths) {
    CLEAVE_TRY_ASSIGN(auto print, fingerprint(path.empty() ? model : model.parent_path() / path));
    facts.push_back({path.empty() ? "the model file" : "the weights file " + path, print});
  }
  return Status::ok();
}

} // namespace

void addContents(std::vector<Fact> &facts, const std::string &kind,
                 const data::DataSource *source) {
  if (source && !source->contents().empty())
    facts.push_back(
        {concat("the names of the ", kind, "'s images"),
         concat(source->samples(), " images, ", source->contents().substr(0, kDigits))});
}

Result<std::string> fingerprint(const std::string &path) {
  struct stat info{};
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0 || fstat(descriptor, &info) != 0) {
    Status status = Status::userError("cannot read '", path, "': ", std::strerror(errno));
    if (descriptor >= 0)
      ::close(descriptor);
    return status;
  }
  std::string ends;
  if (S_ISREG(info.st_mode)) {
    append(ends, descriptor, 0, std::min<int64_t>(kEndBytes, info.st_size));
    append(ends, descriptor, std::max<int64_t>(kEndBytes, info.st_size - kEndBytes), info.st_size);
  }
  ::close(descriptor);
  return concat(fs::path(path).filename().string(), ", ", info.st_size, " bytes, ",
                sha256(ends).substr(0, kDigits));
}

Result<std::vector<Fact>> factsOf(const plan::Plan &plan, const Options &options, int64_t first,
                                  int64_t count, const checkpoint::TensorStore *checkpoint) {
  std::vector<Fact> facts{
      {"the version of Cleave", version()},
      {"the plan", plan.content_hash().substr(0, kDigits)},
  };
  addOptions(facts, options);
  CLEAVE_TRY(addModel(facts, plan, options));
  if (auto inputs = executor::inputsOf(plan); !inputs.empty()) { // otherwise no files are read
    CLEAVE_TRY(addData(facts, "data", options.data, inputs));
    CLEAVE_TRY(addData(facts, "evaluation", options.eval, inputs));
  }
  facts.push_back({"the first step", concat(first)});
  facts.push_back({"the number of steps", concat(count)});
  if (!checkpoint) {
    facts.push_back({"the checkpoint", "none"});
    return facts;
  }
  fs::path path = checkpoint->path();
  if (!fs::is_directory(path)) {
    CLEAVE_TRY_ASSIGN(auto print, fingerprint(path.string()));
    facts.push_back({"the weights", print});
    return facts;
  }
  CLEAVE_TRY_ASSIGN(auto digest, sha256OfFile((path / "index.json").string()));
  facts.push_back(
      {"the checkpoint", concat(path.filename().string(), ", ", digest.substr(0, kDigits))});
  return facts;
}

} // namespace cleave::run
