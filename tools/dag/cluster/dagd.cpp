#include "tools/dag/cluster/dagd.hpp"

#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "dag/error.hpp"
#include "tools/dag/cluster/process.hpp"

namespace dag::tool {
namespace {

constexpr auto ready_within = std::chrono::seconds(30);
constexpr std::size_t log_shown_max = 2000;

std::string content_of(const std::string& name) {
  std::ifstream file(name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Failure not_ready(const DagdOrder& order, const std::string& how, const std::string& log) {
  return Failure({ErrorCode::internal, "n" + std::to_string(order.id) + " " + how,
                  "its log is " + dagd_log_of(order),
                  log.substr(log.size() - std::min(log.size(), log_shown_max))});
}

}  // namespace

std::string dagd_program() {
  std::error_code none;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", none);
  return (self.parent_path() / "dagd").string();
}

std::vector<std::string> dagd_words(const std::string& program, const DagdOrder& order) {
  std::vector<std::string> words{program,        "--id",        std::to_string(order.id),
                                 "--listen",     order.listen,  "--peers",
                                 order.peers,    "--share",     order.share,
                                 "--cluster",    order.cluster, "--state-dir",
                                 order.state_dir};
  if (!order.lanes.empty()) words.insert(words.end(), {"--lanes", order.lanes});
  if (!order.replicas.empty()) words.insert(words.end(), {"--replicas", order.replicas});
  if (!order.data.empty()) words.insert(words.end(), {"--data", order.data});
  if (!order.http.empty()) words.insert(words.end(), {"--http", order.http});
  if (!order.log.empty()) words.insert(words.end(), {"--log", order.log});
  return words;
}

std::optional<std::string> address_said(const std::string& log) {
  constexpr std::string_view says = " listens on ";
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (lines.eof()) break;  // Still being written.
    const auto at = line.find(says);
    if (line.starts_with("dagd n") && at != std::string::npos) return line.substr(at + says.size());
  }
  return std::nullopt;
}

std::string dagd_log_of(const DagdOrder& order) {
  return order.state_dir + "/n" + std::to_string(order.id) + ".log";
}

void start_dagd(const DagdOrder& order, StartedNode& started) {
  const std::string log = dagd_log_of(order);
  started.id = order.id;
  started.pid = start({dagd_words(dagd_program(), order), {{"DAG_ADDRESS", ""}}, log});
  const auto deadline = std::chrono::steady_clock::now() + ready_within;
  for (;;) {
    const std::string text = content_of(log);
    if (const auto address = address_said(text)) {
      started.address = *address;
      return;
    }
    if (waitpid(started.pid, nullptr, WNOHANG) != 0) {
      started.pid = 0;
      throw not_ready(order, "ended before it was ready", content_of(log));
    }
    if (std::chrono::steady_clock::now() > deadline) throw not_ready(order, "is not ready after 30 s", text);
    pause_for(std::chrono::milliseconds(10));
  }
}

}  // namespace dag::tool
