// The readers that are given arbitrary bytes. A target returns when the reader has answered, with a value or with an error;
// it ends the process where the answer is our own mistake.
#pragma once

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cleave::fuzz {

// Model files: ONNX, and the two archives of PyTorch's.
void onnx(std::string_view bytes);
void weights(std::string_view bytes); // an ONNX file that gets new weights
void torchscript(std::string_view bytes);
void pt2(std::string_view bytes);
// The same archives by their parts (MakeArchive.h), and readers within them.
void source(std::string_view bytes);  // a TorchScript program
void program(std::string_view bytes); // an exported program
void archive(std::string_view bytes); // the zip directory and every entry
void pickle(std::string_view bytes);
void npz(std::string_view bytes); // arrays and weights: three formats
void npy(std::string_view bytes);
void safetensors(std::string_view bytes);
void plan(std::string_view bytes);       // a plan file, and the verifier on what is in it
void checkpoint(std::string_view bytes); // the index of a checkpoint
void cluster(std::string_view bytes);    // JSON files
void pins(std::string_view bytes);
void solver(std::string_view bytes);
void options(std::string_view bytes); // what users type: one option's text per line

// What is allowed to go wrong: a mistake of the user's, or of the system. Our own mistakes end the process.
void mustBeTheirs(const Status &status);

// These bytes as a file named so, in a folder of this process in shared memory; the path.
std::string asFile(const std::string &name, std::string_view bytes);

} // namespace cleave::fuzz
