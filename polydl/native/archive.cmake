# libpolydl_xsmm.a: the part of LIBXSMM that emitted code calls, for START, LIBXSMM and NOBLAS, files to link.
# Two of them may be in one program, beside another LIBXSMM and a BLAS: all names but those called are local, and these
# are weak.
cmake_minimum_required(VERSION 3.20)
foreach(kind smm dmm bsmm subimm)
  foreach(form dispatch dispatch_reducebatch_offs)
    list(APPEND wanted -u libxsmm_${kind}${form})
    list(APPEND kept --keep-global-symbol=libxsmm_${kind}${form})
  endforeach()
endforeach()
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
run("${LINKER}" -r -d --gc-sections ${wanted} "${START}" "${LIBXSMM}" "${NOBLAS}" -o whole.o)
run("${OBJCOPY}" --strip-debug ${kept} whole.o local.o)
run("${OBJCOPY}" --wildcard "--weaken-symbol=libxsmm_*" local.o polydl_xsmm.o)
file(REMOVE libpolydl_xsmm.a)
run("${ARCHIVER}" crs libpolydl_xsmm.a polydl_xsmm.o)
