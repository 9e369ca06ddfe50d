#include "nodes/workers/seat_door.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

namespace dag {
namespace {

constexpr char leave = 'L', is_free = 'F';
constexpr std::size_t seat_bytes_max = 4096, files_max = 3;

/// As many bytes as there are in one message; 0: the other end is closed. -1: errno says why.
ssize_t receive(int door, void* to, std::size_t most, int flags) {
  for (;;) {
    const ssize_t got = recv(door, to, most, flags);
    if (got >= 0 || errno != EINTR) return got;
  }
}

bool say(int door, char word) {
  for (;;) {
    if (send(door, &word, 1, MSG_NOSIGNAL) == 1) return true;
    if (errno != EINTR) return false;
  }
}

/// Text and room for files, as sendmsg and recvmsg take them; its parts point to each other.
struct Message {
  iovec part;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(files_max * sizeof(int))> control{};
  msghdr header{};

  Message(std::string& text, std::size_t files) : part{text.data(), text.size()} {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(files * sizeof(int));
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
};

bool send_with_files(int door, std::string text, const std::vector<int>& files) {
  Message message(text, files.size());
  cmsghdr* const header = CMSG_FIRSTHDR(&message.header);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
  std::memcpy(CMSG_DATA(header), files.data(), files.size() * sizeof(int));
  for (;;) {
    const ssize_t sent = sendmsg(door, &message.header, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0 || errno != EINTR) return sent == static_cast<ssize_t>(text.size());
  }
}

/// Empty text: the other end is closed.
std::string receive_with_files(int door, std::vector<OwnedFile>& files) {
  std::string text(seat_bytes_max, '\0');
  Message message(text, files_max);
  ssize_t got = 0;
  do {
    got = recvmsg(door, &message.header, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  const cmsghdr* const header = CMSG_FIRSTHDR(&message.header);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return text;
  const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t i = 0; i < count; ++i) {
    int file = -1;
    std::memcpy(&file, CMSG_DATA(header) + i * sizeof(int), sizeof file);
    files.emplace_back(file);
  }
  return text;
}

}  // namespace

Result<SeatDoor> make_seat_door() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{ErrorCode::internal, "no sockets for a worker process: " + std::string(strerror(errno)),
                 "does the node reach a limit of open files? `dag doctor`"};
  }
  return SeatDoor{OwnedFile(ends[0]), OwnedFile(ends[1])};
}

bool say_leave(int door) { return say(door, leave); }

bool hand_seat(int door, const WorkerSeat& seat, int output) {
  std::vector<int> files{output, seat.page};
  if (seat.records >= 0) files.push_back(seat.records);
  return send_with_files(door, to_text(seat), files);
}

DoorSaid read_door(int door) {
  char word = 0;
  const ssize_t got = receive(door, &word, 1, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return DoorSaid::nothing;
  if (got <= 0) return DoorSaid::gone;
  return word == is_free ? DoorSaid::free : DoorSaid::nothing;
}

bool hear_leave(int door) {
  char word = 0;
  return receive(door, &word, 1, 0) == 1 && word == leave;
}

void say_free(int door) { say(door, is_free); }

std::optional<WorkerSeat> take_seat(int door) {
  std::vector<OwnedFile> files;
  const std::string text = receive_with_files(door, files);
  auto seat = seat_of(text);
  if (!seat || files.size() < 2 || (seat->records >= 0) != (files.size() == 3)) return std::nullopt;
  for (const int as : {STDOUT_FILENO, STDERR_FILENO}) {
    if (dup2(files[0].number(), as) < 0) return std::nullopt;
  }
  seat->page = files[1].take();
  if (files.size() == 3) seat->records = files[2].take();
  seat->door = door;
  return seat;
}

}  // namespace dag
