#include "nodes/workers/client_world.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "dag/error.hpp"
#include "libdag/client/kernel_threads.hpp"
#include "libdag/wire/lengths.hpp"
#include "nodes/process/settings.hpp"
#include "nodes/workers/worker_seat.hpp"

extern char** environ;

namespace dag {
namespace {

constexpr std::string_view library_variable = "LD_LIBRARY_PATH";
/// In a worker process that starts: what LD_LIBRARY_PATH is for the client.
constexpr std::string_view library_of_client = "DAG_LIBRARY_PATH";
/// A worker process listens where its node does, so it may leave loopback if that may.
constexpr std::string_view node_variable = "DAG_BEYOND_LOOPBACK";

/// Beside settings of nodes. A user's own variables may begin with DAG_, too.
constexpr std::string_view libdag_variables[] = {
    "DAG_ADDRESS",        "DAG_CLUSTER", "DAG_CONFIG",      "DAG_DETACH",         "DAG_DRAW",
    "DAG_DRAW_FORMAT",    "DAG_DRY_RUN", "DAG_GATHERED",    "DAG_KEPT",           "DAG_PEERS",
    "DAG_RANK",           "DAG_RUNNING", "DAG_SIZE",        "DAG_STATE_DIR",      "DAG_SUBMITTED",
    worker_seat_variable, node_variable, library_of_client, "DAG_LOSES_UNSYNCED",
};
constexpr std::string_view host_variables[] = {
    "LD_PRELOAD",    "LD_AUDIT",      "DISPLAY",        "WAYLAND_DISPLAY",          "XAUTHORITY",
    "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS",
};

template <std::size_t n>
bool is_among(const std::string_view (&names)[n], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::string_view variable_name(std::string_view variable) { return variable.substr(0, variable.find('=')); }

const std::string* variable_in(const std::vector<std::string>& variables, std::string_view name) {
  const auto found = std::find_if(variables.begin(), variables.end(),
                                  [name](const std::string& one) { return variable_name(one) == name; });
  return found == variables.end() ? nullptr : &*found;
}

std::string joined_paths(std::string first, const std::string& second) {
  if (!first.empty() && !second.empty()) first += ':';
  return first + second;
}

/// The directory of the libdag.so that this process uses, so that worker processes use it too; empty when
/// libdag is part of the program.
std::string library_directory() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&library_directory), &info) == 0 || info.dli_fname == nullptr)
    return {};
  const std::filesystem::path file(info.dli_fname);
  return file.filename().string().find(".so") == std::string::npos
             ? std::string{}
             : std::filesystem::absolute(file.parent_path()).string();
}

/// Where the program says that its libraries lie.
struct SearchPaths {
  std::string before, behind;  ///< LD_LIBRARY_PATH: DT_RPATH, DT_RUNPATH
};
SearchPaths search_paths_of_program() {
  void* program = dlopen(nullptr, RTLD_LAZY);
  const link_map* map = nullptr;
  if (program == nullptr || dlinfo(program, RTLD_DI_LINKMAP, &map) != 0 || map->l_ld == nullptr) return {};
  const char* texts = nullptr;
  const ElfW(Dyn)* before = nullptr, *behind = nullptr;
  for (const ElfW(Dyn)* one = map->l_ld; one->d_tag != DT_NULL; ++one) {
    // The loader has put the text's address in place of its offset, where it may write there.
    if (one->d_tag == DT_STRTAB) {
      const auto at = one->d_un.d_ptr < map->l_addr ? map->l_addr + one->d_un.d_ptr : one->d_un.d_ptr;
      texts = reinterpret_cast<const char*>(at);
    }
    if (one->d_tag == DT_RPATH) before = one;
    if (one->d_tag == DT_RUNPATH) behind = one;
  }
  if (texts == nullptr) return {};
  if (behind != nullptr) return {{}, texts + behind->d_un.d_val};
  return {before == nullptr ? "" : texts + before->d_un.d_val, {}};
}

