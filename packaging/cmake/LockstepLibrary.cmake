set(sanitizers_address -fsanitize=address,undefined -fno-sanitize-recover=all)
set(sanitizers_thread -fsanitize=thread)
if(LOCKSTEP_SANITIZE AND NOT DEFINED sanitizers_${LOCKSTEP_SANITIZE})
    message(FATAL_ERROR "LOCKSTEP_SANITIZE is \"${LOCKSTEP_SANITIZE}\": choose address or thread.")
endif()

# lockstep_library(name SOURCES … LINK …): the static library of one folder, target lockstep_<name>, with the project's
# warnings. LINK lists what the folder may include: names of other folders, or outside targets.
# lockstep_warnings(target) alone serves programs and modules.
function(lockstep_warnings target)
    target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual>)
    # GCC 12 sees overlapping copies inside std::string where there are none (GCC bug 105651).
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
    endif()
    if(LOCKSTEP_WERROR)
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
    endif()
    if(LOCKSTEP_SANITIZE)
        target_compile_options(${target} PUBLIC ${sanitizers_${LOCKSTEP_SANITIZE}} -fno-omit-frame-pointer)
        target_link_options(${target} PUBLIC ${sanitizers_${LOCKSTEP_SANITIZE}})
    endif()
    target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
endfunction()

function(lockstep_library name)
    cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
    add_library(lockstep_${name} STATIC ${arg_SOURCES})
    lockstep_warnings(lockstep_${name})
    foreach(dependency IN LISTS arg_LINK)
        if(dependency MATCHES "::" OR TARGET ${dependency})
            target_link_libraries(lockstep_${name} PUBLIC ${dependency})
        else()
            target_link_libraries(lockstep_${name} PUBLIC lockstep_${dependency})
        endif()
    endforeach()
endfunction()
