#!/bin/bash
# Instructions of an empty task, by phase: the difference of two sizes of one graph under callgrind, so that what a job costs
# besides its tasks cancels. A clock cannot tell them on a shared machine; these repeat to 1 %, and noise only adds.
set -euo pipefail
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/steps.sh"

usage() {
  cat <<'END'
Usage: tools/dev/instructions.sh [--bin FOLDER] [--runs N] [--json] [--functions SHAPE] [--ceilings FILE] [--lower]
Counts the instructions of an empty task for each shape of dag-bench overhead, and prints a table by phase.
  --bin FOLDER       has dag-bench-peer-libdag (build/release/bin, which is built first)
  --runs N           the least of N runs of each shape (1)
  --json             the table as JSON
  --functions SHAPE  the functions of this shape, the dearest first, with their phases
  --ceilings FILE    fails when a shape needs more than its line of FILE says; runs three times at most
  --lower            with --ceilings: writes the counts into FILE where they are lower, with a margin of 1.5 %
  --help             this text
Exit status 77: valgrind is not installed (Debian package valgrind).
END
}

bin= runs=1 json=no functions= ceilings= lower=no shapes=
while [ $# -gt 0 ]; do
  case $1 in
    --bin) bin=${2:?}; shift ;;
    --runs) runs=${2:?}; shift ;;
    --json) json=yes ;;
    --functions) functions=${2:?}; shift ;;
    --ceilings) ceilings=${2:?}; shift ;;
    --lower) lower=yes ;;
    --help | -h) usage; exit 0 ;;
    *) wrong_use "unknown option '$1'" ;;
  esac
  shift
done
[ -z "$ceilings" ] || [ -f "$ceilings" ] || give_up "there is no file $ceilings"
command -v valgrind >/dev/null || { say "skipped: valgrind is not installed (Debian package valgrind)"; exit 77; }
if [ -z "$bin" ]; then
  build release dag-bench-peer-libdag
  bin=$root/build/release/bin
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/cheapest"

# count: one run. Of the dumps each second one is a counted round: every shape with fewer tasks, then with more.
count() {
  rm -f "$work"/dump*
  valgrind --tool=callgrind --fair-sched=yes --callgrind-out-file="$work/dump" --compress-strings=no --compress-pos=no \
    --dump-before=dag_bench_counting_mark "$bin/dag-bench-peer-libdag" counted --threads 1 \
    >"$work/answer" 2>"$work/messages" || { cat "$work/messages" >&2; give_up "the counted program failed"; }
  local answer fewer more at=2 shape
  answer=$(tail -n 1 "$work/answer")
  shapes=$(sed 's/.*"counted":"\([^"]*\)".*/\1/' <<<"$answer")
  fewer=$(sed 's/.*"fewer":\([0-9]*\).*/\1/' <<<"$answer")
  more=$(sed 's/.*"more":\([0-9]*\).*/\1/' <<<"$answer")
  for shape in $shapes; do
    awk -v tasks=$((more - fewer)) -v shape="$shape" '
      /^fn=/ { name = substr($0, 4); next }
      /^calls=/ { inclusive = 1; next }
      /^[0-9]/ { if (!inclusive) cost[name] += FILENAME == ARGV[1] ? -$2 : $2; inclusive = 0 }
      END { for (name in cost) printf "%s\t%.2f\t%s\n", shape, cost[name] / tasks, name }
    ' "$work/dump.$at" "$work/dump.$((at + 2))"
    at=$((at + 4))
  done >"$work/counted"
  # A run is kept, shape by shape, when it is the cheapest.
  awk -F '\t' '
    { line[NR] = $0; shape[NR] = $1; from[NR] = FILENAME; sum[FILENAME, $1] += $2; there[FILENAME, $1] = 1 }
    END {
      for (i = 1; i <= NR; ++i) {
        other = from[i] == ARGV[1] ? ARGV[2] : ARGV[1]
        if (!((other, shape[i]) in there) || sum[from[i], shape[i]] < sum[other, shape[i]]) print line[i]
      }
    }' "$work/cheapest" "$work/counted" >"$work/cheaper"
  mv "$work/cheaper" "$work/cheapest"
}

