#!/bin/bash
# What papers and comments point at is there: relative links in *.md and their #headings, paths in backticks; and the
# papers, and paths from the root, that comments of sources name. Each finding is one line `file:line: ... is not there`; status 1 when there is one.
set -euo pipefail
script=$(readlink -f "${BASH_SOURCE[0]}")

usage() {
  cat <<'END'
Usage: links.sh [--self-test] [DIRECTORY]
Checks the papers and sources below DIRECTORY (this repository, unless told otherwise).
  --self-test  plants every kind of dead link in a temporary directory and expects to find it
END
}

# Prints file:line, the kind, and the target, separated by tabs. A paper's fenced blocks are samples, not pointers.
pointers() {
  awk '
    FNR == 1 { fenced = 0 }
    /^ *```/ { fenced = !fenced; next }
    fenced { next }
    {
      where = substr(FILENAME, 3) ":" FNR
      rest = $0
      while (match(rest, /`[^`]*`/)) {
        word = substr(rest, RSTART + 1, RLENGTH - 2)
        rest = substr(rest, RSTART + RLENGTH)
        sub(/ .*/, "", word); sub(/\/$/, "", word)
        # A word of capitals stands for any: tests/unit/NAME.
        if (word ~ /(^|[\/_.])[A-Z]+($|[\/_.])/ && word !~ /\.(md|txt)$/) continue
        if (word ~ /^(libdag|actors|nodes|examples|config|tests|tools)\/[A-Za-z0-9_.\/-]+$/ || word ~ /^[A-Za-z0-9_\/]+\.(hpp|cpp|capnp|md|sh|mjs)$/)
          print where "\tpath\t" word
      }
      rest = $0
      gsub(/`[^`]*`/, "", rest)
      while (match(rest, /\]\([^) ]+\)/)) {
        target = substr(rest, RSTART + 2, RLENGTH - 3)
        rest = substr(rest, RSTART + RLENGTH)
        if (target !~ /^[a-z]+:/) print where "\tlink\t" target
      }
      gsub(/\[[^]]*\]\([^)]*\)/, "")
      gsub(/`[^`]*`/, "")
      while (match($0, /[A-Za-z0-9_\/-]*[A-Z]\.md/)) {
        print where "\tpath\t" substr($0, RSTART, RLENGTH)
        $0 = substr($0, RSTART + RLENGTH)
      }
    }' "$@"
}

