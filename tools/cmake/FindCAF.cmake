# Debian's libcaf-dev has no CMake package: find its headers and its core library ourselves.
# Defines CAF::core and CAF_VERSION. libdag uses no other part of CAF (its network layer is not used).

find_path(CAF_INCLUDE_DIR caf/all.hpp)
find_library(CAF_CORE_LIBRARY caf_core)

if(CAF_INCLUDE_DIR AND EXISTS ${CAF_INCLUDE_DIR}/caf/config.hpp)
  file(STRINGS ${CAF_INCLUDE_DIR}/caf/config.hpp version_line REGEX "^#define CAF_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" version_number "${version_line}")
  if(version_number)
    math(EXPR major "${version_number} / 10000")
    math(EXPR minor "${version_number} / 100 % 100")
    math(EXPR patch "${version_number} % 100")
    set(CAF_VERSION ${major}.${minor}.${patch})
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CAF REQUIRED_VARS CAF_CORE_LIBRARY CAF_INCLUDE_DIR VERSION_VAR CAF_VERSION)

if(CAF_FOUND AND NOT TARGET CAF::core)
  add_library(CAF::core UNKNOWN IMPORTED)
  set_target_properties(CAF::core PROPERTIES IMPORTED_LOCATION ${CAF_CORE_LIBRARY})
  # Its headers warn under our flags; SYSTEM keeps them quiet.
  set_property(TARGET CAF::core PROPERTY INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${CAF_INCLUDE_DIR})
  set_property(TARGET CAF::core PROPERTY INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
mark_as_advanced(CAF_INCLUDE_DIR CAF_CORE_LIBRARY)
