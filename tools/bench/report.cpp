#include "tools/bench/report.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

namespace dag::bench {
namespace {

using nlohmann::json;

json to_json(const Summary& summary) {
  return {{"count", summary.count},   {"min", summary.minimum},       {"q1", summary.lower_quartile},
          {"median", summary.median}, {"q3", summary.upper_quartile}, {"max", summary.maximum}};
}

json to_json(const Row& row, const Series& series) {
  json entry = to_json(summarise(series.values));
  entry["runner"] = series.runner;
  entry["values"] = series.values;
  entry["min"] = series.minimum();
  if (!series.least.empty()) entry["least"] = series.least;
  entry["lower_bound"] = series.lower_bound;
  for (const auto& [name, values] : series.parts) entry["parts"][name] = to_json(summarise(values));
  for (const Series& other : row.series) {
    if (other.runner == series.runner) continue;
    if (const auto ratio = row.ratio(series.runner, other.runner)) entry["ratio"][other.runner] = *ratio;
  }
  return entry;
}

json to_json(const Section& section) {
  json rows = json::array(), verdicts = json::array();
  for (const Row& row : section.rows) {
    json entry = {{"workload", row.workload}, {"unit", row.unit}, {"runners", json::array()}};
    for (const Series& series : row.series) entry["runners"].push_back(to_json(row, series));
    rows.push_back(std::move(entry));
  }
  for (const Verdict& verdict : section.verdicts) {
    verdicts.push_back({{"goal", verdict.goal},
                        {"workload", verdict.workload},
                        {"wanted", verdict.wanted},
                        {"limit", verdict.limit},
                        {"result", verdict.result},
                        {"met", verdict.met()}});
  }
  return {{"command", section.command},
          {"explained", section.explained},
          {"rows", std::move(rows)},
          {"verdicts", std::move(verdicts)}};
}

/// Three digits that matter, without an exponent.
std::string digits(double value) {
  std::ostringstream text;
  const double size = std::abs(value);
  const int after_point =
      size == 0 || size >= 100 ? 0 : std::clamp(2 - static_cast<int>(std::floor(std::log10(size))), 0, 6);
  text << std::fixed << std::setprecision(after_point) << value;
  return text.str();
}

/// Width as a person sees it: characters, not bytes of UTF-8.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

/// Markdown, so that it reads well on a terminal and in RESULTS.md.
void print_table(std::ostream& out, const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths(lines.front().size(), 3);
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));
  }
  for (std::size_t n = 0; n < lines.size(); ++n) {
    for (std::size_t i = 0; i < lines[n].size(); ++i) {
      out << "| " << lines[n][i] << std::string(widths[i] - width(lines[n][i]) + 1, ' ');
    }
    out << "|\n";
    if (n > 0) continue;
    for (const std::size_t one : widths) out << '|' << std::string(one + 2, '-');
    out << "|\n";
  }
}

void print(std::ostream& out, const Section& section) {
  out << "\n## " << section.command << "\n\n" << section.explained << "\n\n";
  std::vector<std::vector<std::string>> lines = {
      {"workload", "runner", "median", "min", "max", "unit", "libdag is"}};
  for (const Row& row : section.rows) {
    for (const Series& series : row.series) {
      const Summary summary = summarise(series.values);
      std::string parts;
      for (const auto& [name, values] : series.parts) {
        parts += (parts.empty() ? " (" : ", ") + name + " " + digits(summarise(values).median);
      }
      if (!parts.empty()) parts += ")";
      const auto ratio = row.ratio("libdag", series.runner);
      lines.push_back({row.workload, series.runner,
                       (series.lower_bound ? "> " : "") + digits(summary.median) + parts,
                       digits(series.minimum()), digits(summary.maximum), row.unit,
                       series.runner == "libdag" || !ratio ? "" : digits(*ratio) + " ×"});
    }
  }
  print_table(out, lines);
}

}  // namespace

const Series* Row::find(std::string_view runner) const {
  const auto found =
      std::find_if(series.begin(), series.end(), [&](const Series& one) { return one.runner == runner; });
  return found == series.end() || found->values.empty() ? nullptr : &*found;
}

std::optional<double> Row::ratio(std::string_view runner, std::string_view other) const {
  const Series *above = find(runner), *below = find(other);
  if (above == nullptr || below == nullptr || below->lower_bound || below->median() == 0) return std::nullopt;
  return above->median() / below->median();
}

Series::Part& Series::part(const std::string& name) {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [&](const Part& one) { return one.name == name; });
  return found != parts.end() ? *found : parts.emplace_back(Part{name, {}});
}

std::string Verdict::at_most_text(double limit, std::string_view unit) {
  return "≤ " + digits(limit) + " " + std::string(unit);
}

void Section::judge_ratio(std::string goal, const Row& row, std::string_view other, double limit) {
  const auto ratio = row.ratio("libdag", other);
  if (!ratio || (row.find("libdag")->lower_bound && *ratio <= limit)) return;
  verdicts.push_back(
      {std::move(goal), row.workload, "≤ " + digits(limit) + " × " + std::string(other), limit, *ratio});
}

json to_json(const Report& report) {
  json skipped = json::array(), sections = json::array(), failed = json::array();
  for (const Skipped& one : report.skipped)
    skipped.push_back({{"runner", one.runner}, {"package", one.package}});
  for (const Section& section : report.sections) sections.push_back(to_json(section));
  for (const Failed& one : report.failed) failed.push_back({{"command", one.command}, {"why", one.why}});
  const Machine& machine = report.machine;
  return {{"machine",
           {{"cpu", machine.cpu},
            {"cores", machine.cores},
            {"kernel", machine.kernel},
            {"governor", machine.governor},
            {"load", machine.load},
            {"busy", machine.busy()},
            {"memory_gib", machine.memory_gib},
            {"compiler", machine.compiler}}},
          {"threads", report.threads},
          {"repetitions", report.repetitions},
          {"quick", report.quick},
          {"skipped", std::move(skipped)},
          {"sections", std::move(sections)},
          {"failed", std::move(failed)}};
}

void print(std::ostream& out, const Report& report) {
  const Machine& machine = report.machine;
  out << machine.cpu << ", " << machine.cores << " cores, " << digits(machine.memory_gib) << " GiB, "
      << machine.kernel << ", governor " << (machine.governor.empty() ? "unknown" : machine.governor)
      << ", load at start " << digits(machine.load) << ", " << machine.compiler << "\n";
  out << report.threads << " threads, " << report.repetitions
      << " repetitions, medians; runners interleaved, each "
      << "measurement a process of its own\n";
  if (machine.busy()) {
    out << "the machine was busy before this began: others were measured too; repeat it when they are done\n";
  }
  if (report.quick) out << "--quick: this shows that the benchmark works; its figures mean nothing\n";
  for (const Skipped& one : report.skipped) {
    out << one.runner << " skipped: not built; install " << one.package
        << " (tools/bench/install_peers) and build again\n";
  }
  for (const Failed& one : report.failed) out << one.command << " failed: " << one.why << "\n";
  std::vector<std::vector<std::string>> goals = {{"goal", "workload", "wanted", "result", ""}};
  for (const Section& section : report.sections) {
    print(out, section);
    for (const Verdict& verdict : section.verdicts) {
      goals.push_back({verdict.goal, verdict.workload, verdict.wanted, digits(verdict.result),
                       verdict.met() ? "met" : "missed"});
    }
  }
  if (goals.size() == 1) return;
  out << "\n## Goals\n\n";
  print_table(out, goals);
}

}  // namespace dag::bench
