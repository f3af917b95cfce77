#!/bin/bash
# Builds Pluto, the polyhedral source-to-source compiler that `polydl bench` takes for a peer, and prints the path of polycc:
#   experiments/pluto/build.sh                 # clones from GitHub into build/pluto
#   experiments/pluto/build.sh --from CLONES   # a folder with clones named as on GitHub: pluto, isl-for-pluto, cloog, ...
# It takes about 300 MB and, on one core, a quarter of an hour. On Debian 12 it needs, as root:
#   apt-get install -y --no-install-recommends git make gcc g++ autoconf automake libtool libtool-bin pkg-config \
#     flex bison texinfo libgmp-dev clang-14 llvm-14-dev llvm-14-tools libclang-14-dev
# Pluto's configure asks for FileCheck (llvm-14-tools), and pet, one of its two front-ends, for clang's headers. Of another
# LLVM, LLVM_PREFIX names the folder (Pluto is known to work with 11 to 15), and JOBS how many files make compiles at a time.
set -euo pipefail

# On 2026-05-06; the commits of the libraries are those that this one names as its submodules.
commit=dc462163c8b4fc97d378a4d245d1a64741cb4111
llvm=${LLVM_PREFIX:-/usr/lib/llvm-14}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
target=$root/build/pluto
from=
if [[ $# -eq 2 && $1 == --from ]]; then
    from=$(cd "$2" && pwd)
elif [[ $# -ne 0 ]]; then
    echo "usage: $0 [--from CLONES]" >&2
    exit 2
fi
if [[ ! -x $llvm/bin/FileCheck ]]; then
    echo "there is no $llvm/bin/FileCheck: install llvm-14-tools, or name the folder of another LLVM by LLVM_PREFIX" >&2
    exit 1
fi

# clone OWNER/NAME COMMIT FOLDER
clone() {
    local source=https://github.com/$1.git
    [[ -z $from ]] || source=$from/${1#*/}
    [[ -d $3/.git ]] || GIT_TERMINAL_PROMPT=0 git clone --quiet "$source" "$3"
    git -C "$3" checkout --quiet "$2"
}

# library OWNER/NAME FOLDER, at the commit of the submodule
library() {
    clone "$1" "$(git -C "$target" rev-parse "HEAD:$2")" "$target/$2"
}

mkdir -p "$root/build"
clone bondhugula/pluto "$commit" "$target"
library bondhugula/isl-for-pluto isl
library bondhugula/cloog cloog-isl
library periscop/piplib piplib
library vincentloechner/polylib polylib
library periscop/openscop openscop
library periscop/candl candl
library periscop/clan clan
library bondhugula/pet-for-pluto pet

cd "$target"
{
    ./autogen.sh &&
        PATH=$llvm/bin:$PATH CFLAGS="-O2 -w" CXXFLAGS="-O2 -w" ./configure --with-clang-prefix="$llvm" &&
        # Without manuals, which would take TeX where texi2dvi is installed.
        make -j"${JOBS:-1}" TEXI2DVI=:
} > build.log 2>&1 || {
    tail -20 build.log >&2
    echo "Pluto was not built; $target/build.log says more" >&2
    exit 1
}
echo "$target/polycc"
