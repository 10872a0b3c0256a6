# The one place for compiler settings: every target of the project is made through these functions.

function(flow_settings target)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wconversion -Werror)
  # g++ 12 takes Asio's own coroutine frame allocator for a mismatch (GCC bug 103993).
  target_compile_options(${target} PRIVATE -Wno-mismatched-new-delete)
  target_compile_definitions(${target} PRIVATE BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_SEPARATE_COMPILATION)
  if(FLOW_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=address,undefined -fno-omit-frame-pointer
                                            -fno-sanitize-recover=undefined)
    # g++ 12 takes Asio's own pair of allocation functions for mismatched once the sanitizer keeps them apart.
    target_compile_options(${target} PRIVATE -Wno-mismatched-new-delete)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  endif()
  if(FLOW_FUZZ)
    target_compile_options(${target} PUBLIC -fsanitize=fuzzer-no-link)
  endif()
endfunction()

function(flow_library target)
  add_library(${target} STATIC ${ARGN})
  flow_settings(${target})
endfunction()

# flow_test(<name> LABEL <unit|sim> SOURCES ... LIBS ...): one Catch2 executable; every test case is a ctest test.
function(flow_test name)
  cmake_parse_arguments(arg "" "LABEL" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  flow_settings(${name})
  # Tables are not worth the optimizer's time: with -O2 half of the build would be theirs.
  target_compile_options(${name} PRIVATE -O1)
  target_link_libraries(${name} PRIVATE ${arg_LIBS} flow_catch_main)
  target_precompile_headers(${name} PRIVATE <catch2/catch.hpp>)
  catch_discover_tests(${name} PROPERTIES LABELS ${arg_LABEL} TIMEOUT 120)
endfunction()
