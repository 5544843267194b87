// The part of the structure rule on tensors: shapes, layouts, and the sources of their values. See
// Verify.h.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/VerifyRules.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace cleave::artifact {

Status verifySizes(const google::protobuf::RepeatedField<int64_t> &shape) {
  for (int64_t size : shape)
    if (size < 0 || size > kMostElements)
      return Status::defect("it has a dim of size ", size);
  if (elementCount(shape) > kMostElements)
    return Status::defect("it has more than ", kMostElements, " elements");
  return Status::ok();
}

bool isStorable(double value, plan::DType dtype) {
  if (dtype == plan::F64 || dtype == plan::F32 || dtype == plan::F16 || dtype == plan::BF16)
    return true;
  return value >= -0x1p63 && value < (dtype == plan::U64 ? 0x1p64 : 0x1p63);
}

std::string roleName(plan::Role role) {
  return plan::Role_IsValid(role) ? plan::Role_Name(role) : std::to_string(int(role));
}

static Status verifySharding(const plan::Plan &plan, const plan::Tensor &tensor) {
  if (tensor.sharding_size() != tensor.shape_size())
    return Status::defect("it has ", tensor.shape_size(), " dims and shardings for ",
                          tensor.sharding_size());
  std::vector<bool> used(plan.mesh_size());
  for (const plan::DimSharding &dim : tensor.sharding())
    for (uint32_t axis : dim.axes()) {
      if (axis >= used.size())
        return Status::defect("it is sharded on mesh axis ", axis, ", the mesh has ",
                              plan.mesh_size());
      if (used[axis])
        return Status::defect("it is sharded twice on mesh axis '", plan.mesh(axis).name(), "'");
      used[axis] = true;
    }
  return Status::ok();
}

static Status verifyRandom(const plan::RandomValues &random) {
  if (!plan::RandomValues::Distribution_IsValid(random.distribution()))
    return Status::defect("its distribution ", int(random.distribution()), " does not exist");
  if (!(random.scale() >= 0) || !std::isfinite(random.scale()))
    return Status::defect("its random values have the scale ", random.scale(),
                          ", expected a number of at least 0");
  return Status::ok();
}

// Whether a path is relative and does not leave its folder by `..`.
static bool staysInside(const std::string &path) {
  if (path.starts_with('/'))
    return false;
  std::istringstream parts(path);
  for (std::string part; std::getline(parts, part, '/');)
    if (part == "..")
      return false;
  return true;
}

static Status verifySource(const plan::Plan &plan, const plan::Tensor &tensor) {
  const plan::TensorSource &source = tensor.source();
  uint64_t elements = uint64_t(elementCount(tensor.shape()));
  if (source.kind_case() == plan::TensorSource::KIND_NOT_SET)
    return Status::defect("it has no source of values");
  if (source.has_file() && plan.source().path().empty())
    return Status::defect("it is read from a file, but the plan names no model file");
  if (source.has_file() && byteSize(source.file().dtype()) == 0)
    return Status::defect("its stored dtype ", int(source.file().dtype()), " does not exist");
  if (source.has_file() && source.file().bytes() != elements * byteSize(source.file().dtype()))
    return Status::defect("its file slice has ", source.file().bytes(),
                          " bytes, its shape and stored dtype need ",
                          elements * byteSize(source.file().dtype()));
  if (source.has_file() && !staysInside(source.file().path()))
    return Status::defect("its file '", source.file().path(),
                          "' lies outside of the model's folder");
  if (source.has_random())
    CLEAVE_TRY(verifyRandom(source.random()));
  if (source.kind_case() == plan::TensorSource::kFill && !isStorable(source.fill(), tensor.dtype()))
    return Status::defect("its elements ", source.fill(), " do not fit ",
                          dtypeName(tensor.dtype()));
  if (source.has_inline_data() &&
      source.inline_data().size() != elements * byteSize(tensor.dtype()))
    return Status::defect("its inline data has ", source.inline_data().size(),
                          " bytes, its shape and dtype need ", elements * byteSize(tensor.dtype()));
  std::vector<uint32_t> order(source.permutation().begin(), source.permutation().end());
  std::sort(order.begin(), order.end());
  for (uint32_t i = 0; i < order.size(); ++i)
    if (order[i] != i || order.size() != size_t(tensor.shape_size()))
      return Status::defect("its source's permutation is not a permutation of its dims");
  return Status::ok();
}

