// The signature of a kernel: its extent or grid, and its parameters. It is part of the kernel's
// name in the generated modules, so that a plan's table of kernels and its modules cannot be
// exchanged independently.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <string>

namespace cleave::artifact {

// The sizes of the mesh axes of a plan.
using MeshAxes = google::protobuf::RepeatedPtrField<plan::MeshAxis>;

// The signature as text: `extent 16; f32 64; i64 16 coordinates of 2 x 4; f32 64 written`.
// With a grid, `grid 12 x 256 with 4224 bytes` stands in place of the extent. Coordinates have the
// sizes of all mesh axes, because the kernel relies on their ranges.
std::string signatureOf(const plan::Kernel &kernel, const MeshAxes &mesh);

// The symbol of a kernel called `name`: `NAME.HASH`, where HASH are the first 16 hex digits of the
// SHA-256 of its signature.
std::string symbolOf(const std::string &name, const plan::Kernel &kernel, const MeshAxes &mesh);

// The kernel's name for people: its symbol without the hash.
std::string nameOf(const plan::Kernel &kernel);

// The kernel's name in PTX: its symbol, with _ for every character but letters, digits and $.
std::string entryOf(const plan::Kernel &kernel);

} // namespace cleave::artifact
