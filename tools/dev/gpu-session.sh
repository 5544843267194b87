#!/usr/bin/env bash
# One session on a machine with a GPU, where nothing of Cleave is installed: unpacks a bundle of tools/dev/gpu/bundle.py and
# runs what tools/dev/gpu/README.md lists, within ten minutes. Writes session.json and session.txt into OUTPUT after every part.
#
#     tools/dev/gpu-session.sh BUNDLE.tar.gz OUTPUT [option of tools/dev/gpu/session.py …]
#
# PYTHON names the Python with PyTorch; python3 by default.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bundle=${1:?usage: tools/dev/gpu-session.sh BUNDLE.tar.gz OUTPUT [OPTION…]}
output=${2:?usage: tools/dev/gpu-session.sh BUNDLE.tar.gz OUTPUT [OPTION…]}
shift 2
python=${PYTHON:-python3}
unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
mkdir -p "$output"
tar -xzf "$bundle" -C "$unpacked"

# cuBLAS, cuDNN and NCCL of PyTorch's wheels, where the machine has none of its own.
libraries=$("$python" -c '
import glob, os, sysconfig
print(":".join(glob.glob(os.path.join(sysconfig.get_paths()["purelib"], "nvidia", "*", "lib"))))')
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$libraries
"$python" -B "$here/gpu/session.py" "$unpacked" "$output" "$@"
