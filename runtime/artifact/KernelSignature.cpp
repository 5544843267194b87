// See KernelSignature.h.
#include "runtime/artifact/KernelSignature.h"

#include "runtime/artifact/Mesh.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Sha256.h"

#include <cctype>

namespace cleave::artifact {

constexpr size_t kHashDigits = 16;

std::string signatureOf(const plan::Kernel &kernel, const MeshAxes &mesh) {
  std::string text = concat("extent ", kernel.extent());
  if (kernel.has_grid())
    text = concat("grid ", kernel.grid().blocks(), " x ", kernel.grid().threads(), " with ",
                  kernel.grid().shared_bytes(), " bytes");
  for (const plan::KernelParameter &parameter : kernel.parameters()) {
    text += concat("; ", dtypeName(parameter.dtype()), ' ', parameter.bytes());
    text += parameter.written() ? " written" : "";
    for (int axis = 0; parameter.coordinates() && axis < mesh.size(); ++axis)
      text += concat(axis ? " x " : " coordinates of ", mesh[axis].size());
  }
  return text;
}

std::string symbolOf(const std::string &name, const plan::Kernel &kernel, const MeshAxes &mesh) {
  return name + "." + sha256(signatureOf(kernel, mesh)).substr(0, kHashDigits);
}

std::string nameOf(const plan::Kernel &kernel) {
  return kernel.symbol().substr(0, kernel.symbol().rfind('.'));
}

std::string entryOf(const plan::Kernel &kernel) {
  std::string entry = kernel.symbol();
  for (char &c : entry)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '$')
      c = '_';
  return entry;
}

} // namespace cleave::artifact
