#pragma once
// What a node is told from outside: on its command line, in the environment, in files. Decides what wins and
// what is valid; what follows from it is the node's. parse_settings is pure, settings_of reads the world.
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

/// A value, and who said so: `default`, `./dag.toml:3`, `DAG_LANES` or `--lanes`.
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
  Setting<std::string> http_token;                                          ///< who asks there has to know it
  Setting<std::uint32_t> lanes;     ///< 0: as many as the share has cores
  Setting<std::uint32_t> niceness;  ///< of lanes, as of nice(1)
  Setting<std::uint32_t> spawn_tasks{static_cast<std::uint32_t>(SpawnCredit{}.tasks)};
  Setting<std::uint32_t> spawn_bytes{static_cast<std::uint32_t>(SpawnCredit{}.bytes)};
  Setting<std::uint32_t> keep_warm{3};  ///< seconds that a worker process waits for the next job
  Setting<std::uint32_t> replicas{3};   ///< nodes that hold the record of a job
  Setting<bool> witness;                ///< it holds copies of records, and runs nothing
  Setting<CoreShare> share;
  Setting<std::string> log{"warn"};
  Setting<std::string> state_dir;
  Setting<std::string> data;                      ///< empty: nothing is kept between starts
  Setting<bool> journal{true};                    ///< what happens is kept, too
  Setting<bool> journal_runs{true};               ///< and what happens in processes of jobs
  Setting<std::uint32_t> results_kept_for{3600};  ///< seconds: what a detached job has left
  Setting<std::uint32_t> results_mib{512};        ///< of all jobs that have ended
  Setting<ClusterId> cluster;                     ///< zero: that of the peers, or a new one
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
  std::string state_dir;            ///< where nobody names one
};

/// `--NAME VALUE` and `--NAME=VALUE`, each at most once; `--help` and `-h` have no value. usage names what is
/// wrong and the nearest flag that there is.
Result<Flags> parse_flags(const std::vector<std::string>& arguments);

/// configuration_invalid begins with FILE:LINE:COLUMN or the name of the variable, and says what was wanted;
/// for a key that there is not, which one was meant. usage: a flag has a bad value.
Result<Settings> parse_settings(const SettingsSources& sources);

/// Whether this is the name of a variable that says a setting, such as DAG_LANES.
bool is_setting(std::string_view variable);

/// What `dagd --help` prints.
std::string settings_help();

/// All of them, as a file of settings (`toml`), as one whose comments say who said so (`origin`), or as
/// `json`. Error (usage): another form is asked for.
Result<std::string> settings_text(const Settings& settings, const std::string& form);

/// Of this process. Empty: help was asked for, or what its settings are, and printed.
Result<std::optional<Settings>> settings_of(int argc, const char* const* argv);

}  // namespace dag
