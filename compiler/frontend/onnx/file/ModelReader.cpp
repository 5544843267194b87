// Reads the ONNX wire format into Model.h. One function per message of the format; the numbers are
// the field numbers of the public onnx.proto.
#include "compiler/frontend/onnx/file/Failure.h"
#include "compiler/frontend/onnx/file/Initialisation.h"
#include "compiler/frontend/onnx/file/Model.h"
#include "compiler/frontend/onnx/file/TensorReader.h"
#include "compiler/frontend/step/Content.h"

#include <set>

namespace cleave::onnx {
namespace {

// The opset of a model that names none, which is valid if all operators are of other domains.
constexpr int64_t kAssumedOpset = 20;

// Depth of nested subgraphs; a model with deeper ones is damaged.
constexpr int kMaxDepth = 16;
// Depth of nested types such as sequences of optionals.
constexpr int kMaxTypes = 4;

Graph readGraph(WireReader in, int depth);

Attribute readAttribute(WireReader in, int depth) {
  Attribute out;
  while (in.next()) {
    switch (in.field()) {
    case 1:
      out.name = in.string();
      break;
    case 2:
      out.number = in.float32();
      break;
    case 3:
      out.integer = in.integer();
      break;
    case 4:
      out.string = in.string();
      break;
    case 5:
      out.tensor = std::make_shared<StoredTensor>(readTensor(in.message()));
      break;
    case 6:
      out.graph = std::make_shared<Graph>(readGraph(in.message(), depth + 1));
      break;
    case 7:
      in.floats(out.numbers);
      break;
    case 8:
      in.integers(out.integers);
      break;
    case 9:
      out.strings.push_back(in.string());
      break;
    case 21:
      out.reference = in.string();
      break;
    case 20:
      out.type = static_cast<AttributeType>(in.integer());
      break;
    }
  }
  return out;
}

Node readNode(WireReader in, int depth) {
  Node out;
  while (in.next()) {
    switch (in.field()) {
    case 1:
      out.inputs.push_back(in.string());
      break;
    case 2:
      out.outputs.push_back(in.string());
      break;
    case 3:
      out.name = in.string();
      break;
    case 4:
      out.op = in.string();
      break;
    case 5:
      out.attributes.push_back(readAttribute(in.message(), depth));
      break;
    case 7:
      out.domain = in.string();
      break;
    case 8:
      out.overload = in.string();
      break;
    case 9:
      readMetadata(in.message(), out.metadata);
      break;
    }
  }
  if (out.domain == "ai.onnx")
    out.domain.clear();
  return out;
}

Dim readDim(WireReader in) {
  Dim out;
  while (in.next()) {
    if (in.field() == 1)
      out.size = in.integer();
    else if (in.field() == 2)
      out.symbol = in.string();
  }
  return out;
}

void readTensorType(WireReader in, ValueInfo &out) {
  while (in.next()) {
    if (in.field() == 1) {
      out.dataType = static_cast<int32_t>(in.integer());
    } else if (in.field() == 2) {
      out.hasShape = true;
      WireReader shape = in.message();
      while (shape.next())
        if (shape.field() == 1)
          out.dims.push_back(readDim(shape.message()));
    }
  }
}

// Reads the type of a tensor, or of a sequence or optional.
void readType(WireReader in, ValueInfo &out, int depth) {
  if (depth > kMaxTypes)
    fail("the model has types nested more than ", kMaxTypes, " deep");
  while (in.next()) {
    if (in.field() == 1) {
      readTensorType(in.message(), out);
    } else if (in.field() == 4 || in.field() == 9) {
      (in.field() == 4 ? out.isSequence : out.isOptional) = true;
      WireReader element = in.message();
      while (element.next())
        if (element.field() == 1)
          readType(element.message(), out, depth + 1);
    }
  }
}

ValueInfo readValueInfo(WireReader in) {
  ValueInfo out;
  while (in.next()) {
    if (in.field() == 1) {
      out.name = in.string();
    } else if (in.field() == 2) {
      readType(in.message(), out, 0);
    } else if (in.field() == 4) {
      readMetadata(in.message(), out.metadata);
    }
  }
  return out;
}

// Removes inputs that are initializers: old files list initializers among the inputs as well, as
// defaults of those inputs.
void dropInitializersFromInputs(Graph &graph) {
  std::set<std::string> names;
  for (const StoredTensor &tensor : graph.initializers)
    names.insert(tensor.name);
  std::erase_if(graph.inputs, [&](const ValueInfo &input) { return names.contains(input.name); });
}

Graph readGraph(WireReader in, int depth) {
  if (depth > kMaxDepth)
    fail("the model has subgraphs nested more than ", kMaxDepth, " deep");
  Graph out;
  while (in.next()) {
    switch (in.field()) {
    case 1:
      out.nodes.push_back(readNode(in.message(), depth));
      break;
    case 2:
      out.name = in.string();
      break;
    case 5:
      out.initializers.push_back(readTensor(in.message()));
      break;
    case 11:
      out.inputs.push_back(readValueInfo(in.message()));
      break;
    case 12:
      out.outputs.push_back(readValueInfo(in.message()));
      break;
    case 13:
      out.values.push_back(readValueInfo(in.message()));
      break;
    case 15:
      fail("the model has a sparse initializer, which Cleave does not read; store it densely");
    case 16:
      readMetadata(in.message(), out.metadata);
      break;
    }
  }
  dropInitializersFromInputs(out);
  if (depth == 0)
    takeInitialised(out);
  return out;
}

void readOpset(WireReader in, Model &out) {
  std::string domain;
  int64_t version = 0;
  while (in.next()) {
    if (in.field() == 1)
      domain = in.string();
    else if (in.field() == 2)
      version = in.integer();
  }
  out.opsets[domain == "ai.onnx" ? "" : domain] = version;
}

Function readFunction(WireReader in) {
  Function out;
  Model imports; // the opsets of the function
  while (in.next()) {
    switch (in.field()) {
    case 1:
      out.name = in.string();
      break;
    case 4:
      out.inputs.push_back(in.string());
      break;
    case 5:
      out.outputs.push_back(in.string());
      break;
    case 7:
      out.nodes.push_back(readNode(in.message(), 0));
      break;
    case 9:
      readOpset(in.message(), imports);
      break;
    case 10:
      out.domain = in.string();
      break;
    case 11:
      out.defaults.push_back(readAttribute(in.message(), 0));
      break;
    case 13:
      out.overload = in.string();
      break;
    }
  }
  if (out.domain == "ai.onnx")
    out.domain.clear();
  if (auto version = imports.opsets.find(""); version != imports.opsets.end())
    out.opset = version->second;
  return out;
}

} // namespace

Model readModel(std::string_view bytes, const std::string &path) {
  if (std::optional<std::string> other = frontend::otherContent(bytes))
    fail("found ", *other, ", expected ", frontend::kModelFormats);
  Model out;
  out.path = path;
  std::string producerVersion;
  bool hasGraph = false;
  WireReader in(bytes);
  while (in.next()) {
    switch (in.field()) {
    case 2:
      out.producer = in.string();
      break;
    case 3:
      producerVersion = in.string();
      break;
    case 7:
      out.graph = readGraph(in.message(), 0);
      hasGraph = true;
      break;
    case 8:
      readOpset(in.message(), out);
      break;
    case 14:
      readMetadata(in.message(), out.graph.metadata);
      break;
    case 25:
      out.functions.push_back(readFunction(in.message()));
      break;
    }
  }
  if (!hasGraph)
    fail("the file has no graph: not an ONNX model");
  if (!out.opsets.contains("") && !out.opsets.empty())
    out.opsets[""] = kAssumedOpset;
  if (out.opsets.empty())
    fail("the model does not say which opset of the standard operators it uses (opset_import is "
         "missing)");
  if (!producerVersion.empty())
    out.producer += " " + producerVersion;
  return out;
}

} // namespace cleave::onnx
