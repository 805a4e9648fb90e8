# Installs BUILD_DIR into an empty prefix, then configures, builds and runs the project in
# SOURCE_DIR against it, as a user would.
set(work ${BUILD_DIR}/install_test)
file(REMOVE_RECURSE ${work})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "failed (${status}): ${command}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${work}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${work}/build -G Ninja -D CMAKE_BUILD_TYPE=Release
    -D CMAKE_CXX_COMPILER=${CXX_COMPILER} -D CMAKE_PREFIX_PATH=${work}/prefix
    -D README=${SOURCE_DIR}/../../README.md)
run(${CMAKE_COMMAND} --build ${work}/build)
run(${work}/build/uses_fuselet)
run(${work}/build/readme_example_1)
run(${work}/build/readme_example_2)
