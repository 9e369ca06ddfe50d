#!/bin/bash
# The quick loop before a commit: format, layering, links, release build, the tests that take no more than seconds. With a
# folder: what shows within a minute that an edit there is right.
set -euo pipefail
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/steps.sh"

usage() {
  cat <<'END'
Usage: tools/dev/check.sh [--fix] [--static] [FOLDER]
  FOLDER     such as libdag/home: format of changed files, layering, links, that folder's unit test and, where the simulator
             runs its code, 2,000 seeds
  --fix      formats the sources instead of complaining
  --static   format, layering and links only, no build
  --help     this text
END
}

fix=no
static=no
folder=
for argument in "$@"; do
  case $argument in
    --fix) fix=yes ;;
    --static) static=yes ;;
    --help | -h) usage; exit 0 ;;
    -*) wrong_use "unknown option '$argument'" ;;
    *)
      [ -z "$folder" ] || wrong_use "one folder at a time: $folder or $argument?"
      folder=${argument%/}
      [ -d "$root/$folder" ] || wrong_use "there is no folder $folder; FOLDER starts at the root, such as libdag/home" ;;
  esac
done

install build test
cd "$root"
failed=()

# Committed or not, as long as git does not ignore it; all of them where git has no say.
all_sources() {
  git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp' 2>/dev/null ||
    find libdag actors nodes examples tools tests \( -name '*.cpp' -o -name '*.hpp' \)
}
changed_sources() {
  git diff --name-only HEAD -- '*.cpp' '*.hpp'
  git ls-files --others --exclude-standard '*.cpp' '*.hpp'
}
if [ -n "$folder" ]; then list_sources=changed_sources; else list_sources=all_sources; fi
mapfile -t sources < <($list_sources | sort -u | while read -r file; do [ ! -f "$file" ] || printf '%s\n' "$file"; done)
say "format of ${#sources[@]} files ..."
if [ ${#sources[@]} -eq 0 ]; then
  :
elif [ $fix = yes ]; then
  printf '%s\0' "${sources[@]}" | xargs -0 -P "$(nproc)" -n 20 clang-format -i
else
  printf '%s\0' "${sources[@]}" | xargs -0 -P "$(nproc)" -n 20 clang-format --dry-run -Werror ||
    { say "tools/dev/check.sh --fix formats them"; failed+=(format); }
fi

say "layering, links ..."
tools/dev/layering.sh || failed+=(layering)
tools/dev/links.sh || failed+=(links)

# unit_test_of FOLDER: the CTest entry that tests it; tests/CMakeLists.txt makes them from the folders of tests/unit.
unit_test_of() {
  local name=${1#libdag/}
  name=${name#tests/unit/}
  case $name in
    actors | tests/actors) echo actors; return ;;
    tests/golden | tests/scenarios | tests/sim | tests/sim_actors) echo "${name#tests/}"; return ;;
    nodes/*) name=nodes ;;
    tools/dag*) name=tools ;;
    *) name=$(basename "$name") ;;
  esac
  [ ! -d "tests/unit/$name" ] || echo "unit_$name"
}

check_folder() {
  local test seeds=() targets=()
  test=$(unit_test_of "$folder")
  [ -z "$test" ] || targets+=("test_$test")
  case $folder in libdag/* | tools/sim*) seeds=(jobs cells) ;; actors) seeds=(actors) ;; esac
  [ ${#seeds[@]} -eq 0 ] || targets+=(dag-sim)
  [ ${#targets[@]} -gt 0 ] || give_up "no unit test and no seeds for $folder; tools/dev/check.sh runs all fast tests"
  build release "${targets[@]}"
  [ -z "$test" ] || ctest --preset release -R "^$test\$" || failed+=("$test")
  local world
  for world in "${seeds[@]}"; do
    say "2,000 seeds of world $world ..."
    build/release/bin/dag-sim chaos --world "$world" --seeds 1-2000 || failed+=("seeds of $world")
  done
}

if [ $static = no ] && [ -n "$folder" ]; then
  check_folder
elif [ $static = no ]; then
  build release
  say "fast tests ..."
  ctest --preset release -j "$slots" -LE slow || failed+=(tests)
fi
[ ${#failed[@]} -eq 0 ] || give_up "failed: ${failed[*]}"
say "all well"
