#!/bin/bash
# The quick loop before a commit: format, layering, release build, the tests that take no more than seconds.
set -euo pipefail
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/steps.sh"

usage() {
  cat <<'END'
Usage: tools/dev/check.sh [--fix] [--static]
  --fix      formats the sources instead of complaining
  --static   format and layering only, no build
  --help     this text
END
}

fix=no
static=no
for argument in "$@"; do
  case $argument in
    --fix) fix=yes ;;
    --static) static=yes ;;
    --help | -h) usage; exit 0 ;;
    *) wrong_use "what is '$argument'?" ;;
  esac
done

install build test
cd "$root"
failed=()

# Committed or not, as long as git does not ignore it; all of them where git has no say.
list_sources() {
  git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp' 2>/dev/null ||
    find libdag actors nodes examples tools tests \( -name '*.cpp' -o -name '*.hpp' \)
}
mapfile -t sources < <(list_sources | sort -u | while read -r file; do [ ! -f "$file" ] || printf '%s\n' "$file"; done)
say "format of ${#sources[@]} files ..."
if [ $fix = yes ]; then
  printf '%s\0' "${sources[@]}" | xargs -0 -P "$(nproc)" -n 20 clang-format -i
else
  printf '%s\0' "${sources[@]}" | xargs -0 -P "$(nproc)" -n 20 clang-format --dry-run -Werror ||
    { say "tools/dev/check.sh --fix formats them"; failed+=(format); }
fi

say "layering ..."
tools/dev/layering.sh || failed+=(layering)

if [ $static = no ]; then
  build release
  say "fast tests ..."
  ctest --preset release -j "$(nproc)" -LE slow || failed+=(tests)
fi
[ ${#failed[@]} -eq 0 ] || give_up "failed: ${failed[*]}"
say "all well"