# with_phases: SHAPE, COUNT, FUNCTION with the phase before the function; the first pattern that fits decides.
with_phases() {
  awk -F '\t' -v OFS='\t' '
    function phase(name) {
      if (name ~ /dag::bench::/) return "benchmark"
      if (name ~ /dag::Lanes|LaneRows|LaneShard|gather_inputs|call_kernel|forked_child|__tls_get_addr|RowRing|Deque/) return "lane"
      if (name ~ /detail::Builder|Builder::Index|Policy::operator==|make_room|detail::Argument|WarmArrays/) return "build"
      if (name ~ /dag::check|anonymous namespace\)::check_|::wrong_with/) return "check"
      if (name ~ /RowTable::~|~Fragment|::~Home/) return "destroy"
      if (name ~ /RowTable::(add|plain|finish)|Impl::(add_rows|satisfy|open)\(|::begin\(dag::message::JobState|_default_append/) return "rows set up"
      if (name ~ /Impl::(maybe_let_go|release_inputs|lingers|drop_bytes|let_go|consumer_done|lean_settled|on\(dag::Life, dag::message::Settled)/) return "settle, release"
      if (name ~ /Impl::(flush|write|write_plain|named_only)\(|attempt_of|message::add_task|message::Outcomes/) return "cut"
      if (name ~ /dag::Cell|RipeStep|SaidSteps/) return "cell"
      if (name ~ /dag::Home|dag::Ledger|RowTable|FinishPlacer|dag::Predictor/) return "home"
      if (name ~ /caf::/) return "CAF"
      if (name ~ /malloc|_int_free|^free$|operator (new|delete)|calloc|realloc|mem(cpy|set|move|cmp)/) return "memory"
      return "other"
    }
    { print $1, $2, phase($3), $3 }' "$work/cheapest"
}

phases="build|check|rows set up|lane|home|cut|cell|settle, release|destroy|CAF|memory|benchmark|other"

table() {
  with_phases | awk -F '\t' -v names="$phases" -v json="$json" -v in_order="$shapes" '
    { cost[$3, $1] += $2; all[$1] += $2 }
    END {
      count = split(in_order, shapes, " ")
      phases = split(names, phase, "|")
      if (json == "yes") {
        printf "{\"unit\":\"instructions per task\",\"shapes\":{"
        for (s = 1; s <= count; ++s) {
          printf "%s\"%s\":{\"total\":%.0f,\"phases\":{", (s > 1 ? "," : ""), shapes[s], all[shapes[s]]
          for (p = 1; p <= phases; ++p) printf "%s\"%s\":%.1f", (p > 1 ? "," : ""), phase[p], cost[phase[p], shapes[s]]
          printf "}}"
        }
        print "}}"
        exit
      }
      printf "%-16s", "phase"
      for (s = 1; s <= count; ++s) printf " %13s", shapes[s]
      print ""
      for (p = 1; p <= phases; ++p) {
        printf "%-16s", phase[p]
        for (s = 1; s <= count; ++s) printf " %13.0f", cost[phase[p], shapes[s]]
        print ""
      }
      printf "%-16s", "total"
      for (s = 1; s <= count; ++s) printf " %13.0f", all[shapes[s]]
      print ""
    }'
}

# above_ceilings: a sentence per shape that needs more than its ceiling, or has none.
above_ceilings() {
  awk -F '\t' 'FILENAME == ARGV[1] { split($0, words, " "); if ($0 !~ /^(#|$)/) ceiling[words[1]] = words[2]; next }
       !($1 in sum) { shapes[++count] = $1 }
       { sum[$1] += $2 }
       END {
         for (s = 1; s <= count; ++s) {
           shape = shapes[s]
           if (!(shape in ceiling)) printf "%s has no ceiling\n", shape
           else if (sum[shape] > ceiling[shape]) printf "%s: %.0f instructions per task, at most %d are allowed\n", shape, sum[shape], ceiling[shape]
         }
       }' "$ceilings" "$work/cheapest"
}

lower_ceilings() {
  awk -F '\t' 'FILENAME == ARGV[1] { sum[$1] += $2; next }
       { split($0, words, " "); wanted = int(sum[words[1]] * 1.015 + 1) }
       /^(#|$)/ || !(words[1] in sum) || wanted >= words[2] { print; next }
       { printf "%-15s %d\n", words[1], wanted }' "$work/cheapest" "$ceilings" >"$work/lower"
  cat "$work/lower" >"$ceilings"
}

for ((run = 1; run <= runs; ++run)); do count; done
if [ -n "$ceilings" ]; then
  for again in 2 3; do
    [ -n "$(above_ceilings)" ] || break
    count
  done
fi
if [ -n "$functions" ]; then
  with_phases | awk -F '\t' -v shape="$functions" '$1 == shape && ($2 >= 1 || $2 <= -1)' | sort -t "$(printf '\t')" -k 2 -rn |
    awk -F '\t' '{ printf "%8.1f  %-16s %s\n", $2, $3, $4 }'
else
  table
fi
if [ -n "$ceilings" ]; then
  faults=$(above_ceilings)
  [ $lower = no ] || lower_ceilings
  [ -z "$faults" ] || give_up "$faults"
fi
