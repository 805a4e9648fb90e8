# One doctest program a folder of tests/, the benchmark program, and the install test.

if(NOT FUSELET_TESTS)
  return()
endif()
enable_testing()
find_path(DOCTEST_INCLUDE_DIR doctest/doctest.h)
set(tests_dir ${PROJECT_SOURCE_DIR}/tests)
# Sanitized programs run several times slower.
set(FUSELET_TEST_TIMEOUT 300)
if(FUSELET_SANITIZE)
  set(FUSELET_TEST_TIMEOUT 1200)
endif()

# What several folders' tests draw from: samples, tolerances.
file(GLOB support_sources CONFIGURE_DEPENDS ${tests_dir}/*.cpp)
list(REMOVE_ITEM support_sources ${tests_dir}/doctest_main.cpp)

foreach(folder core autograd compiler backends frontend)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${tests_dir}/${folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/backends/cuda_sim/")
  if(NOT sources)
    continue()
  endif()
  if(NOT DOCTEST_INCLUDE_DIR)
    message(FATAL_ERROR "the tests need doctest (Debian: doctest-dev)")
  endif()
  if(NOT TARGET fuselet_doctest_main)
    add_library(fuselet_doctest_main OBJECT ${tests_dir}/doctest_main.cpp)
    target_include_directories(fuselet_doctest_main SYSTEM PUBLIC ${DOCTEST_INCLUDE_DIR})
    target_link_libraries(fuselet_doctest_main PUBLIC fuselet_settings)
    add_library(fuselet_test_support STATIC ${support_sources})
    target_link_libraries(fuselet_test_support PUBLIC fuselet fuselet_settings)
    add_dependencies(fuselet_test_support fuselet_generate)
    # GCC 12 takes moved variants for uninitialized ones.
    target_compile_options(fuselet_test_support PRIVATE -Wno-maybe-uninitialized)
  endif()
  add_executable(test_${folder} ${sources})
  target_link_libraries(test_${folder} PRIVATE fuselet_doctest_main fuselet_test_support fuselet)
  target_compile_definitions(test_${folder} PRIVATE FUSELET_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_dependencies(test_${folder} fuselet_generate)
  if(FUSELET_TEST_PCH)
    target_precompile_headers(test_${folder} REUSE_FROM ${FUSELET_TEST_PCH})
  else()
    set(FUSELET_TEST_PCH test_${folder})
    target_precompile_headers(test_${folder} PRIVATE
      <doctest/doctest.h> ${CMAKE_BINARY_DIR}/generated/core/ops/functions.h <unordered_map> <algorithm> <cmath>)
  endif()
  add_test(NAME ${folder} COMMAND test_${folder})
  set_tests_properties(${folder} PROPERTIES LABELS host TIMEOUT ${FUSELET_TEST_TIMEOUT})
endforeach()

# Tests of devices: on the simulated one, and on a GPU where there is one.
if(TARGET test_backends)
  add_test(NAME gpu COMMAND test_backends --test-case=gpu*)
  set_tests_properties(gpu PROPERTIES LABELS gpu TIMEOUT 600 SKIP_REGULAR_EXPRESSION "skipped: ")
  if(TARGET fuselet_cuda_sim)
    add_test(NAME sim COMMAND test_backends --test-case=gpu*)
    set_tests_properties(sim PROPERTIES LABELS sim TIMEOUT 900
      ENVIRONMENT "FUSELET_CUDA=sim;FUSELET_SIM_NVRTC=1")
  endif()
endif()

# Where a CUDA toolkit has them, its headers check our declarations of its libraries.
find_path(FUSELET_CUDA_HEADERS cuda.h HINTS ENV CUDA_HOME ENV CUDA_PATH
  PATHS /usr/local/cuda /usr/local/cuda-13.0 /usr/local/cuda-12.8 PATH_SUFFIXES include)
if(FUSELET_CUDA_HEADERS)
  file(GLOB abi_tests CONFIGURE_DEPENDS ${tests_dir}/backends/cuda/*_abi_test.cpp)
  set_source_files_properties(${abi_tests} PROPERTIES COMPILE_OPTIONS "-idirafter;${FUSELET_CUDA_HEADERS}")
endif()

# The simulated device alone: it and its tests link nothing of fuselet.
if(TARGET fuselet_cuda_sim)
  file(GLOB sources CONFIGURE_DEPENDS ${tests_dir}/backends/cuda_sim/*.cpp)
  add_executable(test_cuda_sim ${sources})
  target_link_libraries(test_cuda_sim PRIVATE fuselet_doctest_main)
  target_compile_definitions(test_cuda_sim PRIVATE FUSELET_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    FUSELET_GENERATED_DIR="${FUSELET_GENERATED_DIR}" FUSELET_SIM_LIBRARY="$<TARGET_FILE:fuselet_cuda_sim>")
  add_dependencies(test_cuda_sim fuselet_cuda_sim fuselet_generate)
  add_test(NAME cuda_sim COMMAND test_cuda_sim)
  # The rest of the tests plants faults that only checked kernels show.
  add_test(NAME cuda_sim_unchecked
    COMMAND test_cuda_sim --source-file=*clean_kernels_test.cpp,*device_test.cpp,*/unchecked_test.cpp)
  set_tests_properties(cuda_sim cuda_sim_unchecked PROPERTIES LABELS "host;sim" TIMEOUT ${FUSELET_TEST_TIMEOUT})
  set_tests_properties(cuda_sim_unchecked PROPERTIES ENVIRONMENT FUSELET_SIM_CHECK=0)
endif()

file(GLOB bench_sources CONFIGURE_DEPENDS ${tests_dir}/perf/*.cpp)
if(EXISTS ${tests_dir}/perf/bench_cpu.cpp AND NOT FUSELET_SANITIZE)
  add_executable(bench_cpu ${bench_sources})
  target_link_libraries(bench_cpu PRIVATE fuselet_test_support fuselet fuselet_settings)
  target_compile_definitions(bench_cpu PRIVATE FUSELET_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_dependencies(bench_cpu fuselet_generate)
endif()

if(EXISTS ${PROJECT_SOURCE_DIR}/frontend/cpp/fuselet/fuselet.h AND NOT FUSELET_SANITIZE)
  add_test(NAME install COMMAND ${CMAKE_COMMAND}
    -D BUILD_DIR=${CMAKE_BINARY_DIR} -D SOURCE_DIR=${tests_dir}/install
    -D CXX_COMPILER=${CMAKE_CXX_COMPILER} -P ${tests_dir}/install/run.cmake)
  set_tests_properties(install PROPERTIES LABELS host TIMEOUT 120)
endif()
