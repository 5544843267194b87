// See WeightExport.h. EditPlanner decides what each initializer of the new file holds; ModelCopier
// copies the file field by field.
#include "compiler/frontend/onnx/WeightExport.h"

#include "compiler/frontend/onnx/file/Failure.h"
#include "compiler/frontend/onnx/file/Functions.h"
#include "compiler/frontend/onnx/file/Initialisation.h"
#include "compiler/frontend/onnx/file/Topology.h"
#include "compiler/frontend/onnx/file/WireWriter.h"
#include "compiler/frontend/onnx/parameters/Parameters.h"
#include "runtime/base/FileWriter.h"

#include <cstring>
#include <filesystem>

namespace cleave::onnx {
namespace {

using Dims = std::vector<int64_t>;

// The contents of an initializer: a parameter or its transpose, with the initializer's dims.
struct Content {
  size_t parameter = 0;
  bool transposed = false;
  Dims dims;
  bool operator==(const Content &) const = default;
};

// An initializer of the new file that has new contents.
struct NewInitializer {
  std::string name;
  int32_t dataType = 0;
  Content content;
};

// The differences between the file and its copy.
struct Edits {
  std::map<size_t, NewInitializer> replaced; // by initializer
  std::vector<NewInitializer> added;
  std::map<std::pair<size_t, size_t>, std::string> inputs; // node and input -> the name it reads
};

class EditPlanner {
public:
  EditPlanner(const Graph &graph, const ParameterPlan &plan, const InitializerUses &uses,
              const NewValues &values)
      : graph_(graph), plan_(plan), uses_(uses), values_(values) {
    for (const StoredTensor &tensor : graph.initializers)
      names_.insert(tensor.name);
    for (const Node &node : graph.nodes)
      names_.insert(node.outputs.begin(), node.outputs.end());
    for (const ValueInfo &input : graph.inputs)
      names_.insert(input.name);
  }

  Edits run() {
    findKept();
    std::set<std::pair<size_t, size_t>> known;
    for (const InitializerUse &use : uses_)
      if (use.isInSubgraph())
        addSubgraphUse(use);
    for (const InitializerUse &use : uses_) {
      if (use.isInSubgraph())
        continue;
      known.insert({use.node, use.input});
      auto ref = plan_.uses.find({use.node, use.input});
      if (ref != plan_.uses.end() && isNew(ref->second.parameter))
        addUse(use, ref->second);
    }
    for (const auto &[place, ref] : plan_.uses) // biases that the exporter dropped
      if (!known.contains(place) && isNew(ref.parameter))
        addDropped(place, ref);
    return std::move(edits_);
  }

private:
  bool isNew(size_t parameter) const {
    const Parameter &planned = plan_.parameters[parameter];
    return planned.kind != ParameterKind::Constant && values_.names.contains(planned.name);
  }

  // Finds initializers with a reader that keeps its value: they were merged with a trained
  // parameter. A reader of the dims alone finds these in the new value, too.
  void findKept() {
    for (const InitializerUse &use : uses_) {
      if (use.isInSubgraph() || readsOnlyDims(*use.reader))
        continue;
      auto ref = plan_.uses.find({use.node, use.input});
      if (ref == plan_.uses.end() || !isNew(ref->second.parameter))
        kept_.insert(use.initializer);
    }
    for (const auto &[initializer, ref] : plan_.byInitializer)
      if (!isNew(ref.parameter))
        kept_.insert(initializer);
  }

  // Subgraphs are copied unchanged, so the initializers that they read keep their names.
  void addSubgraphUse(const InitializerUse &use) {
    const ParameterRef &ref = plan_.byInitializer.at(use.initializer);
    if (!isNew(ref.parameter))
      return;
    const StoredTensor &tensor = graph_.initializers[use.initializer];
    if (kept_.contains(use.initializer))
      fail("initializer '", tensor.name,
           "' stands for several parameters, of which not all are trained, and a subgraph reads "
           "it; write safetensors instead");
    Content content{ref.parameter, ref.transposed, tensor.dims};
    edits_.replaced.try_emplace(use.initializer,
                                NewInitializer{tensor.name, tensor.dataType, content});
  }

