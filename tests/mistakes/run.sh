#!/bin/bash
# Compiles each mistake of mistakes.cpp, and expects one readable message of our own about it. Usage: run.sh COMPILER
set -euo pipefail
compiler=$1
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
source=$here/mistakes.cpp
compile() { "$compiler" -std=c++20 -fsyntax-only -I"$here/../../libdag/include" -DMISTAKE="$1" "$source" 2>&1; }
failed=0 checked=0
said=$(compile 0) || { printf 'mistakes: the program without one does not compile:\n%s\n' "$said" >&2; exit 1; }
while read -r number expected; do
  checked=$((checked + 1))
  if said=$(compile "$number"); then
    printf 'mistakes: number %s compiles\n' "$number" >&2
    failed=1
  elif ! grep -qF "dag: $expected" <<<"$said"; then
    printf 'mistakes: number %s does not say "dag: %s" but:\n%s\n' "$number" "$expected" "$(head -20 <<<"$said")" >&2
    failed=1
  else
    printf '%s: %s\n' "$number" "$expected"
  fi
done < <(sed -n 's|^#.*MISTAKE == \([0-9]*\) *// |\1 |p' "$source")
[ $checked -eq 9 ] || { printf 'mistakes: %s of 9 were found\n' $checked >&2; exit 1; }
exit $failed
