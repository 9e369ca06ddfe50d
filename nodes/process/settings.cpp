#include "nodes/process/settings.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "libdag/client/state_dir.hpp"

namespace dag {
namespace {

constexpr std::string_view prefix = "DAG_";

std::map<std::string, std::string> variables() {
  std::map<std::string, std::string> all;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view line = *one;
    const auto equals = line.find('=');
    if (line.starts_with(prefix) && equals != std::string_view::npos) {
      all.emplace(line.substr(0, equals), line.substr(equals + 1));
    }
  }
  return all;
}

/// Empty: there is no such file. One that cannot be read is an error, since nobody would guess why it has no
/// effect.
Result<std::optional<SettingsFile>> read_file(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  if (!file && errno == ENOENT) return std::optional<SettingsFile>{};
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || file.bad()) {
    return Error{ErrorCode::configuration_invalid, "cannot read " + name + ": " + strerror(errno)};
  }
  return std::optional(SettingsFile{name, text.str()});
}

std::vector<std::string> usual_files() {
  std::vector<std::string> names{"./dag.toml"};
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  if (config != nullptr && *config == '/') {
    names.push_back(std::string(config) + "/dag/config.toml");
  } else if (home != nullptr && *home == '/') {
    names.push_back(std::string(home) + "/.config/dag/config.toml");
  }
  names.push_back("/etc/dag/config.toml");
  return names;
}

}  // namespace

Result<std::optional<Settings>> settings_of(int argc, const char* const* argv) {
  Result<Flags> flags = parse_flags({argv + (argc > 0 ? 1 : 0), argv + argc});
  if (!flags) return flags.error();
  if (flags->contains("help")) {
    std::cout << settings_help();
    return std::optional<Settings>{};
  }
  SettingsSources sources;
  sources.flags = std::move(flags).value();
  sources.environment = variables();
  sources.state_dir = detail::state_dir_default();
  std::string given = sources.environment["DAG_CONFIG"];
  if (const auto flag = sources.flags.find("config"); flag != sources.flags.end()) given = flag->second;
  for (const std::string& name : given.empty() ? usual_files() : std::vector{given}) {
    auto file = read_file(name);
    if (!file) return file.error();
    if (*file) {
      sources.files.push_back(std::move(**file));
    } else if (!given.empty()) {
      return Error{ErrorCode::configuration_invalid, "there is no file " + name,
                   "--config and DAG_CONFIG name a file of settings; config/dagd.toml is an example"};
    }
  }
  Result<Settings> settings = parse_settings(sources);
  if (!settings) return settings.error();
  if (const auto form = sources.flags.find("settings"); form != sources.flags.end()) {
    const Result<std::string> text = settings_text(*settings, form->second);
    if (!text) return text.error();
    std::cout << *text;
    return std::optional<Settings>{};
  }
  return std::optional(std::move(settings).value());
}

}  // namespace dag
