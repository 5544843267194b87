// See Weights.h.
#include "compiler/frontend/pt2/Weights.h"

#include "compiler/frontend/emit/Failure.h"

namespace cleave::pt2 {

using emit::fail;

Weights::Weights(const torch::Archive &archive) : archive_(archive) {
  add("data/weights/", "model_weights_config.json", /*isRequired=*/true);
  add("data/constants/", "model_constants_config.json", /*isRequired=*/false);
}

void Weights::add(const std::string &folder, const std::string &list, bool isRequired) {
  if (!archive_.find(folder + list)) {
    if (isRequired)
      fail("the archive has no list of weights (", folder, list,
           "), as those of PyTorch before 2.9; load it with torch.export.load and save it again "
           "with a newer PyTorch");
    return;
  }
  for (auto &[name, payload] : readPayloads(archive_.source(folder + list))) {
    payload.entry = folder + payload.entry;
    payloads_.emplace(name, std::move(payload));
  }
}

static std::vector<int64_t> numbers(const std::vector<Size> &sizes, const std::string &name) {
  std::vector<int64_t> out;
  for (const Size &size : sizes) {
    std::optional<int64_t> number = size.value ? size.value->constant() : std::nullopt;
    if (!number)
      fail("'", name, "' has the symbolic size ", size.text, ", expected a number");
    out.push_back(*number);
  }
  return out;
}

torch::StridedTensor Weights::find(const std::string &name, const TensorMeta &meta) const {
  auto found = payloads_.find(name);
  if (found == payloads_.end())
    fail("the archive has no data for '", name, "'");
  const Payload &payload = found->second;
  if (payload.isPickled || !payload.meta)
    fail("the data of '", name,
         "' are a pickled object, expected a plain tensor; convert tensor subclasses before "
         "torch.export.save");
  torch::StridedTensor out;
  out.entry = payload.entry;
  out.element = payload.meta->element;
  out.elementName = payload.meta->dtypeName;
  out.dims = numbers(payload.meta->sizes, name);
  out.strides = numbers(payload.meta->strides, name);
  out.requiresGrad = payload.meta->requiresGrad;
  out.isAbsent = payload.meta->device == "meta";
  out.offset = numbers({payload.meta->offset}, name)[0];
  if (out.dims != numbers(meta.sizes, name) || out.elementName != meta.dtypeName)
    fail("the data of '", name, "' are ", out.elementName,
         " of another shape or type than the "
         "program says; export the model again");
  checkTensor(out, name);
  return out;
}

// Whether two payloads are the same elements of one entry, in the same order.
static bool areSame(const Payload &a, const Payload &b) {
  auto texts = [](const std::vector<Size> &sizes) {
    std::vector<std::string> texts;
    for (const Size &size : sizes)
      texts.push_back(size.text);
    return texts;
  };
  return a.entry == b.entry && a.meta && b.meta && texts(a.meta->sizes) == texts(b.meta->sizes) &&
         texts(a.meta->strides) == texts(b.meta->strides) &&
         a.meta->offset.text == b.meta->offset.text;
}

std::vector<std::string> Weights::otherNamesOf(const std::string &name) const {
  std::vector<std::string> names;
  if (auto payload = payloads_.find(name); payload != payloads_.end())
    for (const auto &[other, same] : payloads_)
      if (other != name && areSame(same, payload->second))
        names.push_back(other);
  return names;
}

} // namespace cleave::pt2
