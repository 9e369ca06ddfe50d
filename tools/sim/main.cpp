// dag-sim: whole clusters under virtual time, one seed each.
//
//   dag-sim chaos --seeds 1-2000 [--json]     run them; the first failure's command is printed
//   dag-sim chaos --seeds-in FILE             those that begin a line of it
//   dag-sim chaos --seed 41 [--trace]         one seed; with --trace all that happened, and the trace's hash

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

#include "tools/sim/chaos.hpp"

namespace {

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

int usage(const char* what) {
  std::fprintf(stderr,
               "dag-sim: %s\n"
               "usage: dag-sim chaos --seeds FIRST-LAST [--json]\n"
               "       dag-sim chaos --seeds-in FILE [--json]\n"
               "       dag-sim chaos --seed N [--trace] [--json]\n",
               what);
  return exit_usage;
}

bool parse(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

/// The number at the beginning of each line; `#` begins a remark. Empty when the file cannot be read.
std::vector<std::uint64_t> seeds_in(const std::string& path) {
  std::vector<std::uint64_t> seeds;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::uint64_t seed = 0;
    if (parse(std::string_view(line).substr(0, line.find(' ')), seed)) {
      seeds.push_back(seed);
    } else if (!line.empty() && line[0] != '#') {
      return {};
    }
  }
  return seeds;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
    usage("simulates clusters from seeds and checks what must never happen");
    return 0;
  }
  if (argc < 2 || std::strcmp(argv[1], "chaos") != 0) return usage("say what to do: chaos");
  std::uint64_t first = 1, last = 200;
  std::vector<std::uint64_t> listed;
  bool json = false;
  dag::sim::ChaosOptions options;
  for (int i = 2; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const std::string_view value = i + 1 < argc ? argv[i + 1] : "";
    if (flag == "--json") {
      json = true;
    } else if (flag == "--trace") {
      options.trace = true;
    } else if (flag == "--seed") {
      if (!parse(value, first)) return usage("--seed wants a number");
      last = first;
      ++i;
    } else if (flag == "--seeds-in") {
      listed = seeds_in(std::string(value));
      if (listed.empty()) return usage("--seeds-in wants a file with a seed at the beginning of each line");
      first = 0;
      last = listed.size() - 1;
      ++i;
    } else if (flag == "--seeds") {
      const std::size_t dash = value.find('-');
      if (dash == value.npos || !parse(value.substr(0, dash), first) ||
          !parse(value.substr(dash + 1), last) || last < first) {
        return usage("--seeds wants a range, as 1-2000");
      }
      ++i;
    } else {
      return usage(("unknown flag " + std::string(flag)).c_str());
    }
  }

  const auto began = std::chrono::steady_clock::now();
  std::uint64_t failed = 0, events = 0, hash = 0xCBF29CE484222325ULL;
  std::string first_violation;
  std::uint64_t first_failed = 0;
  std::map<std::string, std::uint64_t> seen;
  for (std::uint64_t i = first; i <= last; ++i) {
    const std::uint64_t seed = listed.empty() ? i : listed[i];
    const dag::sim::ChaosResult result = dag::sim::chaos(seed, options);
    events += result.events;
    hash = (hash ^ result.trace_hash) * 0x100000001B3ULL;
    for (const auto& [what, count] : result.seen) seen[what] += count;
    if (result.violation.empty()) continue;
    if (failed++ == 0) {
      first_violation = result.violation;
      first_failed = seed;
    }
    std::fprintf(stderr, "seed %llu: %s\n  again: dag-sim chaos --seed %llu --trace\n",
                 static_cast<unsigned long long>(seed), result.violation.c_str(),
                 static_cast<unsigned long long>(seed));
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const auto seeds = static_cast<unsigned long long>(last - first + 1);
  if (json) {
    std::printf(
        "{\"seeds\": %llu, \"failed\": %llu, \"events\": %llu, \"seconds\": %.3f, \"trace_hash\": "
        "\"%016llx\"",
        seeds, static_cast<unsigned long long>(failed), static_cast<unsigned long long>(events), seconds,
        static_cast<unsigned long long>(hash));
    if (failed > 0) {
      std::printf(", \"first_failed\": %llu, \"violation\": %s",
                  static_cast<unsigned long long>(first_failed), quoted(first_violation).c_str());
    }
    std::printf(", \"seen\": {");
    const char* comma = "";
    for (const auto& [what, count] : seen) {
      std::printf("%s%s: %llu", comma, quoted(what).c_str(), static_cast<unsigned long long>(count));
      comma = ", ";
    }
    std::printf("}}\n");
  } else {
    std::printf("%llu seeds, %llu failed, %llu events, %.1f s (%.0f seeds/s), trace hash %016llx\n", seeds,
                static_cast<unsigned long long>(failed), static_cast<unsigned long long>(events), seconds,
                static_cast<double>(seeds) / seconds, static_cast<unsigned long long>(hash));
  }
  return failed == 0 ? 0 : exit_failed;
}
