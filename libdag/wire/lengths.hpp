#pragma once
// The limit of every text, list and blob in a frame. Cap'n Proto has none of its own; a frame that exceeds a
// limit is refused whole.

#include <cstddef>
#include <cstdint>

#include "libdag/base/limits.hpp"

namespace dag::wire {

inline constexpr std::size_t operations_per_frame_max = 4096;
inline constexpr std::size_t address_bytes_max = 300;  // A DNS name has at most 253.
inline constexpr std::size_t build_bytes_max = 128;
inline constexpr std::size_t name_bytes_max = 256;
inline constexpr std::size_t text_bytes_max = 16 * 1024;
/// Names of jobs and tasks. Users choose them, and hear of the limit when the job is submitted.
inline constexpr std::size_t label_bytes_max = 64 * 1024;
/// Longer error texts of kernels are cut, not refused.
inline constexpr std::size_t error_text_bytes_max = 16 * 1024;
/// Conditional out-edges of a task.
inline constexpr std::size_t conditions_max = 1u << 20;
/// How a program is started.
inline constexpr std::size_t arguments_max = 4096;
inline constexpr std::size_t arguments_bytes_max = 1u << 20;  ///< of all together
inline constexpr std::size_t directory_bytes_max = 4096;
inline constexpr std::size_t variables_max = 4096;
inline constexpr std::size_t environment_bytes_max = 1u << 20;  ///< of all together
inline constexpr std::size_t limits_max = 64;
/// Size of a job's program. Cap'n Proto counts the bytes of a blob in 29 bits.
inline constexpr std::size_t program_bytes_max = (512u << 20) - 1024;
/// Size of a saved state, from the disk of a node to that of another.
inline constexpr std::size_t save_bytes_max = program_bytes_max;
/// A replicated log: number of seats, entries in a message, bytes of a command or of a piece of a
/// snapshot.
inline constexpr std::size_t seats_max = 10'000;
inline constexpr std::size_t entries_max = 1u << 20;
inline constexpr std::size_t log_bytes_max = program_bytes_max;
/// Lists of a node: jobs, and the worker processes of each, past ones included.
inline constexpr std::size_t jobs_max = 10'000;
inline constexpr std::size_t job_workers_max = 10'000;
/// Details of a job: tasks that are listed, and names that are counted separately.
inline constexpr std::size_t job_details_max = 1'000;
/// Notices of a page of a journal.
inline constexpr std::size_t notices_max = 1'000;
/// Limit of a frame's size besides its operations.
inline constexpr std::size_t frame_overhead_bytes = 256;
/// A frame of the bulk channel: one chunk and its header.
inline constexpr std::size_t bulk_frame_bytes_max = limits::bulk_chunk_bytes + 4096;

static_assert(limits::flush_operations <= operations_per_frame_max);
static_assert(program_bytes_max < 1u << 29);
static_assert(text_bytes_max < limits::control_frame_bytes_max / 4);

}  // namespace dag::wire
