// The fuzz targets: readers that are called with arbitrary bytes. A target returns if the reader
// yields a value or a user error; it ends the process if the reader reports a defect.
#pragma once

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cleave::fuzz {

// Model files: ONNX, and the two archive formats of PyTorch.
void onnx(std::string_view bytes);
void weights(std::string_view bytes); // an ONNX file, rewritten with new weights
void torchscript(std::string_view bytes);
void pt2(std::string_view bytes);
// The same archives, built from their parts (MakeArchive.h), and the readers of their entries.
void source(std::string_view bytes);  // a TorchScript program
void program(std::string_view bytes); // an exported program
void archive(std::string_view bytes); // the zip directory and every entry
void pickle(std::string_view bytes);
void npz(std::string_view bytes); // array files: three formats
void npy(std::string_view bytes);
void safetensors(std::string_view bytes);
void image(std::string_view bytes);      // a JPEG or PNG file, decoded and resized
void tar(std::string_view bytes);        // an archive of images and classes
void plan(std::string_view bytes);       // a plan file, and the verifier of its plan
void checkpoint(std::string_view bytes); // the index of a checkpoint
void cluster(std::string_view bytes);    // JSON files
void pins(std::string_view bytes);
void solver(std::string_view bytes);
void options(std::string_view bytes); // texts of options, one per line

// Accepts user errors and failures of the system; ends the process if the status is a defect.
void mustBeTheirs(const Status &status);

// Writes the bytes to a file of this name in a folder of this process in shared memory, and returns
// its path.
std::string asFile(const std::string &name, std::string_view bytes);

} // namespace cleave::fuzz
