// Settings as text: what `dagd --settings` prints.

#include <algorithm>
#include <array>
#include <cstdio>

#include "nodes/process/settings.hpp"

namespace dag {
namespace {

/// As TOML writes it and JSON reads it.
std::string in_quotes(std::string_view text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    if (static_cast<unsigned char>(c) >= ' ' && c != 0x7F) {
      all += c;
      continue;
    }
    std::array<char, 8> escaped{};
    std::snprintf(escaped.data(), escaped.size(), "\\u%04X", static_cast<unsigned>(c) & 0xFF);
    all += escaped.data();
  }
  return all + '"';
}

std::string written(std::uint32_t value) { return std::to_string(value); }
std::string written(bool value) { return value ? "true" : "false"; }
std::string written(const std::string& value) { return in_quotes(value); }
std::string written(const net::Address& value) { return in_quotes(net::to_string(value)); }
std::string written(const std::optional<net::Address>& value) {
  return value ? written(*value) : in_quotes("off");
}
std::string written(const CoreShare& value) {
  return "[" + std::to_string(value.rank) + ", " + std::to_string(value.size) + "]";
}
std::string written(const ClusterId& value) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%llx", static_cast<unsigned long long>(value.value));
  return in_quotes(digits.data());
}
std::string written(const std::vector<std::string>& value) {
  std::string all;
  for (const std::string& one : value) all += (all.empty() ? "" : ", ") + in_quotes(one);
  return "[" + all + "]";
}

struct Line {
  std::string_view name;
  std::string value, origin;
  bool is_secret = false;  ///< `value` only says that there is one
};

template <class T>
Line line(std::string_view name, const Setting<T>& setting) {
  return {name, written(setting.value), setting.origin, false};
}

Line line_of_secret(std::string_view name, const Setting<std::string>& setting) {
  if (setting.value.empty()) return line(name, setting);
  return {name, in_quotes("(not shown)"), setting.origin, true};
}

std::vector<Line> lines_of(const Settings& s) {
  return {line("id", s.id),
          line("listen", s.listen),
          line("peers", s.peers),
          line("http", s.http),
          line_of_secret("http_token", s.http_token),
          line("lanes", s.lanes),
          line("niceness", s.niceness),
          line("spawn_tasks", s.spawn_tasks),
          line("spawn_bytes", s.spawn_bytes),
          line("keep_warm", s.keep_warm),
          line("replicas", s.replicas),
          line("witness", s.witness),
          line("share", s.share),
          line("log", s.log),
          line("state_dir", s.state_dir),
          line("data", s.data),
          line("journal_runs", s.journal_runs),
          line("journal", s.journal),
          line("results_kept_for", s.results_kept_for),
          line("results_mib", s.results_mib),
          line("cluster", s.cluster)};
}

std::string toml(const std::vector<Line>& lines, bool with_origins) {
  std::string text = "[node]\n";
  for (const Line& one : lines) {
    // No key stands for nothing where one may be left out; the parser takes no empty name.
    const bool unsaid = one.is_secret || one.value == "\"\"";
    std::string left = (unsaid ? "# " : "") + std::string(one.name) + " = " + one.value;
    if (with_origins) {
      left.resize(std::max<std::size_t>(left.size() + 2, 32), ' ');
      left += "# " + one.origin;
    }
    text += left + "\n";
  }
  return text;
}

std::string json(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& one : lines) {
    text += (text.empty() ? "" : ",") + in_quotes(one.name) + ":{\"value\":" + one.value +
            ",\"origin\":" + in_quotes(one.origin) + "}";
  }
  return "{\"node\":{" + text + "}}\n";
}

}  // namespace

Result<std::string> settings_text(const Settings& settings, const std::string& form) {
  const std::vector<Line> lines = lines_of(settings);
  if (form == "toml") return toml(lines, false);
  if (form == "origin") return toml(lines, true);
  if (form == "json") return json(lines);
  return Error{ErrorCode::usage, "--settings is '" + form + "', but must be toml, origin or json"};
}

}  // namespace dag
