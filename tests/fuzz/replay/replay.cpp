// Feeds a fuzz target what earlier searches kept, in builds that cannot search: the files of the folders
// named on the command line, and each of them cut short at a few places.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  std::set<std::filesystem::path> inputs;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) continue;  // A target whose corpus is still empty.
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) inputs.insert(entry.path());
  }
  LLVMFuzzerTestOneInput(nullptr, 0);
  for (const auto& input : inputs) {
    std::ifstream file(input, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    for (std::size_t eighths = 1; eighths <= 8; ++eighths) {
      // A copy of exactly this size, so that the sanitizer sees a read behind its end.
      const std::vector<std::uint8_t> part(
          bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() * eighths / 8));
      LLVMFuzzerTestOneInput(part.data(), part.size());
    }
  }
  std::cout << inputs.size() << " inputs replayed\n";
}