/// The directories that name the program's own ($ORIGIN), with its path in place of that. A copy of the
/// program finds the others by itself.
std::string beside_program(const std::string& origin, const std::string& paths) {
  std::string found;
  for (std::size_t from = 0; from <= paths.size();) {
    const std::size_t colon = std::min(paths.find(':', from), paths.size());
    std::string path = paths.substr(from, colon - from);
    from = colon + 1;
    bool names_it = false;
    for (const std::string_view token : {"${ORIGIN}", "$ORIGIN"}) {
      for (std::size_t at; (at = path.find(token)) != path.npos; names_it = true)
        path.replace(at, token.size(), origin);
    }
    if (names_it) found = joined_paths(std::move(found), path);
  }
  return found;
}

}  // namespace

bool travels(std::string_view name) {
  return !is_among(libdag_variables, name) && !is_among(host_variables, name) && !is_setting(name);
}

// ---- In the client

std::vector<std::string> travelling_environment() {
  std::vector<std::string> variables;
  std::size_t bytes = 0;
  for (char** one = environ; *one != nullptr; ++one) {
    if (!travels(variable_name(*one))) continue;
    variables.emplace_back(*one);
    bytes += variables.back().size();
  }
  if (variables.size() <= wire::variables_max && bytes <= wire::environment_bytes_max) return variables;
  throw Failure({ErrorCode::usage,
                 "the environment has " + std::to_string(variables.size()) + " variables of " +
                     std::to_string(bytes) + " bytes together; a job may take along " +
                     std::to_string(wire::variables_max) + " of " +
                     std::to_string(wire::environment_bytes_max) + " bytes",
                 "unset what its kernels do not need, or start it by `env -i NAME=VALUE... JOB`"});
}

std::vector<std::uint64_t> soft_limits() {
  static_assert(RLIM_INFINITY == ~rlim_t{0});
  std::vector<std::uint64_t> limits;
  for (int which = 0; which < RLIM_NLIMITS; ++which) {
    rlimit limit{};
    limits.push_back(getrlimit(static_cast<__rlimit_resource>(which), &limit) == 0 ? limit.rlim_cur
                                                                                   : RLIM_INFINITY);
  }
  return limits;
}

std::string library_path() {
  std::error_code unknown;
  const auto origin = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path().string();
  const SearchPaths program = search_paths_of_program();
  const char* told = std::getenv(library_variable.data());
  return joined_paths(joined_paths(beside_program(origin, program.before), told == nullptr ? "" : told),
                      beside_program(origin, program.behind));
}

// ---- In a node

std::vector<std::string> environment_of_worker(const Launch& launch, const std::string& seat) {
  std::vector<std::string> variables;
  for (const std::string& variable : launch.environment) {
    if (travels(variable_name(variable)) && variable_name(variable) != library_variable)
      variables.push_back(variable);
  }
  for (char** one = environ; *one != nullptr; ++one) {
    if (is_among(host_variables, variable_name(*one)) || variable_name(*one) == node_variable)
      variables.emplace_back(*one);
  }
  const auto is_set = [&](std::string_view name) { return variable_in(variables, name) != nullptr; };
  for (std::string& variable : detail::one_thread_each(is_set)) variables.push_back(std::move(variable));
  if (const std::string* client = variable_in(launch.environment, library_variable))
    variables.push_back(std::string(library_of_client) + client->substr(library_variable.size()));
  // Adds the node's library path: libdag.so may need more libraries than the client's program did.
  const char* of_node = std::getenv(library_variable.data());
  const std::string path =
      joined_paths(joined_paths(library_directory(), launch.library_path), of_node == nullptr ? "" : of_node);
  if (!path.empty()) variables.push_back(std::string(library_variable) + "=" + path);
  variables.push_back(std::string(worker_seat_variable) + "=" + seat);
  return variables;
}

// ---- In the worker process

void forget_how_it_was_started() {
  unsetenv(worker_seat_variable);
  const char* client = std::getenv(library_of_client.data());
  if (client != nullptr) {
    setenv(library_variable.data(), client, 1);
  } else {
    unsetenv(library_variable.data());
  }
  unsetenv(library_of_client.data());
}

}  // namespace dag
