# fuselet_settings: the language level, flags and include roots that every part of fuselet shares.

add_library(fuselet_settings INTERFACE)
target_compile_features(fuselet_settings INTERFACE cxx_std_20)

# Contraction is off so that eager, generated and reference code round alike; nothing reads errno.
target_compile_options(fuselet_settings INTERFACE
  -march=${FUSELET_ARCH} -ffp-contract=off -fno-math-errno -Wall -Wextra)
# GCC 12 warns of its own std::string (its bugs 105329 and 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(fuselet_settings INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
endif()

if(FUSELET_SANITIZE)
  set(FUSELET_SANITIZE_FLAGS -fsanitize=address,undefined -fno-sanitize-recover=all
      -fno-omit-frame-pointer)
  target_compile_options(fuselet_settings INTERFACE ${FUSELET_SANITIZE_FLAGS})
  target_link_options(fuselet_settings INTERFACE ${FUSELET_SANITIZE_FLAGS})
endif()

target_include_directories(fuselet_settings INTERFACE
  ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/frontend/cpp ${CMAKE_BINARY_DIR}/generated)

find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Threads REQUIRED)
target_link_libraries(fuselet_settings INTERFACE
  OpenMP::OpenMP_CXX Threads::Threads ${CMAKE_DL_LIBS})

# The shared C++ library by name: where only the static one is found by default, Python extensions would each bring a copy,
# and two copies share half of their state.
find_library(FUSELET_CXX_LIBRARY NAMES libstdc++.so libstdc++.so.6)
if(FUSELET_CXX_LIBRARY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_link_libraries(fuselet_settings INTERFACE ${FUSELET_CXX_LIBRARY})
endif()

# Files that use a precompiled header pass it by: a header kept by ccache would no longer know the files that it has
# included by their times.
find_program(FUSELET_CCACHE ccache)
if(FUSELET_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${FUSELET_CCACHE})
endif()