  void addUse(const InitializerUse &use, const ParameterRef &ref) {
    const StoredTensor &tensor = graph_.initializers[use.initializer];
    Content content{ref.parameter, ref.transposed, tensor.dims};
    if (kept_.contains(use.initializer)) {
      edits_.inputs[{use.node, use.input}] = newInitializerWith(content, tensor.dataType);
      return;
    }
    auto [first, isFirst] = edits_.replaced.try_emplace(
        use.initializer, NewInitializer{tensor.name, tensor.dataType, content});
    if (first->second.content != content)
      edits_.inputs[{use.node, use.input}] = newInitializerWith(content, tensor.dataType);
  }

  void addDropped(std::pair<size_t, size_t> place, const ParameterRef &ref) {
    const Parameter &planned = plan_.parameters[ref.parameter];
    int32_t dataType = graph_.initializers[planned.initializer].dataType;
    Content content{ref.parameter, false, shapeOf(graph_, planned)};
    edits_.inputs[place] = newInitializerWith(content, dataType);
  }

  // The name of the added initializer with this content.
  std::string newInitializerWith(const Content &content, int32_t dataType) {
    for (const NewInitializer &initializer : edits_.added)
      if (initializer.content == content)
        return initializer.name;
    std::string name = plan_.parameters[content.parameter].name;
    while (!names_.insert(name).second)
      name += "'";
    edits_.added.push_back({name, dataType, content});
    return name;
  }

  const Graph &graph_;
  const ParameterPlan &plan_;
  const InitializerUses &uses_;
  const NewValues &values_;
  std::set<std::string> names_; // that are taken
  std::set<size_t> kept_;       // initializers
  Edits edits_;
};

// Throws the status as a Failure unless it is ok.
void mustBeOk(const Status &status) {
  if (!status)
    throw Failure{status};
}

// Writes the weights of the new file: into it, or one after the other into a file beside it.
class WeightSink {
public:
  WeightSink(const std::string &output, bool beside) : file_(output + ".data") {
    if (beside)
      location_ = std::filesystem::path(output + ".data").filename().string();
  }

  // Writes the fields of a tensor message that hold its elements or refer to them.
  void write(WireWriter &out, const std::string &bytes) {
    if (location_.empty()) {
      out.bytes(9, bytes);
      return;
    }
    constexpr uint64_t kAlignment = 64;
    std::string padding((kAlignment - offset_ % kAlignment) % kAlignment, '\0');
    put(padding);
    offset_ += padding.size();
    out.entry(13, "location", location_);
    out.entry(13, "offset", std::to_string(offset_));
    out.entry(13, "length", std::to_string(bytes.size()));
    out.integer(14, 1);
    put(bytes);
    offset_ += bytes.size();
  }

  void publish() {
    if (!location_.empty())
      mustBeOk(file_.publish());
  }

private:
  void put(const std::string &bytes) { mustBeOk(file_.write(bytes)); }

  std::string location_;
  FileWriter file_;
  uint64_t offset_ = 0;
};

class ModelCopier {
public:
  ModelCopier(const Model &model, WeightFiles &files, const ParameterPlan &plan, const Edits &edits,
              const NewValues &values, WeightSink &sink)
      : model_(model), files_(files), plan_(plan), edits_(edits), values_(values), sink_(sink) {
    for (size_t i = 0; i < model.graph.initializers.size(); ++i)
      byName_[model.graph.initializers[i].name] = i;
  }

  std::string run() {
    WireWriter out;
    WireReader in(files_.modelBytes());
    while (in.next())
      if (in.field() == 7)
        out.message(7, graph(in.message()));
      else
        copyField(in, out);
    return out.take();
  }

private:
  // Copies a field of a message whose fields are all bytes or integers.
  static void copyField(WireReader &in, WireWriter &out) {
    if (in.isBytes())
      out.bytes(in.field(), in.bytes());
    else
      out.integer(in.field(), in.integer());
  }

