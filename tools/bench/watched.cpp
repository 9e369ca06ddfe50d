// The cost of open web pages for a job, and of serving them at all: the same jobs in three clusters, one with
// twenty open pages, and one that serves none.

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "tools/bench/child.hpp"
#include "tools/bench/compared.hpp"

namespace dag::bench {
namespace {

constexpr std::size_t viewers = 20;

/// A request by HTTP, whose answer is read as it comes, and not looked at.
class Stream {
 public:
  Stream(const std::string& address, const std::string& path) {
    const auto colon = address.rfind(':');
    addrinfo hints{}, *found = nullptr;
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(address.substr(0, colon).c_str(), address.substr(colon + 1).c_str(), &hints, &found) != 0)
      throw std::runtime_error("where is " + address + "?");
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool connected = connect(socket_, found->ai_addr, found->ai_addrlen) == 0;
    freeaddrinfo(found);
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: " + address + "\r\n\r\n";
    if (!connected || write(socket_, request.data(), request.size()) != std::ssize(request)) {
      close(socket_);
      throw std::runtime_error("no page at " + address);
    }
  }
  ~Stream() { close(socket_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Bytes that come within the time; zero: the node has ended the stream, or nothing came.
  std::size_t read(int milliseconds) {
    pollfd waiting{socket_, POLLIN, 0};
    if (poll(&waiting, 1, milliseconds) != 1) return 0;
    char bytes[1 << 16];
    const ssize_t count = ::read(socket_, bytes, sizeof bytes);
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  }

 private:
  int socket_ = -1;
};

/// Where the nodes of a cluster serve pages, those that do.
std::vector<std::string> pages_of(const Cluster& cluster) {
  const std::string dag = program_folder() + "/dag";
  const auto ended =
      run_child({dag, "node", "list", "--json", "--address", cluster.address()}, std::chrono::seconds(10));
  const nlohmann::json list = nlohmann::json::parse(ended.output);
  std::vector<std::string> pages;
  for (const auto& node : list.at("nodes")) {
    if (node.at("http").is_null()) continue;
    std::string page = node.at("http").get<std::string>();
    page = page.substr(page.find("//") + 2);
    pages.push_back(page.substr(0, page.find('/')));
  }
  return pages;
}

/// At each node of a cluster, in turn, one that shows the cluster or a job, and asks as the web UI does.
class Viewers {
 public:
  explicit Viewers(const Cluster& cluster) : pages_(pages_of(cluster)) {
    if (pages_.size() != cluster.processes().size()) throw std::runtime_error("a node serves no page");
    for (std::size_t i = 0; i < viewers; ++i) threads_.emplace_back([this, i] { view(i); });
  }
  ~Viewers() {
    ends_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  std::uint64_t seen_bytes() const { return seen_bytes_; }

 private:
  /// Its job is the newest: submissions are numbered.
  void view(std::size_t which) {
    const std::string& page = pages_[which % pages_.size()];
    for (std::uint64_t job = 1; !ends_;) {
      const bool of_job = which % 2 == 1;
      Stream stream(page, of_job ? "/events?job=job" + std::to_string(job) : "/events");
      while (!ends_) {
        seen_bytes_ += stream.read(100);
        if (of_job && newest_job_ != job) break;
        if (which == 0) look_for_job(page);
      }
      job = newest_job_;
    }
  }
  void look_for_job(const std::string& page) {
    const std::uint64_t next = newest_job_ + 1;
    Stream stream(page, "/api/jobs/job" + std::to_string(next));
    if (stream.read(1000) > 400) newest_job_ = next;  // Less is an error: there is none yet.
  }

  const std::vector<std::string> pages_;
  std::atomic<bool> ends_ = false;
  std::atomic<std::uint64_t> seen_bytes_ = 0, newest_job_ = 1;
  std::vector<std::thread> threads_;  ///< last: they use the others
};

}  // namespace

Section watched(Settings& settings) {
  constexpr std::string_view unseen = "libdag, not watched", closed = "libdag, --http off";
  const Cluster off(3, 3, false, {"DAG_HTTP=off"}), alone(3), seen(3);
  if (!pages_of(off).empty()) throw std::runtime_error("a node with --http off serves a page");
  const Viewers open(seen);
  Section section{
      "watched",
      "The jobs of `replicated`, in the memory of three nodes each. `libdag` has twenty "
      "open pages at its nodes, "
      "half of them of the job: their events come as a browser gets them. They are open while "
      "the other clusters run, "
      "too, and show an idle one then. Nodes with `--http off` have no pages that could be open."};
  compare(settings, section, {unseen, alone, seen}, {{{100, 48'000, 98}, {10, 240'000, 98}}}, "watched",
          "≥ 98 % of what nobody watches", {{libdag, {}, {{"address", off.address()}}, std::string(closed)}});
  for (const Row& row : section.rows) {
    section.verdicts.push_back({"unwatched", row.workload, "≥ 98 % of --http off", 98,
                                row.find(unseen)->median() / row.find(closed)->median() * 100, false});
  }
  settings.say("the viewers were sent " + std::to_string(open.seen_bytes() >> 20) + " MiB");
  return section;
}

}  // namespace dag::bench
