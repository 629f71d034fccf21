# Planted bugs: each must be rejected by the gradient check of its own op.
#
# mutant(rms_norm without_rank_one_term FIND "x_row[i] * slope" REPLACE "0") edits a copy of the shipped
# autograd/ops/rms_norm.cpp (FILE names another), compiles it in place of the original, and lets that op's check run.
# The text must occur exactly once, so a change of the op file cannot silently disarm its mutants.
function(mutant op name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "FIND;REPLACE;FILE" "")
  if(NOT arg_FILE)
    set(arg_FILE autograd/ops/${op}.cpp)
  endif()
  set(source ${PROJECT_SOURCE_DIR}/${arg_FILE})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(READ ${source} text)
  string(FIND "${text}" "${arg_FIND}" first)
  string(FIND "${text}" "${arg_FIND}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "mutant ${op}.${name}: «${arg_FIND}» must occur exactly once in ${arg_FILE}")
  endif()
  string(REPLACE "${arg_FIND}" "${arg_REPLACE}" text "${text}")
  set(mutated ${PROJECT_BINARY_DIR}/mutants/${op}.${name}.cpp)
  file(CONFIGURE OUTPUT ${mutated} CONTENT "${text}" @ONLY)

  # The linker takes an op's functions from here and never opens the original object in the library.
  set(target mutant_${op}_${name})
  add_executable(${target} ${mutated} $<TARGET_OBJECTS:gradus_grad_checks>)
  target_link_libraries(${target} PRIVATE gradus_optim_f64)
  target_compile_options(${target} PRIVATE -O1 -fopenmp-simd)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/mutants)
  add_test(NAME mutant.${op}.${name} COMMAND ${target} --must-reject ${op})
  set_property(GLOBAL APPEND PROPERTY GRADUS_MUTATED_OPS ${op})
endfunction()

file(GLOB lists CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/grad/*.mutants.cmake)
foreach(list ${lists})
  include(${list})
endforeach()

# A check that no planted bug has tried proves little: every checked op of autograd/ops needs one.
get_property(mutated GLOBAL PROPERTY GRADUS_MUTATED_OPS)
get_property(checked GLOBAL PROPERTY GRADUS_CHECKED_OPS)
foreach(op ${checked})
  if(NOT op IN_LIST mutated)
    message(FATAL_ERROR "${op} has a gradient check and no mutant: add one to tests/grad/${op}.mutants.cmake")
  endif()
endforeach()
