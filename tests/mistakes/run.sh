#!/bin/bash
# Compiles each mistake of mistakes.cpp, and expects that the first error is one readable sentence of our own about it.
# Usage: run.sh COMPILER
set -euo pipefail
compiler=$1
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
source=$here/mistakes.cpp
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
flags=(-std=c++20 -I"$here/../../libdag/include")
# All of them include the same header: it is read once.
printf '#include <dag/dag.hpp>\n' >"$home/all.hpp"
"$compiler" "${flags[@]}" -x c++-header "$home/all.hpp" -o "$home/all.hpp.gch"
compile() { "$compiler" "${flags[@]}" -include "$home/all.hpp" -fsyntax-only -DMISTAKE="$1" "$source" 2>&1; }

said=$(compile 0) || { printf 'mistakes: the program without one does not compile:\n%s\n' "$said" >&2; exit 1; }

# try NUMBER SENTENCE
try() {
  local said first
  if said=$(compile "$1"); then
    printf 'mistakes: number %s compiles\n' "$1" >&2
    return 1
  fi
  first=$(grep -m1 -E '\<error:' <<<"$said" || true)
  if ! grep -qF "dag: $2" <<<"$first"; then
    printf 'mistakes: number %s does not say "dag: %s" first, but:\n%s\n' "$1" "$2" "${first:-$(head -20 <<<"$said")}" >&2
    return 1
  fi
  printf '%s: %s\n' "$1" "$2"
}

failed=0 expected=1
while read -r number sentence; do
  [ "$number" = $expected ] || { printf 'mistakes: number %s follows number %s\n' "$number" $((expected - 1)) >&2; failed=1; }
  expected=$((expected + 1))
  try "$number" "$sentence" || failed=1
done < <(sed -n 's|^#.*MISTAKE == \([0-9]*\) *// |\1 |p' "$source")
exit $failed
