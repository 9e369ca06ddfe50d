// The pure part of settings: text to values. Everything that can be set is one row of `keys`.

#include <toml++/toml.h>
#include <algorithm>
#include <charconv>
#include <sstream>

#include "libdag/client/nearest.hpp"
#include "nodes/http/http_door.hpp"
#include "nodes/process/settings.hpp"

namespace dag {
namespace {

// ---- What there is

/// How a value is written in a file. On a command line and in the environment all are text: lists with
/// commas, a share as R/N.
enum class Form : std::uint8_t { number, truth, text, texts, share };

struct Key {
  std::string_view name;
  Form form;
  std::string_view shown;   ///< its value, in the help
  std::string_view wanted;  ///< a message goes on with it after "must be"
  std::string_view about;
  /// Takes the value out of its text. The error, if any, says more than `wanted`, or nothing.
  Status (*take)(Settings& settings, const std::string& text, std::string origin);
  bool is_secret = false;
};

const Error not_valid{ErrorCode::configuration_invalid, ""};

template <class Number>
std::optional<Number> number(std::string_view text, Number max, int base = 10) {
  Number value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (problem != std::errc{} || end != text.data() + text.size() || value > max) return std::nullopt;
  return value;
}

template <auto Member, std::uint32_t max, std::uint32_t min = 0>
Status take_number(Settings& settings, const std::string& text, std::string origin) {
  const auto value = number<std::uint32_t>(text, max);
  if (!value || *value < min) return not_valid;
  settings.*Member = {*value, std::move(origin)};
  return Done{};
}

Status take_listen(Settings& settings, const std::string& text, std::string origin) {
  const auto address = net::parse_address(text);
  if (!address) return address.error();
  settings.listen = {*address, std::move(origin)};
  return Done{};
}

Status take_peers(Settings& settings, const std::string& text, std::string origin) {
  std::vector<std::string> peers;
  std::istringstream list(text);
  for (std::string peer; std::getline(list, peer, ',');) {
    const auto address = net::parse_address(peer);
    if (!address) return address.error();
    peers.push_back(net::to_string(*address));
  }
  settings.peers = {std::move(peers), std::move(origin)};
  return Done{};
}

Status take_http(Settings& settings, const std::string& text, std::string origin) {
  std::optional<net::Address> where;
  if (text != "off") {
    auto address = net::parse_address(text, 0);
    if (!address) return address.error();
    where = std::move(address).value();
  }
  settings.http = {std::move(where), std::move(origin)};
  return Done{};
}

Status take_http_token(Settings& settings, const std::string& text, std::string origin) {
  const bool fit = text.size() >= web::token_bytes_min && text.size() <= 256 &&
                   std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
  if (!fit && !text.empty()) return not_valid;
  settings.http_token = {text, std::move(origin)};
  return Done{};
}

constexpr std::uint32_t share_max = 1024;

Status take_share(Settings& settings, const std::string& text, std::string origin) {
  const auto slash = text.find('/');
  if (slash == std::string::npos) return not_valid;
  const auto rank = number<std::uint32_t>(std::string_view(text).substr(0, slash), share_max);
  const auto size = number<std::uint32_t>(std::string_view(text).substr(slash + 1), share_max);
  if (!rank || !size || *rank >= *size) return not_valid;
  settings.share = {{*rank, *size}, std::move(origin)};
  return Done{};
}

Status take_replicas(Settings& settings, const std::string& text, std::string origin) {
  const auto copies = number<std::uint32_t>(text, 7);
  if (!copies || *copies % 2 == 0) return not_valid;
  settings.replicas = {*copies, std::move(origin)};
  return Done{};
}

template <Setting<bool> Settings::*key>
Status take_truth(Settings& settings, const std::string& text, std::string origin) {
  if (text != "true" && text != "false") return not_valid;
  settings.*key = {text == "true", std::move(origin)};
  return Done{};
}

Status take_log(Settings& settings, const std::string& text, std::string origin) {
  for (const std::string_view level : {"off", "error", "warn", "info", "debug"}) {
    if (text != level) continue;
    settings.log = {text, std::move(origin)};
    return Done{};
  }
  return not_valid;
}

Status take_state_dir(Settings& settings, const std::string& text, std::string origin) {
  if (text.empty()) return not_valid;
  settings.state_dir = {text, std::move(origin)};
  return Done{};
}

Status take_data(Settings& settings, const std::string& text, std::string origin) {
  if (text.empty()) return not_valid;
  settings.data = {text, std::move(origin)};
  return Done{};
}

Status take_cluster(Settings& settings, const std::string& text, std::string origin) {
  const auto value = number<std::uint64_t>(text, ~std::uint64_t{0}, 16);
  if (!value) return not_valid;
  settings.cluster = {{*value}, std::move(origin)};
  return Done{};
}

const Key keys[] = {
    {"id", Form::number, "N", "a whole number from 0 to 65534", "number of this node in the cluster",
     take_number<&Settings::id, 65534>},
    {"listen", Form::text, "HOST:PORT", "an address HOST:PORT",
     "where the node listens; port 0: any free port", take_listen},
    {"peers", Form::texts, "A,B", "a list of addresses HOST:PORT",
     "addresses of other nodes of the cluster; one that answers is enough", take_peers},
    {"http", Form::text, "HOST:PORT", "an address HOST:PORT, or off",
     "where the node serves the web UI, metrics and health by HTTP (default: any free port of loopback), or "
     "off",
     take_http},
    {"http_token", Form::text, "TOKEN", "16 to 256 characters without spaces",
     "token that HTTP requests must have; needed beyond loopback. Better in a file: others see command lines",
     take_http_token, true},
    {"lanes", Form::number, "N", "a whole number from 0 to 1024",
     "lanes of each worker process; 0: the number of cores of the node's share",
     take_number<&Settings::lanes, 1024>},
    {"niceness", Form::number, "N", "a whole number from 0 to 19",
     "niceness of kernels against other threads of the host, see nice(1)",
     take_number<&Settings::niceness, 19>},
    {"spawn_tasks", Form::number, "N", "a whole number from 1 to 10000000",
     "unsettled spawned tasks of a job per process, beyond which its kernels wait",
     take_number<&Settings::spawn_tasks, limits::tasks_max, 1>},
    {"spawn_bytes", Form::number, "N", "a whole number from 1 to 4294967295",
     "the same limit in bytes of tasks and literals",
     take_number<&Settings::spawn_bytes, std::numeric_limits<std::uint32_t>::max(), 1>},
    {"keep_warm", Form::number, "SECONDS", "a whole number from 0 to 3600",
     "how long a worker process waits for the next job of its Session (default: 3); 0: no longer than its "
     "job",
     take_number<&Settings::keep_warm, 3600>},
    {"replicas", Form::number, "N", "1, 3, 5 or 7",
     "replicas of the record of a job submitted here, at most one per node; 1: the job is lost with this "
     "node",
     take_replicas},
    {"witness", Form::truth, "true", "true or false",
     "true: this node is a witness: it holds replicas for a majority, and runs and leads nothing",
     take_truth<&Settings::witness>},
    {"share", Form::share, "R/N", "rank and size of a share, 0 <= rank < size <= 1024",
     "this node's share of the host's cores", take_share},
    {"log", Form::text, "LEVEL", "off, error, warn, info or debug", "log level on stderr", take_log},
    {"state_dir", Form::text, "DIR", "the name of a directory", "directory for the logs of worker processes",
     take_state_dir},
    {"data", Form::text, "DIR", "the name of a directory",
     "directory kept between starts: the node's identity, records and binaries of jobs, saves of job actors",
     take_data},
    {"journal", Form::truth, "false", "true or false", "false: keep no journal of jobs (default: true)",
     take_truth<&Settings::journal>},
    {"journal_runs", Form::truth, "false", "true or false",
     "false: keep no runs, logs and output of job processes in the journal (default: true)",
     take_truth<&Settings::journal_runs>},
    {"results_kept_for", Form::number, "SECONDS", "a whole number of seconds from 0 to 31536000",
     "how long results of a job that has ended are kept for `dag result` and `dag retry`",
     take_number<&Settings::results_kept_for, 31'536'000>},
    {"results_mib", Form::number, "MIB", "a whole number of MiB from 0 to 1048576",
     "memory for the results of jobs that have ended; results beyond that go to the disk of data, or are "
     "released",
     take_number<&Settings::results_mib, 1'048'576>},
    {"cluster", Form::text, "HEX", "up to 16 hexadecimal digits, as a string",
     "the cluster of this node; 0: that of its peers, or a new one", take_cluster},
};

std::string flag_of(const Key& key) {
  std::string flag(key.name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::string variable_of(const Key& key) {
  std::string variable = "DAG_";
  for (const char c : key.name) variable += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return variable;
}

// ---- Flags and variables

Error bad_value(ErrorCode code, const std::string& where, const std::string& shown, const Key& key,
                const Error& why) {
  const std::string said = key.is_secret ? "(not shown)" : shown;
  return {code, where + " is " + said + ", but must be " + std::string(key.wanted), why.hint, why.what};
}

Status take_texts(Settings& settings, const SettingsSources& sources) {
  for (const Key& key : keys) {
    const std::string flag = flag_of(key), variable = variable_of(key);
    if (const auto found = sources.flags.find(flag); found != sources.flags.end()) {
      const Status taken = key.take(settings, found->second, "--" + flag);
      if (!taken) {
        return bad_value(ErrorCode::usage, "--" + flag, "'" + found->second + "'", key, taken.error());
      }
    } else if (const auto set = sources.environment.find(variable);
               set != sources.environment.end() && !set->second.empty()) {
      const Status taken = key.take(settings, set->second, variable);
      if (!taken) {
        return bad_value(ErrorCode::configuration_invalid, variable, "'" + set->second + "'", key,
                         taken.error());
      }
    }
  }
  return Done{};
}

// ---- Files

std::string place_of(const SettingsFile& file, const toml::source_position& at) {
  return file.name + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

Error unknown(const SettingsFile& file, const toml::key& key, const std::string& what,
              const std::vector<std::string_view>& known, const std::string& otherwise) {
  const auto meant = detail::nearest(key.str(), known);
  return {ErrorCode::configuration_invalid, place_of(file, key.source().begin) + ": " + what,
          meant ? "did you mean '" + std::string(*meant) + "'?" : otherwise};
}

/// The elements with `between`; empty where one is not of that type, or (of numbers) there are not two.
template <class Element>
std::optional<std::string> joined(const toml::array& list, const char* between) {
  std::string text;
  for (const toml::node& node : list) {
    const auto* element = node.as<Element>();
    if (element == nullptr) return std::nullopt;
    if (&node != list.begin().operator->()) text += between;
    if constexpr (std::is_same_v<Element, std::int64_t>) {
      text += std::to_string(element->get());
    } else {
      text += element->get();
    }
  }
  return text;
}

/// The value as it would be written on a command line; empty where it has another form than it should.
std::optional<std::string> text_of(const toml::node& node, Form form) {
  const auto* list = node.as_array();
  switch (form) {
    case Form::number:
      if (const auto* value = node.as_integer()) return std::to_string(value->get());
      return std::nullopt;
    case Form::text:
      if (const auto* value = node.as_string()) return value->get();
      return std::nullopt;
    case Form::truth:
      if (const auto* value = node.as_boolean()) return value->get() ? "true" : "false";
      return std::nullopt;
    case Form::texts:
      return list == nullptr ? std::nullopt : joined<std::string>(*list, ",");
    case Form::share:
      return list == nullptr || list->size() != 2 ? std::nullopt : joined<std::int64_t>(*list, "/");
  }
  return std::nullopt;
}

std::string_view form_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a number with a point";
    case toml::node_type::boolean:
      return "a truth value";
    default:
      return "a date or a time";
  }
}

Status take_node(Settings& settings, const SettingsFile& file, const toml::key& name,
                 const toml::node& node) {
  const Key* key =
      std::find_if(std::begin(keys), std::end(keys), [&](const Key& one) { return one.name == name.str(); });
  if (key == std::end(keys)) {
    std::vector<std::string_view> known;
    for (const Key& one : keys) known.push_back(one.name);
    return unknown(file, name, "[node] has no key '" + std::string(name.str()) + "'", known,
                   "config/dagd.toml has all keys");
  }
  const std::string where = place_of(file, node.source().begin) + ": " + std::string(key->name);
  const auto text = text_of(node, key->form);
  if (!text) {
    return bad_value(ErrorCode::configuration_invalid, where, std::string(form_of(node)), *key, not_valid);
  }
  const auto line = std::to_string(node.source().begin.line);
  const Status taken = key->take(settings, *text, file.name + ":" + line);
  if (taken) return Done{};
  return bad_value(ErrorCode::configuration_invalid, where, "'" + *text + "'", *key, taken.error());
}

Status take_table(Settings& settings, const SettingsFile& file, const toml::table& table) {
  for (const auto& [name, node] : table) {
    if (name.str() != "node") {
      const bool is_key =
          std::any_of(std::begin(keys), std::end(keys),
                      [unknown_name = name.str()](const Key& one) { return one.name == unknown_name; });
      return unknown(file, name, "there is no '" + std::string(name.str()) + "' here", {"node"},
                     is_key ? "write it below [node]" : "all keys lie below [node]");
    }
    const toml::table* keys_of_node = node.as_table();
    if (keys_of_node == nullptr) {
      return Error{ErrorCode::configuration_invalid,
                   place_of(file, node.source().begin) + ": node is " + std::string(form_of(node)) +
                       ", but must be a table",
                   "write [node], and the keys below it"};
    }
    for (const auto& [key, value] : *keys_of_node) {
      if (const Status taken = take_node(settings, file, key, value); !taken) return taken;
    }
  }
  return Done{};
}

Status take_file(Settings& settings, const SettingsFile& file) {
  try {
    return take_table(settings, file, toml::parse(file.text, file.name));
  } catch (const toml::parse_error& error) {
    return Error{ErrorCode::configuration_invalid,
                 place_of(file, error.source().begin) + ": " + std::string(error.description()),
                 "settings are written in TOML; config/dagd.toml is an example"};
  }
}

}  // namespace

Result<Flags> parse_flags(const std::vector<std::string>& arguments) {
  std::vector<std::string> known{"config", "settings", "help"};
  for (const Key& key : keys) known.push_back(flag_of(key));
  Flags flags;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string name = arguments[i] == "-h" ? "--help" : arguments[i];
    if (!name.starts_with("--")) {
      return Error{ErrorCode::usage, "'" + name + "' is not a flag", "dagd takes flags only: dagd --help"};
    }
    name.erase(0, 2);
    std::optional<std::string> value;
    if (const auto equals = name.find('='); equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const auto meant = detail::nearest(name, {known.begin(), known.end()});
      return Error{ErrorCode::usage, "there is no flag --" + name,
                   meant ? "did you mean --" + std::string(*meant) + "?" : "dagd --help lists them"};
    }
    if (name == "help") {
      value = "";
    } else if (!value && i + 1 < arguments.size()) {
      value = arguments[++i];
    }
    if (!value) return Error{ErrorCode::usage, "--" + name + " needs a value", "see dagd --help"};
    if (!flags.emplace(name, *value).second) {
      return Error{ErrorCode::usage, "--" + name + " is given twice", "leave one out"};
    }
  }
  return flags;
}

Result<Settings> parse_settings(const SettingsSources& sources) {
  Settings settings;
  settings.state_dir.value = sources.state_dir;
  // The farthest first, so that nearer ones replace it; each is read whole, so no mistake stays hidden.
  for (auto file = sources.files.rbegin(); file != sources.files.rend(); ++file) {
    if (const Status taken = take_file(settings, *file); !taken) return taken.error();
  }
  if (const Status taken = take_texts(settings, sources); !taken) return taken.error();
  return settings;
}

bool is_setting(std::string_view variable) {
  return std::any_of(std::begin(keys), std::end(keys),
                     [variable](const Key& key) { return variable_of(key) == variable; });
}

std::string settings_help() {
  std::string help =
      "Usage: dagd [FLAGS]\n"
      "A node of a cluster: clients submit jobs to it, and it runs their worker processes.\n\n";
  const auto add = [&help](std::string left, std::string_view right) {
    left.resize(std::max<std::size_t>(left.size() + 1, 22), ' ');
    help += "  " + left + std::string(right) + "\n";
  };
  for (const Key& key : keys) add("--" + flag_of(key) + " " + std::string(key.shown), key.about);
  add("--config FILE", "read settings from this file only");
  add("--settings FORM", "print the settings as toml, origin or json, and exit");
  add("--help", "print this help");
  help +=
      "\nEach flag is also a variable, as in DAG_STATE_DIR, and a key of [node] in ./dag.toml,\n"
      "~/.config/dag/config.toml or /etc/dag/config.toml. The first source that has the setting counts.\n";
  return help;
}

}  // namespace dag
