#!/bin/bash
# Polices the layers: who may include whom is read from the USES lists of CMakeLists.txt, nothing is repeated here.
# Also bans what breaks the idea "decide in pure code, act in actors, touch the world in nodes".
# Counts comments that begin with words that hide their subject, too.
# Each finding is one line `file:line: X is banned, use Y`; status 1 when there is one.
set -euo pipefail
script=$(readlink -f "${BASH_SOURCE[0]}")

usage() {
  cat <<'END'
Usage: layering.sh [--self-test] [DIRECTORY]
Checks the sources below DIRECTORY (this repository, unless told otherwise).
  --self-test  plants every violation in a temporary directory and expects to find it
END
}

# ---- The rules ------------------------------------------------------------------------------------------------

# Reads CMakeLists.txt, then the names of all files, then their lines (as grep prints them: file:line:text).
rules() {
  awk '
    function ban(where, what) { print where ": " what; ++bans }

    # The folder that a path lies in, as CMakeLists.txt declares it: the longest declared one wins.
    function folder_of(path) {
      while (sub(/\/[^\/]*$/, "", path)) if (path in uses) return path
      return ""
    }
    # "libdag/graph" is named graph in the lists, "actors/lanes" actors_lanes.
    function short(folder) { sub(/^libdag\//, "", folder); gsub(/\//, "_", folder); return folder }

    # What a path may do, beyond what its folder includes.
    function place_of(path) {
      if (path ~ /^tests\//) return "tests"
      if (path ~ /^libdag\/include\//) return "public"
      if (path ~ /^tools\/(sim|bench)\//) return "deep"
      if (path ~ /^(examples|tools)\//) return "outer"
      return "layer"
    }

    function check_outside_library(where, path, header) {
      if (header ~ /^caf\// && (path !~ /^(actors|nodes|tools\/sim\/actors)\// || path ~ /^actors\/lanes\//))
        ban(where, header " is banned, use a port of actors/ports.hpp: CAF appears in actors/, nodes/ and tools/sim/actors/ only, not in lanes")
      if (header ~ /^zmq[a-z_]*\.h(pp)?$/ && path !~ /^libdag\/net\//)
        ban(where, header " is banned, use libdag/net: it alone knows sockets")
      if ((header ~ /^(capnp|kj)\// || header ~ /\.capnp\.h$/ || header ~ /^libdag\/schema\//) && path !~ /^libdag\/(wire\/|include\/dag\/capnp\.hpp$)/ &&
          !(header ~ /^kj\// && path ~ /^nodes\/http\//))
        ban(where, header " is banned, use the values of libdag/wire: it alone includes Cap\047n Proto and generated code; nodes/http has kj for HTTP")
      if (header ~ /^hwloc/ && path !~ /^nodes\//)
        ban(where, header " is banned, use libdag/placement/Topology: nodes/ alone asks hwloc")
    }

    function check_include(where, path, place, quoted, header,    from, to) {
      if (place == "tests") return
      bans = 0
      check_outside_library(where, path, header)
      if (path ~ /^examples\// && header ~ /^(dag|libdag\/(client|story|workflows))\// && header != "dag/dag.hpp")
        ban(where, header " is banned, use <dag/dag.hpp>: an example includes what any job does")
      if (bans || header ~ /^dag\//) return  # Public headers are for all.
      if (place == "public") {
        if ((quoted || header ~ /[\/.]/) && !(path ~ /\/dag\/capnp\.hpp$/ && header ~ /^capnp\//))
          ban(where, header " is banned, use <dag/...> or the standard library: public headers are installed alone")
        return
      }
      if (!quoted || header ~ /\.capnp\.h$/) return
      if (path ~ /^examples\/.*\// && header !~ /\//) return  # Its own folder: an example is a small project.
      if (header !~ /^(libdag|actors|nodes|examples|tools|tests)\//) {
        ban(where, "\"" header "\" is banned, use a path from the root, such as \"libdag/rows/row_table.hpp\"")
        return
      }
      to = folder_of(header)
      if (place == "outer") {
        if ((header ~ /^libdag\// && header !~ /^libdag\/(client|story|workflows|warden)\//) || header ~ /^(actors|nodes)\//)
          ban(where, header " is banned, use <dag/...>, libdag/client, story, workflows or warden: examples and tools stop there")
        return
      }
      if (place == "deep" || to == "") return
      from = folder_of(path)
      if (from == "" || from == to) return
      if (index(" " uses[from] " ", " " short(to) " ")) return
      if (path ~ /^libdag\// && header ~ /^(actors|nodes)\//)
        ban(where, header " is banned, use a value or a port: libdag knows neither actors nor nodes")
      else
        ban(where, header " is banned, use what the USES list of " from " in CMakeLists.txt names:" uses[from])
    }

    function check_line(where, path, place, text) {
      pure = (path ~ /^libdag\// && path !~ /^libdag\/(net|client)\//)
      if (text ~ /system_clock/ && path !~ /^nodes\/([^\/]*\/)*log[a-z]*[\/._]/)
        ban(where, "system_clock is banned, use Instant and Duration: wall clocks jump, only logs show them")
      if (pure && text ~ /(steady_clock|high_resolution_clock|clock_gettime)/)
        ban(where, "a clock is banned here, use an argument `Instant now`: whoever drives a machine owns its time")
      if (pure && text ~ /(std::random_device|std::mt19937|(^|[^A-Za-z0-9_.>:])(std::)?s?rand *\()/)
        ban(where, "other randomness is banned here, use dag::Random as an argument: one seed, one history")
      if (pure && text ~ /getenv/)
        ban(where, "getenv is banned here, use a value of the configuration as an argument")
      if ((pure || path ~ /^actors\//) && path !~ /^actors\/lanes\//) {
        if (text ~ /(std::(j?thread|async)([^A-Za-z0-9_]|$)|pthread_create)/)
          ban(where, "a thread is banned here, use an actor or a lane: only nodes/ and actors/lanes/ start threads")
        # The arena is an allocator: it serves whatever thread makes an output.
        if (text ~ /std::(recursive_|shared_|timed_)*mutex|std::condition_variable/ && path != "libdag/outputs/arena.cpp")
          ban(where, "a mutex is banned here, use one owner per object: state belongs to one actor or lane")
      }
      if (path ~ /^examples\// && text ~ /(^|[^A-Za-z0-9_])detail::/)
        ban(where, "dag::detail is banned in examples, use what <dag/dag.hpp> offers to everybody")
      if (place == "tests" && text ~ /(sleep_for|sleep_until|[^A-Za-z0-9_](u|nano)?sleep *\()/)
        ban(where, "a sleep is banned in tests, use a wait for the condition")
    }

    # Two types of one name are one to the linker, whatever they are: it keeps one of their destructors.
    function check_type(where, path, text,    name, full) {
      # What is no namespace ends in the first column, too.
      if (text ~ /^\}/ && in_block) { in_block = 0; return }
      if (text ~ /^namespace .*\{$/) {
        name = text
        sub(/^namespace */, "", name); sub(/ *\{$/, "", name); gsub(/::/, "/", name)
        spaces = spaces "|" (name == "" ? "(own)" : name)
      } else if (text ~ /^\}/) {
        sub(/\|[^|]*$/, "", spaces)
      } else if (text ~ /\{$/ && text !~ /^[ \t]*\/\//) {
        in_block = 1
      }
      if (spaces ~ /^\|dag/ && spaces !~ /\(own\)/ && text ~ /^(struct|class|enum class|union) [A-Za-z0-9_]+ .*\{/) {
        name = text
        sub(/^(struct|class|enum class|union) /, "", name); sub(/[^A-Za-z0-9_].*/, "", name)
        full = spaces "/" name
        gsub(/\|/, "/", full)
        if (full in type_in && type_in[full] != path)
          ban(where, name " is banned here, use another name: " type_in[full] " has it")
        type_in[full] = path
      }
    }

    FILENAME == ARGV[1] {  # CMakeLists.txt
      sub(/#.*/, "")
      if ($0 ~ /^ *dag_folder\(/) { collecting = 1; sub(/^ *dag_folder\(/, ""); words = "" }
      if (!collecting) next
      words = words " " $0
      if (words !~ /\)/) next
      collecting = 0
      sub(/\).*/, "", words)
      count = split(words, word, " ")
      listing = 0; list = ""
      for (i = 2; i <= count; ++i) {
        if (word[i] ~ /^(USES|LINKS|PCH)$/) { listing = (word[i] == "USES"); continue }
        if (!listing) continue
        if (!(word[i] in declared))
          ban("CMakeLists.txt:" FNR, word[1] " uses " word[i] ", which is not declared above it: arrows point one way")
        list = list " " word[i]
      }
      uses[word[1]] = list
      declared[short(word[1])] = 1
      next
    }

    FILENAME == ARGV[2] {  # All files and folders.
      if ($0 ~ /(^|[\/_-])(utils?|common|misc)(\.[^\/]*)?$/)
        ban($0, "the name is banned, use one that says what is inside")
      if ($0 ~ /\.(cpp|hpp)$/ && place_of($0) == "layer" && folder_of($0) == "")
        ban($0, "its folder is not declared, use dag_folder() in CMakeLists.txt")
      next
    }

    {  # file:line:text
      path = $0; sub(/:.*/, "", path)
      rest = substr($0, length(path) + 2)
      number = rest; sub(/:.*/, "", number)
      text = substr(rest, length(number) + 2)
      where = path ":" number
      place = place_of(path)
      if (path != last_path) { in_comment = 0; spaces = ""; in_block = 0; last_path = path }
      if (place != "tests") check_type(where, path, text)
      if (!in_comment && text ~ /^[ \t]*#[ \t]*include[ \t]*[<"]/) {
        header = text
        sub(/^[ \t]*#[ \t]*include[ \t]*/, "", header)
        quoted = (header ~ /^"/)
        header = substr(header, 2)
        sub(/[">].*/, "", header)
        check_include(where, path, place, quoted, header)
        next
      }
      # Only code counts: strings and comments go first.
      gsub(/\\"/, "", text); gsub(/"[^"]*"/, "\"\"", text); sub(/\/\/.*/, "", text)
      if (in_comment) { if (!sub(/^.*\*\//, "", text)) next; in_comment = 0 }
      gsub(/\/\*[^*]*\*\//, "", text)
      if (text ~ /\/\*/) { sub(/\/\*.*/, "", text); in_comment = 1 }
      check_line(where, path, place, text)
    }
  ' "$@"
}

# A comment that begins with one of these words makes the reader look for its subject. Pronouns do so, too.
riddles() {
  find "$@" -name node_modules -prune -o -type f -regex '.*\.\(cpp\|hpp\|capnp\|tsx?\|mjs\)' \
       -exec grep -HnE '//+<?[[:space:]]*(What|Of|Who|One|It|They|This|That|These|Those)\b' {} + |
    sed -E 's/^([^:]*:[0-9]+):.*/\1: a comment that begins with What, Of, Who, One or a pronoun is banned, use the noun that it is about or a verb/'
}

check() {
  cd "$1"
  local tops=() top found
  for top in libdag actors nodes examples tools tests; do [ ! -d $top ] || tops+=($top); done
  found=$(rules CMakeLists.txt \
                <(find "${tops[@]}" \( -name node_modules -o -name dist \) -prune -o -print) \
                <(find "${tops[@]}" -name node_modules -prune -o -type f \( -name '*.cpp' -o -name '*.hpp' -o -name '*.h' \) \
                       -exec grep -n '' /dev/null {} +))
  found=$(printf '%s\n' "$found" "$(riddles "${tops[@]}")" | sed '/^$/d')
  [ -n "$found" ] || return 0
  sort -t: -k1,1 -k2,2n <<<"$found"
  return 1
}

# ---- The test of the rules ----------------------------------------------------------------------------------

self_test() {
  local failures=0 found
  home=$(mktemp -d)
  trap 'rm -rf "$home"' EXIT
  cat >"$home/CMakeLists.txt" <<'END'
dag_folder(libdag/base)
dag_folder(libdag/graph  USES base)  # a comment with dag_folder(libdag/not USES real)
dag_folder(libdag/wire   USES base graph LINKS CapnProto::capnp)
dag_folder(libdag/net    USES base wire LINKS PkgConfig::ZMQ)
dag_folder(libdag/client USES base graph)
dag_folder(actors/lanes  USES base graph)
  dag_folder(actors      USES base graph
                              actors_lanes LINKS CAF::core PCH <caf/all.hpp>)
  dag_folder(nodes/http  USES base)
  dag_folder(nodes       USES base graph wire
                              net actors nodes_http)
END
  plant() { mkdir -p "$home/$(dirname "$1")"; printf '%s\n' "${@:2}" >"$home/$1"; }

  # What is allowed must not be found.
  plant libdag/include/dag/graph.hpp '#include <dag/error.hpp>' '#include <vector>'
  plant libdag/base/clean.hpp '#include <dag/error.hpp>' '#include "libdag/base/ids.hpp"' \
    '// std::mutex, getenv and steady_clock in a comment' 'auto text = "std::thread \" rand(";' \
    '/* std::thread' '   std::mutex' '*/ int operand(int grand(int));' 'int strand(int);' \
    'namespace dag {' 'namespace {' 'struct Own {' '};' '}  // namespace' 'namespace inner {' 'int x;' '}' 'void f(int x,' '       int y) {' '}' \
    'struct Taken {' '};' '}  // namespace dag'
  plant libdag/base/clean.cpp '// Whatever, Once, Often' '// Items, Thisbe, Thatcher' 'int what;  ///< its sum'
  plant libdag/graph/clean.cpp '#include "libdag/graph/graph.hpp"' '#include "libdag/base/ids.hpp"' \
    'namespace dag {' 'struct Taken;' 'namespace {' 'struct Own {' '};' '}  // namespace' '}  // namespace dag' \
    'namespace dag::graph {' 'struct Taken {' '};' '}  // namespace dag::graph'
  plant libdag/wire/clean.cpp '#include <capnp/message.h>' '#include <kj/common.h>' '#include "libdag/schema/a.capnp.h"'
  plant libdag/net/clean.cpp '#include <zmq.hpp>' '#include "libdag/wire/frame.hpp"' 'auto now = steady_clock::now();'
  plant actors/clean.cpp '#include <caf/all.hpp>' '#include "actors/lanes/lane.hpp"'
  plant actors/lanes/clean.cpp '#include <thread>' 'std::thread thread;' 'std::mutex mutex;'
  plant nodes/process/clean.cpp '#include <hwloc.h>' '#include <caf/all.hpp>' '#include "nodes/node.hpp"' 'std::thread t;'
  plant nodes/http/clean.cpp '#include <kj/compat/http.h>'
  plant nodes/log/clean.cpp 'auto now = std::chrono::system_clock::now();'
  plant examples/clean/main.cpp '#include <dag/dag.hpp>' '#include "examples/clean/model.hpp"' '#include <cblas.h>'
  plant examples/clean/model.cpp '#include "model.hpp"'
  plant tools/dag/clean.cpp '#include "libdag/client/client.hpp"' '#include "tools/dag/table.hpp"'
  plant tools/sim/actors/clean.cpp '#include <caf/all.hpp>'
  plant tools/sim/clean.cpp '#include "libdag/wire/frame.hpp"'
  plant tests/unit/wire/clean.cpp '#include <capnp/message.h>' '#include "actors/node_actor.hpp"' 'wait_until(done);'
  if ! found=$("$script" "$home"); then
    printf 'found in clean sources:\n%s\n' "$found"
    failures=1
  fi

  # expect PATTERN FILE LINE...: one line of the file (or its folder's name) breaks one rule, whose message matches.
  expect() {
    local pattern=$1 file=$2 output
    plant "${@:2}"
    output=$("$script" "$home" || true)
    if ! grep -qE "^($file|$(dirname "$file")):.*$pattern" <<<"$output" || [ "$(wc -l <<<"$output")" -ne 1 ]; then
      printf 'planted in %s: %s\n  expected one finding: %s\n  found: %s\n' "$file" "${*:3}" "$pattern" "$output"
      failures=1
    fi
    rm "$home/$file"
    find "$home" -type d -empty -delete
  }
  expect '2: caf/all.hpp is banned, use a port'         libdag/base/a.cpp '' '#include <caf/all.hpp>'
  expect 'caf/actor.hpp is banned'                      actors/lanes/a.cpp '#include "caf/actor.hpp"'
  expect 'caf/all.hpp is banned'                        examples/a.cpp '#include <caf/all.hpp>'
  expect 'caf/all.hpp is banned'                        tools/sim/a.cpp '#include <caf/all.hpp>'
  expect 'zmq.hpp is banned, use libdag/net'            nodes/a.cpp '#include <zmq.hpp>'
  expect 'zmq.h is banned, use libdag/net'              libdag/client/a.cpp '#  include <zmq.h>'
  expect 'capnp/message.h is banned, use the values'    libdag/net/a.cpp '#include <capnp/message.h>'
  expect 'kj/io.h is banned'                            tools/bench/a.cpp '#include <kj/io.h>'
  expect 'kj/io.h is banned'                            nodes/a.cpp '#include <kj/io.h>'
  expect 'capnp/message.h is banned'                    nodes/http/a.cpp '#include <capnp/message.h>'
  expect 'job.capnp.h is banned'                        actors/a.cpp '#include "libdag/schema/job.capnp.h"'
  expect 'hwloc.h is banned, use libdag/placement'      actors/a.cpp '#include <hwloc.h>'
  expect 'libdag knows neither actors nor nodes'        libdag/client/a.cpp '#include "nodes/node.hpp"'
  expect 'libdag knows neither actors nor nodes'        libdag/base/a.hpp '#include "actors/ports.hpp"'
  expect 'USES list of actors '                         actors/a.cpp '#include "libdag/net/socket.hpp"'
  expect 'USES list of actors '                         actors/a.cpp '#include "libdag/wire/frame.hpp"'
  expect 'USES list of actors '                         actors/a.cpp '#include "nodes/node.hpp"'
  expect 'USES list of actors/lanes '                   actors/lanes/a.cpp '#include "actors/node_actor.hpp"'
  expect 'USES list of libdag/base '                    libdag/base/a.cpp '#include "libdag/graph/graph.hpp"'
  expect 'USES list of libdag/graph .*: base$'          libdag/graph/a.hpp '#include "libdag/client/client.hpp"'
  expect 'examples and tools stop there'                examples/a.cpp '#include "libdag/graph/graph.hpp"'
  expect 'examples and tools stop there'                examples/a/main.cpp '#include "nodes/node.hpp"'
  expect 'dag/graph.hpp is banned, use <dag/dag.hpp>'   examples/a.cpp '#include <dag/graph.hpp>'
  expect 'client.hpp is banned, use <dag/dag.hpp>'      examples/a.cpp '#include "libdag/client/client.hpp"'
  expect 'dag::detail is banned in examples'            examples/a/a.cpp 'auto blob = dag::detail::to_blob(1);'
  expect 'examples and tools stop there'                tools/dag/a.cpp '#include "libdag/net/socket.hpp"'
  expect 'public headers are installed alone'           libdag/include/dag/a.hpp '#include "libdag/base/ids.hpp"'
  expect 'public headers are installed alone'           libdag/include/dag/a.hpp '#include <spdlog/spdlog.h>'
  expect 'use a path from the root'                     libdag/graph/a.cpp '#include "graph.hpp"'
  expect 'system_clock is banned'                       nodes/a.cpp 'auto t = std::chrono::system_clock::now();'
  expect 'a clock is banned here'                       libdag/graph/a.cpp 'auto t = std::chrono::steady_clock::now();'
  expect 'other randomness is banned'                   libdag/base/a.cpp 'std::random_device device;'
  expect 'other randomness is banned'                   libdag/base/a.cpp 'int x = rand();'
  expect 'getenv is banned'                             libdag/wire/a.cpp 'auto x = std::getenv("X");'
  expect 'a thread is banned'                           libdag/base/a.cpp 'std::thread t;'
  expect 'a thread is banned'                           actors/a.cpp 'std::jthread t;'
  expect 'a mutex is banned'                            libdag/graph/a.hpp 'std::mutex m;  // why not'
  expect 'a mutex is banned'                            actors/a.hpp '/* so */ std::shared_mutex m;'
  expect 'a sleep is banned in tests'                   tests/unit/a.cpp '  std::this_thread::sleep_for(1s);'
  expect 'a sleep is banned in tests'                   tests/cluster/a.cpp '  usleep(3);'
  expect '2: Taken is banned here, use another name'    nodes/a.hpp 'namespace dag {' 'struct Taken : Other {'
  expect 'Taken is banned here'                         nodes/a.cpp 'namespace dag::graph {' 'enum class Taken {'
  expect 'the name is banned'                           libdag/base/utils.hpp ''
  expect 'the name is banned'                           actors/common.cpp ''
  expect 'the name is banned'                           tools/misc/.keep ''
  expect 'the name is banned'                           examples/graph_utils.hpp ''
  expect 'its folder is not declared'                   libdag/novel/a.cpp ''

  expect 'a comment that begins with What'              libdag/base/a.cpp 'int sum;  ///< Of the row.'
  expect 'a comment that begins with What'              nodes/http/a.hpp '//One of them.'
  expect 'a comment that begins with What'              libdag/schema/a.capnp '// Who is asked.'
  expect 'a comment that begins with What'              nodes/web/a.ts '  // What the page shows.'
  expect 'a comment that begins with What'              nodes/web/a.tsx '// What the page shows.'
  expect 'a comment that begins with What'              tests/web/a.mjs '// What the page shows.'
  expect 'or a pronoun is banned'                       libdag/base/a.hpp '/// It runs.'
  expect 'or a pronoun is banned'                       actors/a.cpp 'int sum;  // They are added.'
  expect 'or a pronoun is banned'                       nodes/a.cpp '// This node.'
  expect 'or a pronoun is banned'                       tools/dag/a.cpp '// That is so.'
  expect 'or a pronoun is banned'                       tests/unit/a.cpp '//These are.'
  expect 'or a pronoun is banned'                       examples/a.cpp '  ///< Those of the row.'

  sed -i 's/dag_folder(libdag\/graph  USES base)/dag_folder(libdag\/graph USES base client)/' "$home/CMakeLists.txt"
  found=$("$script" "$home" || true)
  if ! grep -q 'libdag/graph uses client, which is not declared above it' <<<"$found"; then
    printf 'a cycle in the USES lists was not found\n'
    failures=1
  fi
  [ $failures -eq 0 ] && printf 'layering.sh finds what it should\n'
  return $failures
}

case ${1:-} in
  --help | -h) usage ;;
  --self-test) self_test ;;
  -*) usage >&2; exit 2 ;;
  *) check "${1:-$(dirname "$script")/../..}" ;;
esac
