# The steps that tools/quickstart, tools/test and tools/dev/check.sh have in common. Sourced, by bash.
# All messages go to stderr: stdout belongs to the programs that are run.

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
# One compiler per core, but each may take a gigabyte.
jobs=$(awk -v cores="$(nproc)" '/^MemAvailable:/ { fit = int($2 / 1048576) }
                                END { print fit < 1 ? 1 : fit < cores ? fit : cores }' /proc/meminfo)
slots=$((2 * $(nproc)))  # CTest's; tests/CMakeLists.txt says how many of them a test takes
script=$(basename "$0")
export NINJA_STATUS="[%f/%t %es] "

say() { printf '%s: %s\n' "$script" "$*" >&2; }
give_up() { say "$@"; exit 1; }
wrong_use() { say "$1"; say "see: $script --help"; exit 2; }

# install SECTION...: what is missing of tools/dev/packages.txt.
install() { "$root/tools/dev/install_packages" "$@" || exit 1; }

# build PRESET [TARGET...]: configures where needed; after that ninja knows itself what changed.
build() {
  local preset=$1 directory=$root/build/$1 log
  shift
  mkdir -p "$directory" 2>/dev/null && [ -w "$directory" ] || give_up "cannot write to $directory"
  # A configuration that failed half-way, or that was copied here with the sources, is made from nothing; one that
  # is older than the presets gets their new values.
  local fresh=--fresh
  if [ -f "$directory/build.ninja" ] &&
     grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$directory/CMakeCache.txt"; then
    fresh=
  fi
  if [ -n "$fresh" ] || [ "$root/CMakePresets.json" -nt "$directory/build.ninja" ]; then
    say "configuring $preset ..."
    log=$directory/configure.log
    if ! (cd "$root" && cmake $fresh --preset "$preset") >"$log" 2>&1; then
      cat "$log" >&2
      give_up "CMake could not configure preset $preset; its words are above"
    fi
  fi
  say "building $preset ($jobs jobs) ..."
  (cd "$root" && cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"}) >&2 ||
    give_up "preset $preset does not build; the compiler's words are above"
}
