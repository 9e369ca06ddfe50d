#pragma once
// The effects of a command's second run, by the user's word. Without a word a second run is the same as one
// run, and never beside another one that its process knows of.

#include <dag/options.hpp>
#include <map>
#include <string>

namespace dag::tool {

inline const std::map<std::string, Effects>& effects_of_commands() {
  static const std::map<std::string, Effects> words{
      {"pure", pure}, {"idempotent", idempotent}, {"exclusive", exclusive}, {"at_most_once", at_most_once}};
  return words;
}

}  // namespace dag::tool
