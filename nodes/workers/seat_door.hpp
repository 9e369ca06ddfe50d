#pragma once
// The way between a node and a worker process by which the process leaves the job that it serves, and gets a
// seat in the next one: a pair of sockets, which the process inherits one end of.
//
//   node -> process    leave        its job is over
//   process -> node    free         nothing of that job is left in the process
//   node -> process    a seat       with its page, its records and the file of its output
//
// A kernel can write to the end of its process, so the node takes `free` for a word of a stranger: it listens
// only when it has said `leave`, and looks at the process itself. When the node closes its end the process
// ends.

#include <optional>

#include "libdag/base/owned_file.hpp"
#include "libdag/base/result.hpp"
#include "nodes/workers/worker_seat.hpp"

namespace dag {

struct SeatDoor {
  OwnedFile of_node, of_process;
};
/// Both are closed by exec. Error: no more files can be opened.
Result<SeatDoor> make_seat_door();

// By the node, on its end; these never block. False: nobody is there.
bool say_leave(int door);
bool hand_seat(int door, const WorkerSeat& seat, int output);
enum class DoorSaid : std::uint8_t { nothing, free, gone };
DoorSaid read_door(int door);

// By the process, on its own end.
/// Until there is something to read. False: it is not `leave`, and no node is there.
bool hear_leave(int door);
void say_free(int door);
/// Waits for it. What the process prints goes where the seat says from then on. Nothing: the node wants an
/// end of the process.
std::optional<WorkerSeat> take_seat(int door);

}  // namespace dag
