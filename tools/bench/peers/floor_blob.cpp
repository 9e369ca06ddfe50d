// The floor of moving bytes between two hosts: one TCP stream, here over loopback, between two processes.

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tools/bench/peers/clock.hpp"
#include "tools/bench/peers/floor.hpp"

namespace dag::bench {
namespace {

struct Socket {
  explicit Socket(int descriptor) : fd(descriptor) {
    if (fd < 0) throw std::runtime_error("no socket");
  }
  ~Socket() { close(fd); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd;
};

/// All of it, in either direction.
template <class Move>
bool move_all(Move move, char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t moved = move(data, size);
    if (moved <= 0) return false;
    data += moved;
    size -= static_cast<std::size_t>(moved);
  }
  return true;
}

[[noreturn]] void send_rounds(const sockaddr_in& address, std::uint64_t size_bytes, std::uint64_t rounds) {
  const int to = socket(AF_INET, SOCK_STREAM, 0);
  bool good = connect(to, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  std::vector<char> bytes(size_bytes, 1);
  const auto write_to = [&](char* data, std::size_t size) { return write(to, data, size); };
  const auto read_from = [&](char* data, std::size_t size) { return read(to, data, size); };
  for (std::uint64_t round = 0; good && round < rounds; ++round) {
    std::int64_t start_ns = now_ns();
    char taken = 0;
    good = move_all(write_to, reinterpret_cast<char*>(&start_ns), sizeof start_ns) &&
           move_all(write_to, bytes.data(), bytes.size()) && move_all(read_from, &taken, 1);
  }
  _exit(good ? 0 : 1);
}

}  // namespace

Figures floor_blob(const Request& request) {
  const std::uint64_t size_bytes = request.number("bytes", 1 << 20), rounds = request.number("rounds", 5);
  const Socket listening(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(listening.fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listening.fd, 1) != 0 ||
      getsockname(listening.fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw std::runtime_error("no port on loopback");
  }
  const pid_t sender = fork();
  if (sender == 0) send_rounds(address, size_bytes, rounds);
  const Socket from(accept(listening.fd, nullptr, nullptr));
  std::vector<char> bytes(size_bytes);
  std::vector<std::int64_t> samples;
  const auto read_from = [&](char* data, std::size_t size) { return read(from.fd, data, size); };
  const auto write_to = [&](char* data, std::size_t size) { return write(from.fd, data, size); };
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::int64_t start_ns = 0;
    char taken = 1;
    if (!move_all(read_from, reinterpret_cast<char*>(&start_ns), sizeof start_ns) ||
        !move_all(read_from, bytes.data(), bytes.size())) {
      throw std::runtime_error("the stream ended early");
    }
    if (round > 0) samples.push_back(now_ns() - start_ns);  // The first one pays for cold memory.
    move_all(write_to, &taken, 1);
  }
  int status = 0;
  waitpid(sender, &status, 0);
  Figures figures;
  add_percentiles(figures, "blob", std::move(samples));
  return figures;
}

}  // namespace dag::bench
