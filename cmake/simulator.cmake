# libfuselet_cuda_sim.so, the simulated CUDA device. It stands alone: it fills the tables of
# backends/cuda/driver/driver_api.h and links nothing of fuselet; libfuselet opens it with dlopen.

set(shim_folder ${PROJECT_SOURCE_DIR}/backends/cuda_sim/shim)
set(shim_text ${FUSELET_GENERATED_DIR}/backends/cuda_sim/shim_text.cpp)
file(GLOB_RECURSE sim_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/backends/cuda_sim/*.cpp)
file(GLOB shim_headers CONFIGURE_DEPENDS ${shim_folder}/*.h)
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  message(STATUS "fuselet: the simulated CUDA device needs x86-64, and is left out")
  return()
endif()

add_custom_command(OUTPUT ${shim_text}
  COMMAND ${Python_EXECUTABLE} -B ${shim_folder}/embed_shim.py ${shim_text}
  DEPENDS ${shim_folder}/embed_shim.py ${shim_headers}
  COMMENT "Embedding the simulator's shim" VERBATIM)

add_library(fuselet_cuda_sim SHARED ${sim_sources} ${shim_text})
target_compile_features(fuselet_cuda_sim PRIVATE cxx_std_20)
target_include_directories(fuselet_cuda_sim PRIVATE ${PROJECT_SOURCE_DIR})
# Not fuselet_settings: a sanitizer would not follow the switches between the stacks of kernels.
target_compile_options(fuselet_cuda_sim PRIVATE -O2 -ffp-contract=off -Wall -Wextra)
set_target_properties(fuselet_cuda_sim PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_link_libraries(fuselet_cuda_sim PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
