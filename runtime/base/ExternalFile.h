// Where the external data of a model lie: files that the model names, beside it.
#pragma once

#include "runtime/base/Status.h"

#include <string>

namespace cleave {

// The path of the file that the model at `modelPath` names by `location`, relative to its folder.
//
// A model must not read files that its user did not mean to give to it: weights can be published
// again, and a model from elsewhere could name any file of this machine. A user error, therefore,
// if `location` is absolute or has "..", or is a symbolic link out of the model's folder. A link
// into the folder of the file that `modelPath` itself leads to is fine: caches that keep files by
// their hash (the hub cache of Hugging Face) link model and data into one folder. A file that does
// not exist is no error here.
Result<std::string> findExternalFile(const std::string &modelPath, const std::string &location);

} // namespace cleave