  WireWriter graph(WireReader in) {
    WireWriter out;
    size_t node = 0;
    while (in.next()) {
      std::string_view message = in.bytes();
      if (in.field() == 1)
        out.message(1, nodeMessage(WireReader(message), node++));
      else if (in.field() == 5)
        copyInitializer(message, out);
      else if (in.field() != 11 || !takesInput(WireReader(message)))
        out.bytes(in.field(), message);
    }
    for (const auto &[i, initializer] : edits_.replaced)
      if (initialisationOf(model_.graph.initializers[i]))
        out.message(5, tensor(initializer, ""));
    for (const NewInitializer &initializer : edits_.added)
      out.message(5, tensor(initializer, ""));
    return out;
  }

  // Whether the input is a parameter without elements that gets some in the new file.
  bool takesInput(WireReader in) {
    while (in.next())
      if (in.field() == 1)
        if (auto found = byName_.find(in.string()); found != byName_.end())
          return edits_.replaced.contains(found->second) &&
                 initialisationOf(model_.graph.initializers[found->second]);
    return false;
  }

  WireWriter nodeMessage(WireReader in, size_t node) {
    WireWriter out;
    size_t input = 0;
    auto write = [&](const std::string &name) {
      auto edited = edits_.inputs.find({node, input++});
      out.bytes(1, edited == edits_.inputs.end() ? name : edited->second);
    };
    while (in.next())
      if (in.field() == 1)
        write(in.string());
      else
        copyField(in, out);
    while (edits_.inputs.contains({node, input}))
      write({});
    return out;
  }

  // Copies an initializer unchanged, unless it has a new value or its elements are in another file.
  void copyInitializer(std::string_view message, WireWriter &out) {
    WireReader in(message);
    WireWriter notes; // documentation and metadata
    std::string name;
    while (in.next()) {
      if (in.field() == 8)
        name = in.string();
      else if (in.field() == 12 || in.field() == 16)
        notes.bytes(in.field(), in.bytes());
    }
    if (!byName_.contains(name)) // of another graph than the last
      fail("the file has initializer '", name, "' in a second graph; export it again");
    size_t i = byName_.at(name);
    const StoredTensor &stored = model_.graph.initializers[i];
    if (auto replaced = edits_.replaced.find(i); replaced != edits_.replaced.end()) {
      out.message(5, tensor(replaced->second, notes.take()));
    } else if (stored.location.empty()) {
      out.bytes(5, message);
    } else {
      WireWriter copy = head(name, stored.dataType, stored.dims, notes.take());
      sink_.write(copy, std::string(files_.bytesOf(stored)));
      out.message(5, copy);
    }
  }

  static WireWriter head(const std::string &name, int32_t dataType, const Dims &dims,
                         const std::string &notes) {
    WireWriter out;
    for (int64_t dim : dims)
      out.integer(1, dim);
    out.integer(2, dataType);
    out.bytes(8, name);
    out.encoded(notes);
    return out;
  }

  WireWriter tensor(const NewInitializer &initializer, const std::string &notes) {
    WireWriter out = head(initializer.name, initializer.dataType, initializer.content.dims, notes);
    sink_.write(out, bytesOf(initializer));
    return out;
  }

  std::string bytesOf(const NewInitializer &initializer) {
    const Parameter &parameter = plan_.parameters[initializer.content.parameter];
    ElementType element = *elementTypeOf(initializer.dataType);
    Dims shape = shapeOf(model_.graph, parameter);
    size_t size = byteSize(element), count = 1;
    for (int64_t dim : shape)
      count *= dim;
    std::string bytes(count * size, '\0');
    mustBeOk(values_.read(parameter.name, element, shape, bytes.data()));
    if (!initializer.content.transposed)
      return bytes;
    std::string transposed(bytes.size(), '\0');
    size_t rows = shape[0], columns = shape[1];
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < columns; ++j)
        std::memcpy(&transposed[(j * rows + i) * size], &bytes[(i * columns + j) * size], size);
    return transposed;
  }