// The runtime writes it as one number.
static Status verifyHyperparameter(const plan::Tensor &tensor) {
  return tensor.dtype() == plan::F64 && tensor.shape_size() == 0 &&
                 tensor.source().kind_case() == plan::TensorSource::kFill
             ? Status::ok()
             : Status::defect("it is a hyperparameter of dtype ", dtypeName(tensor.dtype()),
                              " with ", tensor.shape_size(),
                              " dims, expected an F64 scalar whose source is one number");
}

// The number of micro-batches of a step.
static int64_t microBatchesOf(const plan::Plan &plan) {
  int64_t slots = 1;
  for (const plan::Program &program : plan.programs())
    for (const plan::ScheduleStep &step : program.schedule())
      slots = std::max<int64_t>(slots, int64_t(step.slot()) + 1);
  return slots;
}

// The input that it holds of all micro-batches exists once, with the same dims but the first one.
static Status verifyAllOf(const plan::Plan &plan, const plan::Tensor &tensor) {
  if (tensor.role() != plan::INPUT)
    return Status::defect("it holds all of '", tensor.all_of(), "', but it is not an input");
  for (const plan::Tensor &one : plan.tensors()) {
    if (one.role() != plan::INPUT || one.name() != tensor.all_of() || !one.all_of().empty())
      continue;
    bool fits = one.dtype() == tensor.dtype() && one.shape_size() == tensor.shape_size() &&
                one.shape_size() > 0 && one.shape(0) > 0 &&
                tensor.shape(0) == one.shape(0) * microBatchesOf(plan) &&
                std::equal(one.shape().begin() + 1, one.shape().end(), tensor.shape().begin() + 1);
    return fits ? Status::ok()
                : Status::defect("it holds all ", microBatchesOf(plan), " micro-batches of '",
                                 one.name(), "', whose dtype or shape does not fit");
  }
  return Status::defect("it holds all of '", tensor.all_of(), "', which is not an input");
}

static Status verifyTensor(const plan::Plan &plan, const plan::Tensor &tensor) {
  if (byteSize(tensor.dtype()) == 0)
    return Status::defect("it has no dtype");
  CLEAVE_TRY(verifySizes(tensor.shape()));
  if (tensor.vocabulary() < 0 || tensor.lowest() > 0)
    return Status::defect("it has a vocabulary of ", tensor.vocabulary(), " from ",
                          tensor.lowest());
  if (!tensor.all_of().empty())
    CLEAVE_TRY(verifyAllOf(plan, tensor));
  CLEAVE_TRY(verifySharding(plan, tensor));
  switch (tensor.role()) {
  case plan::PARAMETER:
  case plan::STATE:
  case plan::CONSTANT:
    return verifySource(plan, tensor);
  case plan::HYPERPARAMETER:
    return verifyHyperparameter(tensor);
  case plan::INPUT:
  case plan::OUTPUT:
    return Status::ok();
  default:
    return Status::defect("its role ", roleName(tensor.role()),
                          ", expected a role of inputs, outputs or persistent tensors");
  }
}

static Status verifyTexts(const plan::KnownTexts &texts) {
  CLEAVE_TRY(verifySizes(texts.shape()));
  return elementCount(texts.shape()) == texts.elements_size()
             ? Status::ok()
             : Status::defect("it has ", texts.elements_size(), " strings, its shape needs ",
                              elementCount(texts.shape()));
}

Status verifyTensors(const plan::Plan &plan) {
  for (const plan::Tensor &tensor : plan.tensors())
    CLEAVE_TRY(verifyTensor(plan, tensor).withContext("tensor '" + tensor.name() + "'"));
  for (const plan::KnownTexts &texts : plan.known_texts())
    CLEAVE_TRY(verifyTexts(texts).withContext("output '" + texts.name() + "'"));
  return Status::ok();
}

} // namespace cleave::artifact
