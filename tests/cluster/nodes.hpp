#pragma once
// A shared cluster for a test: dagd processes on loopback, in folders of their own that go with the test.

#include <catch2/catch.hpp>
#include <memory>

#include "tests/cluster/processes.hpp"
#include "tests/support/temporary_directory.hpp"

namespace cluster {

class Nodes {
 public:
  /// `keep`: each node keeps jobs on its disk, and can be started again; the first one at another place, if
  /// one is given. `flags_of_last`, `flags`: more flags of the last node, or of each. `starter`: a command
  /// that starts dagd, such as prlimit.
  explicit Nodes(std::uint32_t count, bool keep = false, std::string data_of_first = {},
                 std::vector<std::string> flags_of_last = {}, std::vector<std::string> flags = {},
                 std::vector<std::string> starter = {})
      : keep_(keep),
        data_of_first_(std::move(data_of_first)),
        flags_of_last_(std::move(flags_of_last)),
        flags_(std::move(flags)),
        starter_(std::move(starter)) {
    for (std::uint32_t id = 0; id < count; ++id) addresses_.push_back(free_address());
    nodes_.resize(count);
    for (std::uint32_t id = 0; id < count; ++id) start(id);
  }
  /// Starts a node that is not there, or was killed.
  void start(std::uint32_t id) {
    std::string peers;
    for (std::uint32_t other = 0; other < addresses_.size(); ++other) {
      if (other != id) peers += (peers.empty() ? "" : ",") + addresses_[other];
    }
    const std::string folder = folder_of(id);
    std::vector<std::string> words{bin("dagd"),
                                   "--id",
                                   std::to_string(id),
                                   "--listen",
                                   addresses_[id],
                                   "--share",
                                   std::to_string(id) + "/" + std::to_string(addresses_.size()),
                                   "--cluster",
                                   "7e57",
                                   "--log",
                                   "info",
                                   "--state-dir",
                                   folder};
    words.insert(words.begin(), starter_.begin(), starter_.end());
    if (!peers.empty()) words.insert(words.end(), {"--peers", peers});
    const bool apart = id == 0 && !data_of_first_.empty();
    if (keep_) words.insert(words.end(), {"--data", apart ? data_of_first_ : folder + "/data"});
    words.insert(words.end(), flags_.begin(), flags_.end());
    if (id + 1 == nodes_.size()) words.insert(words.end(), flags_of_last_.begin(), flags_of_last_.end());
    nodes_[id].reset();  // Until it is gone its directory is its own.
    nodes_[id] = std::make_unique<Process>(words);
    const bool listens = nodes_[id]->says("listens on ");
    if (!listens) {
      const auto ended = nodes_[id]->ends();
      INFO(nodes_[id]->err());
      FAIL("n" << id << " does not listen" << (ended ? ", and ended with " + std::to_string(*ended) : ""));
    }
  }
  /// Until the first node knows the others.
  void gather() {
    for (std::size_t id = 1; id < nodes_.size(); ++id) {
      REQUIRE(nodes_.front()->says("n" + std::to_string(id) + " has joined"));
    }
  }
  const std::string& address(std::size_t node = 0) const { return addresses_.at(node); }
  std::string folder_of(std::uint32_t id) const {
    return directory_.path().string() + "/n" + std::to_string(id);
  }
  void kill_all() { end_all(SIGKILL); }
  /// And all that they said is in logs().
  void end_all(int signal = SIGTERM) {
    for (const auto& node : nodes_) node->kill(signal);
    for (const auto& node : nodes_) node->ends();
  }
  /// All were killed.
  void start_all() {
    for (std::uint32_t id = 0; id < count(); ++id) start(id);
  }
  /// The output of all nodes that was read so far.
  std::string logs() const {
    std::string all;
    for (const auto& node : nodes_) all += node->err() + "\n";
    return all;
  }
  Process& node(std::size_t which) { return *nodes_.at(which); }
  std::size_t count() const { return nodes_.size(); }

 private:
  const bool keep_;
  const std::string data_of_first_;
  const std::vector<std::string> flags_of_last_, flags_, starter_;
  dag::test::TemporaryDirectory directory_;
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<Process>> nodes_;
};

/// Where that node serves HTTP.
inline std::uint16_t web_port(Nodes& nodes, std::size_t node) {
  const std::string& said = nodes.node(node).out();
  const std::string before = "serves http://127.0.0.1:";
  const auto found = said.find(before);
  REQUIRE(found != std::string::npos);
  return static_cast<std::uint16_t>(std::stoul(said.substr(found + before.size())));
}

inline std::vector<std::string> at(const Nodes& nodes, std::vector<std::string> words, std::size_t node = 0) {
  words.push_back("--address");
  words.push_back(nodes.address(node));
  return words;
}

/// The output of `dag ...` at that node; it must end with `status`.
inline std::string said(const Nodes& nodes, std::vector<std::string> words, int status = 0,
                        std::size_t node = 0) {
  words.insert(words.begin(), bin("dag"));
  Process process(at(nodes, std::move(words), node));
  const auto ended = process.ends();
  INFO(process.out());
  INFO(process.err());
  REQUIRE(ended == status);
  return status == 0 ? process.out() : process.err();
}

/// Submits this program as a job that nobody waits for; gives the job's name.
inline std::string submitted(const Nodes& nodes, const std::string& program,
                             const std::vector<std::string>& arguments = {}) {
  std::vector<std::string> words{bin("dag"), "submit", "--address", nodes.address(), bin(program), "--"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  Process submits(words);
  const auto ended = submits.ends();
  INFO(submits.err());
  REQUIRE(ended == 0);
  return submits.out().substr(0, submits.out().find('\n'));
}

}  // namespace cluster