  const Model &model_;
  WeightFiles &files_;
  const ParameterPlan &plan_;
  const Edits &edits_;
  const NewValues &values_;
  WeightSink &sink_;
  std::map<std::string, size_t> byName_; // initializers
};

// Bytes of all weights in the new file.
uint64_t weightBytes(const Model &model, const Edits &edits) {
  uint64_t bytes = 0;
  for (const StoredTensor &tensor : model.graph.initializers)
    if (elementTypeOf(tensor.dataType))
      bytes += tensor.byteCount();
  for (const NewInitializer &initializer : edits.added) {
    uint64_t count = byteSize(*elementTypeOf(initializer.dataType));
    for (int64_t dim : initializer.content.dims)
      count *= dim;
    bytes += count;
  }
  return bytes;
}

std::set<std::string> writtenNames(const ParameterPlan &plan, const Edits &edits) {
  std::set<std::string> names;
  for (const auto &[i, initializer] : edits.replaced)
    names.insert(plan.parameters[initializer.content.parameter].name);
  for (const NewInitializer &initializer : edits.added)
    names.insert(plan.parameters[initializer.content.parameter].name);
  return names;
}

// Fails if the file has no place for one of the new values; called before anything is written.
void checkWritten(const std::set<std::string> &written, const NewValues &values,
                  const std::string &path) {
  for (const std::string &name : values.names)
    if (!written.contains(name))
      fail("'", path, "' has no parameter '", name,
           "' outside of subgraphs; give the --tie and --untie options that the plan was made "
           "with, and --model if the file has moved, or write safetensors");
}

// Fails if the output's weights would overwrite the model's own, which may be in a file of the same
// name.
void checkOverwritten(const Model &model, const std::string &path, const std::string &beside) {
  std::error_code error;
  for (const StoredTensor &tensor : model.graph.initializers)
    if (!tensor.location.empty() &&
        std::filesystem::equivalent(std::filesystem::path(path).parent_path() / tensor.location,
                                    beside, error))
      fail("'", beside, "' holds the model's own weights, expected another name for the output");
}

void writeCopy(const std::string &path, const frontend::ImportOptions &options,
               const NewValues &values, const std::string &output, uint64_t maxFileBytes) {
  std::error_code error;
  if (std::filesystem::equivalent(path, output, error))
    fail("found the model's own file as output, expected another one");
  WeightFiles files(path);
  Model model = readModel(files.modelBytes(), path);
  Model inlined = model; // as the importer reads it: its initializers are the file's
  inlineFunctions(inlined);
  const Graph &graph = inlined.graph;
  std::vector<size_t> order = sortedNodes(graph, {});
  ParameterPlan plan = planParameters(graph, order, files, {options.tie, options.untie});
  InitializerUses uses = findInitializerUses(graph, order);
  Edits edits = EditPlanner(graph, plan, uses, values).run();
  if (!model.functions.empty() && !edits.inputs.empty())
    fail("parameters that the file shares are no longer equal, and the file has functions, whose "
         "nodes are not rewritten; write safetensors instead");
  checkWritten(writtenNames(plan, edits), values, path);
  bool isBeside = weightBytes(model, edits) > maxFileBytes;
  if (isBeside)
    checkOverwritten(model, path, output + ".data");
  WeightSink sink(output, isBeside);
  std::string bytes = ModelCopier(model, files, plan, edits, values, sink).run();
  FileWriter file(output);
  mustBeOk(file.write(bytes));
  sink.publish();
  mustBeOk(file.publish());
}

} // namespace

Status exportWeights(const std::string &path, const frontend::ImportOptions &options,
                     const NewValues &values, const std::string &output, uint64_t maxFileBytes) {
  try {
    writeCopy(path, options, values, output, maxFileBytes);
    return Status::ok();
  } catch (const Failure &failure) {
    return failure.status;
  }
}

} // namespace cleave::onnx
