#!/usr/bin/env bash
# One call of a session on a machine with a GPU, where nothing of Cleave is installed: unpacks a bundle of
# tools/dev/gpu/bundle.py and runs the parts that tools/dev/gpu/README.md lists. OUTPUT, a new folder for each call, receives
# every result as it comes: at most eight files, each below 16 MiB.
#
#     tools/dev/gpu-session.sh BUNDLE.tar.gz OUTPUT [--call first|second] [option of tools/dev/gpu/session.py …]
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

# The driver's libraries of a container come before the system's folders, which may hold a libcuda for another driver. cuBLAS,
# cuDNN and NCCL come from PyTorch's wheels where the machine has none of its own.
libraries=$("$python" -c '
import glob, os, sysconfig
print(":".join(["/usr/local/nvidia/lib64", *glob.glob(os.path.join(sysconfig.get_paths()["purelib"], "nvidia", "*", "lib"))]))')
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$libraries
"$python" -B "$here/gpu/session.py" "$unpacked" "$output" "$@"
