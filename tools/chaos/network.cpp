#include "tools/chaos/network.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "tools/chaos/cluster.hpp"

namespace dag::chaos {
namespace {

constexpr const char* subnet = "10.77.0.";
constexpr const char* our_namespace = "/proc/thread-self/ns/net";

/// Debian keeps them where only root looks.
std::string path_of(const std::string& tool) {
  for (const char* folder : {"/usr/sbin/", "/sbin/", "/usr/bin/", "/bin/"}) {
    if (access((folder + tool).c_str(), X_OK) == 0) return folder + tool;
  }
  throw NoNetwork("there is no `" + tool + "`: tools/dev/install_packages test");
}

int open_namespace() {
  const int file = open(our_namespace, O_RDONLY | O_CLOEXEC);
  if (file < 0) throw NoNetwork(std::string("cannot open ") + our_namespace + ": " + strerror(errno));
  return file;
}

void leave_for_a_new_one() {
  if (unshare(CLONE_NEWNET) != 0)
    throw NoNetwork(std::string("cannot make a network namespace: ") + strerror(errno));
}

}  // namespace

Network::Network(std::filesystem::path directory, std::uint32_t hosts) : directory_(std::move(directory)) {
  if (geteuid() != 0) throw NoNetwork("network namespaces need root");
  path_of("ip");
  path_of("nft");
  try {
    make(hosts);
  } catch (...) {
    for (const int host : hosts_) close(host);
    throw;
  }
}

Network::~Network() {
  for (const int host : hosts_) close(host);
}

void Network::make(std::uint32_t hosts) {
  for (std::uint32_t host = 0; host < hosts; ++host) {
    leave_for_a_new_one();
    hosts_.push_back(open_namespace());
  }
  leave_for_a_new_one();
  const int here = open_namespace();
  hosts_.push_back(here);  // Until all is made, so that it is closed in any case.
  std::ostringstream at_switch;
  at_switch << "link set lo up\nlink add name switch type bridge\nlink set switch up\n"
            << "address add " << subnet << "254/24 dev switch\n";
  for (std::uint32_t host = 0; host < hosts; ++host) {
    at_switch << "link add name port" << host << " type veth peer name eth0 netns /proc/" << getpid()
              << "/fd/" << hosts_[host] << "\nlink set port" << host << " master switch up\n";
  }
  run("ip", "-batch", at_switch.str(), here);
  for (std::uint32_t host = 0; host < hosts; ++host) {
    const std::string address = this->address(host);
    run("ip", "-batch", "link set lo up\naddress add " + address + "/24 dev eth0\nlink set eth0 up\n",
        hosts_[host]);
    run("nft", "-f",
        "table ip chaos {\n set deaf { type ipv4_addr; }\n chain input {\n"
        "  type filter hook input priority 0;\n  ip saddr @deaf drop;\n }\n}\n",
        hosts_[host]);
  }
  hosts_.pop_back();
  close(here);
}

std::string Network::address(std::uint32_t host) const { return subnet + std::to_string(host + 1); }

void Network::cut(const Deaf& deaf) const {
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    std::string unheard;
    for (const auto& [from, to] : deaf) {
      if (to == host) unheard += (unheard.empty() ? "" : ", ") + address(from);
    }
    std::string rules = "flush set ip chaos deaf\n";
    if (!unheard.empty()) rules += "add element ip chaos deaf { " + unheard + " }\n";
    run("nft", "-f", rules, hosts_[host]);
  }
}

void Network::run(const std::string& tool, const std::string& flag, const std::string& commands,
                  int space) const {
  const std::filesystem::path told = directory_ / "network", said = directory_ / "network.log";
  std::ofstream(told, std::ios::trunc) << commands;
  Program program({path_of(tool), flag, told.string()}, said, said, space);
  if (program.wait() != 0) throw NoNetwork("`" + tool + "` could not do what it was told: " + said.string());
}

}  // namespace dag::chaos
