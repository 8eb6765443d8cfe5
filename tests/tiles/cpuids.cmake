# cmake -DOBJDUMP=… -DLIBRARY=… -DOUT=… -P cpuids.cmake: where in the library's code the instruction cpuid stands.
execute_process(COMMAND ${OBJDUMP} -d --no-show-raw-insn ${LIBRARY}
                COMMAND grep -w cpuid OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL LAST)
string(REGEX REPLACE " *([0-9a-f]+):[^\n]*\n" "0x\\1,\n" offsets "${lines}")
file(WRITE ${OUT} "${offsets}")
