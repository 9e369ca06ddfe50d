#pragma once
// Addresses of code in a form that another process of the same build understands: the module, and the offset
// from its beginning. Decides which modules count; the handshake has checked that both processes have the
// same ones.

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

  /// The program and, where it is another file, libdag.so: the two modules that the build id of a Hello
  /// names. Read once, since neither moves.
  static const CodeMap& of_this_process();

  /// Empty: the code is in neither, for instance when a kernel is taken directly from a library.
  std::optional<CodePlace> place_of(const void* code) const;
  /// Empty: there is no such place.
  std::optional<const void*> code_at(CodePlace place) const;

 private:
  std::vector<Module> modules_;
};

}  // namespace dag::wire
