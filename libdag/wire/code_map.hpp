#pragma once
// Where code lies, said so that another process of the same build finds the same code: which module, how far
// from its beginning. Decides which modules count; that both processes have the same ones, the handshake has
// seen to.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace dag::wire {

/// Module 0 and offset 0: no code.
struct CodePlace {
  std::uint16_t module = 0;
  std::uint64_t offset = 0;
  bool operator==(const CodePlace&) const = default;
};

class CodeMap {
 public:
  struct Module {
    std::uintptr_t begin = 0;
    std::size_t size_bytes = 0;
  };
  /// Modules are numbered from 1 in this order.
  explicit CodeMap(std::vector<Module> modules) : modules_(std::move(modules)) {}

  /// The program and, where it is another file, libdag.so: the two that the build id of a Hello names. Read
  /// once; neither moves.
  static const CodeMap& of_this_process();

  /// Empty: the code lies in neither, for instance in a library the kernel was taken from as it is.
  std::optional<CodePlace> place_of(const void* code) const;
  /// Empty: there is no such place.
  std::optional<const void*> code_at(CodePlace place) const;

 private:
  std::vector<Module> modules_;
};

}  // namespace dag::wire
