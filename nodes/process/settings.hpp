#pragma once
// A node's settings from outside: command line, environment, files. Decides which source wins and which
// values are valid; the node acts on them. parse_settings is pure, settings_of reads the world.
//
// flag > DAG_* > ./dag.toml > ~/.config/dag/config.toml > /etc/dag/config.toml > default, for each key by
// itself. --config FILE (or DAG_CONFIG) stands for all three files. config/dagd.toml says what each key
// means.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libdag/base/result.hpp"
#include "libdag/job/spawn_credit.hpp"
#include "libdag/link/frame_header.hpp"
#include "libdag/net/address.hpp"
#include "nodes/machine/cores.hpp"

namespace dag {

/// A value and its source: `default`, `./dag.toml:3`, `DAG_LANES` or `--lanes`.
template <class T>
struct Setting {
  T value{};
  std::string origin = "default";
};

struct Settings {
  Setting<std::uint32_t> id;
  Setting<net::Address> listen{{"127.0.0.1", 0}};
  /// Valid addresses, as they were written. Empty: this node is the first of its cluster.
  Setting<std::vector<std::string>> peers;
  Setting<std::optional<net::Address>> http{net::Address{"127.0.0.1", 0}};  ///< nothing: nowhere
  Setting<std::string> http_token;                                          ///< required of HTTP requests
  Setting<std::uint32_t> lanes;     ///< 0: as many as the share has cores
  Setting<std::uint32_t> niceness;  ///< of lanes, as of nice(1)
  Setting<std::uint32_t> spawn_tasks{static_cast<std::uint32_t>(SpawnCredit{}.tasks)};
  Setting<std::uint32_t> spawn_bytes{static_cast<std::uint32_t>(SpawnCredit{}.bytes)};
  Setting<std::uint32_t> keep_warm{3};  ///< seconds that a worker process waits for the next job
  Setting<std::uint32_t> replicas{3};   ///< nodes that hold the record of a job
  Setting<bool> witness;                ///< holds copies of records, and runs nothing
  Setting<CoreShare> share;
  Setting<std::string> log{"warn"};
  Setting<std::string> state_dir;
  Setting<std::string> data;                      ///< empty: nothing is kept between starts
  Setting<bool> journal{true};                    ///< keep a journal
  Setting<bool> journal_runs{true};               ///< journal the events of processes of jobs, too
  Setting<std::uint32_t> results_kept_for{3600};  ///< seconds: the results of a detached job
  Setting<std::uint32_t> results_mib{512};        ///< results of all jobs that have ended
  Setting<ClusterId> cluster;                     ///< zero: the cluster of the peers, or a new one
};

/// Flag without its dashes to value.
using Flags = std::map<std::string, std::string>;

struct SettingsFile {
  std::string name;  ///< as messages show it
  std::string text;
};

struct SettingsSources {
  Flags flags;
  std::map<std::string, std::string> environment;
  std::vector<SettingsFile> files;  ///< the nearest first
  std::string state_dir;            ///< the default, where no source names one
};

/// `--NAME VALUE` and `--NAME=VALUE`, each at most once; `--help` and `-h` have no value. Error (usage) names
/// the fault and the nearest valid flag.
Result<Flags> parse_flags(const std::vector<std::string>& arguments);

/// Error configuration_invalid begins with FILE:LINE:COLUMN or the name of the variable, and says what is
/// valid; for an unknown key, which one is nearest. Error usage: a flag has a bad value.
Result<Settings> parse_settings(const SettingsSources& sources);

/// True: the variable is the name of a setting, such as DAG_LANES.
bool is_setting(std::string_view variable);

/// The text of `dagd --help`.
std::string settings_help();

/// All settings, as a settings file (`toml`), as one whose comments name the sources (`origin`), or as
/// `json`. Error (usage): another form is asked for.
Result<std::string> settings_text(const Settings& settings, const std::string& form);

/// The settings of this process. Empty: help or the settings were asked for, and printed.
Result<std::optional<Settings>> settings_of(int argc, const char* const* argv);

}  // namespace dag
