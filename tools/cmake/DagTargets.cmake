# How a folder becomes a target. A folder's sources are those that lie in it, so adding a file needs no edit here.

add_library(dag_options INTERFACE)
target_include_directories(dag_options INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/libdag/include)
target_compile_options(dag_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
                                             -fstack-protector-strong)
target_link_options(dag_options INTERFACE -Wl,-z,relro,-z,now)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # By default g++ collects garbage whenever it holds 128 MiB: a twelfth of the time, for a fifth of the memory.
  target_compile_options(dag_options INTERFACE --param=ggc-min-heapsize=800000)
  # Of classes that one source defines and uses; it cannot tell when several are compiled together.
  target_compile_options(dag_options INTERFACE -Wno-subobject-linkage)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 guesses wrong about strings that are joined (its bug 105651) and about variants, functions and regular
  # expressions that move (105562). The sanitizers find what is true of it.
  target_compile_options(dag_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized -Wno-array-bounds
                                               -Wno-stringop-overflow -Wno-stringop-overread)
endif()
if(DAG_WERROR)
  target_compile_options(dag_options INTERFACE -Werror)
endif()
if(DAG_SANITIZE)
  target_compile_options(dag_options INTERFACE -fsanitize=${DAG_SANITIZE} -fno-omit-frame-pointer
                                               -fno-sanitize-recover=all)
  if(DAG_NO_SANITIZE)
    target_compile_options(dag_options INTERFACE -fno-sanitize=${DAG_NO_SANITIZE})
  endif()
  target_compile_definitions(dag_options INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(dag_options INTERFACE -fsanitize=${DAG_SANITIZE})
else()
  # Fortified functions need optimisation, and hide from the sanitizers what they look for.
  target_compile_definitions(dag_options INTERFACE $<$<NOT:$<CONFIG:Debug>>:_FORTIFY_SOURCE=2>)
endif()
if(DAG_PLANTED_BUGS)
  target_compile_definitions(dag_options INTERFACE DAG_PLANTED_BUGS)
endif()
target_link_libraries(dag_options INTERFACE Threads::Threads)

# The standard library's headers take every source a second; compiled once, a tenth. Sources include what they need all
# the same: the preset tsan compiles without.
add_library(dag_std OBJECT ${CMAKE_SOURCE_DIR}/tools/cmake/std.cpp)
target_link_libraries(dag_std PRIVATE dag_options)
target_precompile_headers(dag_std PRIVATE <algorithm> <array> <atomic> <bit> <chrono> <cstdint> <cstring> <deque> <functional>
                          <limits> <map> <memory> <optional> <set> <span> <stdexcept> <string> <string_view>
                          <unordered_map> <utility> <variant> <vector>)

# To begin with a source takes the compiler three times as long as to compile it: headers, and their templates. So some of
# a folder are compiled together, and what lies in their anonymous namespaces has one name in all of the folder. CMake's own
# unity builds name sources by their absolute paths, which messages and ccache would see.
set(DAG_TOGETHER 8 CACHE STRING "At most about so many sources of a folder are compiled together; 1: each by itself")

# dag_together(variable NAME name SOURCES path... APART regex): what to compile in place of these, but for those apart.
function(dag_together variable)
  cmake_parse_arguments(ARG "" "NAME;APART" "SOURCES" ${ARGN})
  set(compiled "")
  set(together ${ARG_SOURCES})
  if(ARG_APART)
    set(compiled ${ARG_SOURCES})
    list(FILTER compiled INCLUDE REGEX "${ARG_APART}")
    list(FILTER together EXCLUDE REGEX "${ARG_APART}")
  endif()
  if(DAG_TOGETHER LESS 2)
    list(APPEND compiled ${together})
    set(together "")
  endif()
  # A source goes where its name says, so a new one recompiles no more than its own group. Their number is a power of two:
  # it changes when a folder has grown to twice its size.
  list(LENGTH together left)
  set(groups 1)
  while(left GREATER DAG_TOGETHER)
    math(EXPR left "(${left} + 1) / 2")
    math(EXPR groups "${groups} * 2")
  endwhile()
  foreach(source ${together})
    file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR} ${source})
    get_filename_component(name ${source} NAME_WE)
    string(MD5 hash ${name})
    string(SUBSTRING ${hash} 0 6 digits)
    math(EXPR group "0x${digits} % ${groups}")
    string(APPEND text_${group} "#include \"${path}\"\n")
  endforeach()
  math(EXPR last "${groups} - 1")
  foreach(group RANGE ${last})
    if(text_${group})
      set(file ${CMAKE_BINARY_DIR}/together/${ARG_NAME}_${group}.cpp)
      file(CONFIGURE OUTPUT ${file} CONTENT "${text_${group}}" @ONLY)
      list(APPEND compiled ${file})
    endif()
  endforeach()
  set(${variable} ${compiled} PARENT_SCOPE)
endfunction()

