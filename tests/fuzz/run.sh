#!/bin/bash
# Searches with one libFuzzer target for DAG_FUZZ_SECONDS (60), on all cores, from the kept corpus. What it finds stays beside the
# target: found/ holds inputs that reach new code (worth merging into the corpus), crashes/ those that broke it.
# Usage: run.sh TARGET CORPUS
set -euo pipefail
target=$1
corpus=$2
found=$target.found
crashes=$target.crashes
mkdir -p "$found" "$crashes"
kept=()
[ ! -d "$corpus" ] || kept=("$corpus")
"$target" -fork="$(nproc)" -print_funcs=0 -max_total_time="${DAG_FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
          -artifact_prefix="$crashes/" "$found" "${kept[@]}" 2>&1 | tail -n 40 ||
  { echo "the input that broke it is in $crashes; keep it in $corpus once it is mended"; exit 1; }
