// The main of every peer: reads the request, prints the figures.

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tools/bench/peers/peer.hpp"

int main(int argc, char** argv) {
  using namespace dag::bench;
  try {
    std::vector<std::string> words, runtime_flags;
    for (int i = 1; i < argc; ++i) {
      (std::string_view(argv[i]).starts_with("--dag-") ? runtime_flags : words).push_back(argv[i]);
    }
    if (words.size() % 2 == 0) {
      throw std::invalid_argument(std::string("usage: ") + argv[0] + " WORKLOAD [--option value]...");
    }
    Request request(argv[0], words[0]);
    request.runtime_flags = std::move(runtime_flags);
    for (std::size_t i = 1; i < words.size(); i += 2) {
      const std::string& name = words[i];
      if (!name.starts_with("--")) throw std::invalid_argument("'" + name + "' is not an option");
      request.options[name.substr(2)] = words[i + 1];
    }
    const Figures figures = measure(request);
    nlohmann::json line(figures.numbers);
    if (line.is_null()) line = nlohmann::json::object();
    for (const auto& [name, word] : figures.words) line[name] = word;
    std::cout << line.dump() << std::endl;
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    return 1;
  }
}
