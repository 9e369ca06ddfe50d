#pragma once
// Faults of the network between nodes: it is cut in every way that cuts.hpp knows, one after the other, and
// healed. The clients reach all nodes all the time, so they would see two sides that both go on.

#include <array>
#include <random>

#include "tools/chaos/jobs.hpp"
#include "tools/chaos/network.hpp"

namespace dag::chaos {

class Partitions {
 public:
  /// Throws NoNetwork, or when the nodes do not find each other.
  Partitions(const Options& options, const std::filesystem::path& directory,
             const std::filesystem::path& programs);

  /// Makes a cut, and waits until the job goes on after it.
  void cycle();
  Jobs& jobs() { return jobs_; }
  nlohmann::json report() const;

 private:
  /// A node's view of the job.
  struct Word {
    bool leads = false, no_quorum = false;
    std::uint64_t finished = 0;
  };
  using Words = std::map<std::uint32_t, Word>;

  void get_going();
  Cut next_cut(std::optional<std::uint32_t> leader);
  Words words();
  std::optional<std::uint32_t> leader();
  /// Pairs {node, other}: the node has not logged that the other is gone.
  using Pairs = std::set<std::pair<std::uint32_t, std::uint32_t>>;
  /// For each side of a split, the pairs that are left; first the smaller side.
  using Unaware = std::array<Pairs, 2>;
  static Unaware unaware_of(const Cut& cut);
  void hear_who_is_gone(Unaware& unaware);
  static std::string text_of(const Unaware& unaware);
  void watch(const Cut& cut, std::optional<std::uint32_t> leader);
  void check(const Cut& cut, Clock::duration since, const Words& before, const Words& now);

  const Options options_;
  std::vector<Cut> cuts_;  ///< that are still to come
  Network network_;
  Cluster cluster_;
  Jobs jobs_;
  std::uint64_t cycles_ = 0, ended_themselves_ = 0, leaders_cut_off_ = 0, said_no_quorum_ = 0;
  std::map<std::string, std::uint64_t> kinds_;
  /// Pauses by kind of cut, or of the part of a cut in which the job ran; listed apart where all tasks left
  /// at its end may have waited for leases.
  std::map<std::string, std::vector<double>> pauses_;
  std::map<std::string, std::vector<double>> detected_;  ///< splits, by the larger side and by the smaller
  std::vector<std::string> undetected_;                  ///< splits, with the nodes that did not log a loss
  std::vector<std::string> rested_;                      ///< cuts in whose second half nothing was settled
  std::mt19937_64 random_;
};

}  // namespace dag::chaos