# dag_folder(libdag/graph USES base LINKS lib PCH <header>): an object library named dag_graph (dag_actors_lanes
# for actors/lanes). A folder without sources yet is an interface. USES is what the folder may include, and
# tools/dev/layering.sh reads it here; LINKS are libraries from outside; sources that match APART are compiled by themselves.
function(dag_folder folder)
  cmake_parse_arguments(ARG "" "APART" "USES;LINKS;PCH" ${ARGN})
  string(REGEX REPLACE "^libdag/" "" name ${folder})
  string(REPLACE "/" "_" name ${name})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cpp)
  if(folder STREQUAL "nodes")
    file(GLOB below CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/nodes/*/*.cpp)
    list(FILTER below EXCLUDE REGEX "/nodes/http/")  # A folder of its own.
    list(APPEND sources ${below})
  endif()
  list(FILTER sources EXCLUDE REGEX "/(main|dagd)\\.cpp$")
  list(TRANSFORM ARG_USES PREPEND dag_ OUTPUT_VARIABLE uses)
  if(sources)
    dag_together(compiled NAME dag_${name} SOURCES ${sources} APART "${ARG_APART}")
    add_library(dag_${name} OBJECT ${compiled})
    if(DAG_SANITIZE MATCHES "fuzzer")
      set(uses "")  # They would be built; what reads bytes needs their headers only, and those are found anyway.
    endif()
    # Of an object library only include paths, flags and libraries travel; dag_collect() takes the objects, once.
    target_link_libraries(dag_${name} PUBLIC dag_options PkgConfig::XXHASH ${uses} ${ARG_LINKS})
    if(ARG_PCH)
      target_precompile_headers(dag_${name} PRIVATE ${ARG_PCH})
    else()
      target_precompile_headers(dag_${name} REUSE_FROM dag_std)
    endif()
    set_property(GLOBAL APPEND PROPERTY dag_all_objects dag_${name})
  else()
    add_library(dag_${name} INTERFACE)
    target_link_libraries(dag_${name} INTERFACE dag_options ${uses} ${ARG_LINKS})
  endif()
  set_property(GLOBAL APPEND PROPERTY dag_all_links ${ARG_LINKS})
endfunction()

# Compiles every *.capnp of a folder into the target.
function(dag_schemas folder)
  cmake_parse_arguments(ARG "" "TARGET" "" ${ARGN})
  file(GLOB schemas CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.capnp)
  get_target_property(type ${ARG_TARGET} TYPE)
  if(NOT schemas OR type STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()
  set(CAPNPC_SRC_PREFIX ${CMAKE_SOURCE_DIR})
  set(CAPNPC_OUTPUT_DIR ${CMAKE_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${CAPNPC_OUTPUT_DIR})
  set(CAPNPC_IMPORT_DIRS ${CMAKE_SOURCE_DIR})
  capnp_generate_cpp(generated_sources generated_headers ${schemas})
  set_source_files_properties(${generated_sources} PROPERTIES COMPILE_OPTIONS "-w")
  target_sources(${ARG_TARGET} PRIVATE ${generated_sources} ${generated_headers})
  # Generated headers are somebody else's code: no warnings from them.
  target_include_directories(${ARG_TARGET} SYSTEM PRIVATE ${CAPNPC_OUTPUT_DIR})
endfunction()

# dag_collect(name FOLDERS folder...): one static library of those folders, by default of all declared so far.
function(dag_collect name)
  cmake_parse_arguments(ARG "" "" "FOLDERS" ${ARGN})
  get_property(objects GLOBAL PROPERTY dag_all_objects)
  if(ARG_FOLDERS)
    list(TRANSFORM ARG_FOLDERS PREPEND dag_ OUTPUT_VARIABLE objects)
  endif()
  get_property(links GLOBAL PROPERTY dag_all_links)
  list(REMOVE_DUPLICATES links)
  add_library(${name} STATIC)
  foreach(object ${objects})
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${object}>)
  endforeach()
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${name} PUBLIC dag_options PkgConfig::XXHASH ${links})
endfunction()

# libdag.so, its installed headers, and what find_package(dag) and pkg-config need.
function(dag_shared_library)
  get_property(objects GLOBAL PROPERTY dag_all_objects)
  get_property(links GLOBAL PROPERTY dag_all_links)
  list(REMOVE_DUPLICATES links)
  add_library(dag SHARED)
  add_library(dag::dag ALIAS dag)
  foreach(object ${objects})
    target_sources(dag PRIVATE $<TARGET_OBJECTS:${object}>)
  endforeach()
  set_target_properties(dag PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                                       SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_include_directories(dag INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/libdag/include>
                                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(dag INTERFACE cxx_std_20)
  target_link_libraries(dag PRIVATE dag_options PkgConfig::XXHASH ${links})
  if(NOT DAG_SANITIZE)
    target_link_options(dag PRIVATE -Wl,-z,defs)  # A library it forgot to name is found here, not by its users.
  endif()
  include(DagInstall)
endfunction()

# dag_program(name FROM folder-or-file LINKS lib... HEADERS target): a program in <build>/bin, if its sources exist yet.
# HEADERS has the precompiled headers. They are compiled for a library, and so are these sources.
function(dag_program name)
  cmake_parse_arguments(ARG "" "HEADERS" "FROM;LINKS" ${ARGN})
  set(sources "")
  foreach(from ${ARG_FROM})
    get_filename_component(path ${from} ABSOLUTE)
    if(IS_DIRECTORY ${path})
      file(GLOB found CONFIGURE_DEPENDS ${path}/*.cpp)
    else()
      file(GLOB found CONFIGURE_DEPENDS ${path})
    endif()
    list(APPEND sources ${found})
  endforeach()
  if(NOT sources)
    return()
  endif()
  if(ARG_HEADERS)
    add_library(${name}_objects OBJECT ${sources})
    target_link_libraries(${name}_objects PRIVATE dag_options ${ARG_LINKS})
    target_precompile_headers(${name}_objects REUSE_FROM ${ARG_HEADERS})
    set(sources $<TARGET_OBJECTS:${name}_objects>)
  endif()
  add_executable(${name} ${sources})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${name} PRIVATE dag_options ${ARG_LINKS})
endfunction()
