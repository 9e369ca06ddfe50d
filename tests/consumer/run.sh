#!/bin/bash
# Installs the build into an empty prefix, moves that prefix, and builds a project outside the tree against it:
# by CMake, and by pkg-config with the plain compiler. No header of ours may warn: each compiler that is here compiles one
# of the jobs at each level of optimisation, in turn, or with --all-levels all of them.
# Usage: run.sh BUILD-DIRECTORY COMPILER [--all-levels]
set -euo pipefail
build=$1
compiler=$2
all_levels=${3:-}
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
fail() { printf 'consumer: %s\n' "$*" >&2; exit 1; }

cmake --install "$build" --prefix "$home/first" >"$home/install.log" || { cat "$home/install.log"; fail "no installation"; }
prefix=$home/moved
mv "$home/first" "$prefix"
cp -r "$here" "$home/project"
export LD_LIBRARY_PATH=
unset DAG_ADDRESS

echo "-- the installed files name none of the libraries behind libdag.so"
# Headers by their includes and namespaces, the rest by any mention; comments in headers may speak freely. capnp.hpp is
# there for those who use Cap'n Proto themselves.
hidden='caf|zmq|capnp|kj|hwloc'
if grep -rnE "#[[:space:]]*include[[:space:]]*[<\"]($hidden|libdag|actors|nodes)|(^|[^[:alnum:]_])($hidden)::" "$prefix/include" --exclude=capnp.hpp ||
   grep -rnE "^[^#]*($hidden)" "$prefix"/lib*/cmake "$(find "$prefix" -name dag.pc)"; then
  fail "a consumer would need what those lines name"
fi
if grep -rnF "$home/first" "$prefix" --include='*.cmake' --include='*.pc' || grep -rnF "$build" "$prefix" --include='*.cmake' --include='*.pc'; then
  fail "those lines tie the installation to a place"
fi

echo "-- every public header compiles alone"
find "$prefix/include/dag" -name '*.hpp' | while read -r header; do
  "$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -x c++ -I"$prefix/include" -include "$header" /dev/null ||
    fail "$(basename "$header") does not"
done

echo "-- jobs compile without a warning"
# Links do not make a compiler another one: c++ is g++.
program_of() { readlink -f "$(command -v "$1")"; }
compilers=("$compiler")
for other in g++ clang++ clang++-14; do
  command -v "$other" >/dev/null || continue
  for known in "${compilers[@]}"; do [ "$(program_of "$known")" != "$(program_of "$other")" ] || continue 2; done
  compilers+=("$other")
done
echo "   by ${compilers[*]}"
export warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror" prefix
# A line for each compilation: COMPILER LEVEL JOB.
compilations() {
  local turn=0 jobs=("$home"/project/jobs/*.cpp) each level
  for level in 0 1 2 3; do
    for each in "${compilers[@]}"; do
      if [ "$all_levels" = --all-levels ]; then
        printf "$each -O$level %s\n" "${jobs[@]}"
      else
        printf '%s\n' "$each -O$level ${jobs[turn++ % ${#jobs[@]}]}"
      fi
    done
  done
}
# shellcheck disable=SC2016
compilations | xargs -P "$(nproc)" -L 1 sh -c '"$0" -std=c++20 "$1" $warnings -I"$prefix/include" -c "$2" -o /dev/null' ||
  fail "those warnings come to whoever includes our headers"

# expect SAID COMMAND...
expect() {
  local said
  said=$("${@:2}") || fail "${*:2} ended with status $?"
  [ "$said" = "$1" ] || fail "${*:2} printed '$said', not '$1'"
}

echo "-- find_package(dag)"
cmake -S "$home/project" -B "$home/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$prefix" \
      >"$home/cmake.log" || { cat "$home/cmake.log"; fail "CMake does not find it"; }
cmake --build "$home/build"
expect 5 "$home/build/hello"
for job in "$home"/project/jobs/*.cpp; do
  name=$(basename "$job" .cpp)
  expect "$(sed -n 's|^// prints: ||p' "$job")" "$home/build/$name"
  echo "   $name"
done

echo "-- pkg-config"
export PKG_CONFIG_PATH=
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name dag.pc)")
read -ra flags < <(pkg-config --cflags --libs dag)
echo "   ${flags[*]}"
"$compiler" "$home/project/hello.cpp" -o "$home/hello" "${flags[@]}" -Wl,-rpath,"$(pkg-config --variable=libdir dag)"
expect 5 "$home/hello"