# The same of the comments of sources.
pointers_of_sources() {
  awk '
    match($0, /\/\/.*$|^ *#.*$/) {
      rest = substr($0, RSTART)
      if (rest ~ /^ *# *include/) next
      while (match(rest, /(^|[^A-Za-z0-9_.\/])(libdag|actors|nodes|examples|tests|tools)\/[A-Za-z0-9_.\/-]*[A-Za-z0-9_]|[A-Za-z0-9_\/-]*[A-Z]\.md/)) {
        word = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        sub(/^[^A-Za-z]/, "", word)
        if (word ~ /(^|[\/_.])[A-Z]+($|[\/_.])/ && word !~ /\.(md|txt)$/) continue
        print substr(FILENAME, 3) ":" FNR "\tpath\t" word
      }
    }' "$@"
}

# file#heading of every heading, as forges name them.
headings() {
  awk '
    FNR == 1 { fenced = 0 }
    /^ *```/ { fenced = !fenced; next }
    !fenced && /^#+ / {
      sub(/^#+ */, ""); $0 = tolower($0)
      gsub(/\[|\]\([^)]*\)/, ""); gsub(/[^a-z0-9 _-]/, ""); gsub(/ /, "-")
      print substr(FILENAME, 3) "#" $0
    }' "$@"
}

# A path in a paper starts at the root, at libdag/, at the paper, or one folder below that; a file may be named without
# its ending.
is_there() {
  local start
  for start in . libdag libdag/include "$1" "$1/*"; do
    ! compgen -G "$start/$2" >/dev/null && ! compgen -G "$start/$2.*" >/dev/null || return 0
  done
  return 1
}

check() {
  cd "$1"
  local papers sources where kind target file folder
  mapfile -t papers < <(find . \( -name build -o -name node_modules -o -name .git \) -prune -o -name '*.md' -print)
  mapfile -t sources < <(find . \( -name build -o -name node_modules -o -name .git \) -prune -o -type f \
    \( -name '*.[ch]pp' -o -name '*.capnp' -o -name '*.sh' -o -name CMakeLists.txt \) ! -name links.sh -print)
  local -A known=()
  while IFS= read -r target; do known[$target]=1; done < <(headings "${papers[@]}")
  {
    pointers "${papers[@]}"
    pointers_of_sources "${sources[@]}"
  } | while IFS=$'\t' read -r where kind target; do
    file=${where%:*}
    folder=$(dirname "$file")
    if [ "$kind" = path ]; then
      is_there "$folder" "$target" || printf '%s: %s is not there\n' "$where" "$target"
      continue
    fi
    local path=${target%%#*}
    [ -z "$path" ] || file=$(realpath -m --relative-to=. "$folder/$path")
    if [ ! -e "$file" ]; then
      printf '%s: %s is not there\n' "$where" "$target"
    elif [ "$path" != "$target" ] && [ -z "${known[$file#${target#*#}]:-}" ]; then
      printf '%s: %s is not there, no heading of that name\n' "$where" "$target"
    fi
  done | sort -t: -k1,1 -k2,2n | { ! grep .; }
}

self_test() {
  local failures=0 found
  home=$(mktemp -d)
  trap 'rm -rf "$home"' EXIT
  mkdir -p "$home/libdag/home" "$home/tests/unit"
  printf '# The home\n\n## Who decides, and why\n' >"$home/libdag/home/README.md"
  touch "$home/libdag/home/home.hpp" "$home/tests/unit/a.cpp"
  local ok='`libdag/home/home.hpp` `home/home.hpp` `libdag/home` `libdag/home/home` `tests/unit/NAME` `home.hpp` `tools` `a b`
[a](README.md) [README.md](../../libdag/home/README.md) [b](#the-home) [c](../../libdag/home/README.md#who-decides-and-why) [d](https://example.org/x) `[e](f)`
```
[g](nowhere) `libdag/nowhere`
```'
  printf '%s\n' "# The home" "$ok" >"$home/libdag/home/OTHER.md"
  printf '// libdag/home/README.md says why: tests/unit/NAME, "libdag/home/home", x/tests/no.\n' >"$home/libdag/home/home.hpp"
  if ! found=$("$script" "$home"); then
    printf 'found where all is there:\n%s\n' "$found"
    failures=1
  fi
  # expect PATTERN FILE LINE: the line, put into the file, is found.
  expect() {
    printf '%s\n' "$3" >"$home/$2"
    found=$("$script" "$home" || true)
    if ! grep -qE "^$2:1: $1" <<<"$found" || [ "$(wc -l <<<"$found")" -ne 1 ]; then
      printf 'planted in %s: %s\n  expected one finding: %s\n  found: %s\n' "$2" "$3" "$1" "$found"
      failures=1
    fi
    rm "$home/$2"
  }
  expect 'nowhere.md is not there'                 libdag/A.md '[a](nowhere.md)'
  expect '../home is not there'                    libdag/A.md '[a](../home)'
  expect 'home/README.md#who is not there, no h'   libdag/A.md '[a](home/README.md#who)'
  expect '#nothing is not there, no heading'       libdag/A.md '[a](#nothing)'
  expect 'libdag/gone/x.hpp is not there'          libdag/A.md 'in `libdag/gone/x.hpp`'
  expect 'tools/gone is not there'                 libdag/A.md 'run `tools/gone --help`'
  expect 'gone.cpp is not there'                   libdag/A.md 'see `gone.cpp`'
  expect 'DESIGN.md is not there'                  libdag/A.md 'As DESIGN.md says.'
  expect 'DESIGN.md is not there'                  tests/unit/b.cpp '// As DESIGN.md says.'
  expect 'libdag/docs/GONE.md is not there'        libdag/home/b.hpp '// See libdag/docs/GONE.md.'
  expect 'libdag/gone/x is not there'              libdag/home/b.hpp 'int x;  // (as libdag/gone/x)'
  [ $failures -eq 0 ] && printf 'links.sh finds what it should\n'
  return $failures
}

case ${1:-} in
  --help | -h) usage ;;
  --self-test) self_test ;;
  -*) usage >&2; exit 2 ;;
  *) check "${1:-$(dirname "$script")/../..}" ;;
esac
