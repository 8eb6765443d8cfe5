# What `cmake --install` and `cpack -G DEB` put where. Programs find each other, and the CUDA module, relative to
# themselves. The package leaves the module out: NVIDIA's libraries are no part of Debian, so it could name nothing that
# it needs.
include(GNUInstallDirs)

set(authors "The Lockstep authors <lockstep@localhost>")
set(LOCKSTEP_MAINTAINER "${authors}" CACHE STRING "Whom the package names as its maintainer")
set(man ${PROJECT_SOURCE_DIR}/packaging/man)
set(desktop ${PROJECT_SOURCE_DIR}/packaging/desktop)
set(app_id io.github.lockstep.studio)

function(lockstep_install_zipped file name folder)
    set(zipped ${PROJECT_BINARY_DIR}/package/${name}.gz)
    add_custom_command(OUTPUT ${zipped} DEPENDS ${file} VERBATIM
        COMMAND sh -c "gzip -9nc \"$1\" > \"$2\"" sh ${file} ${zipped})
    add_custom_target(package_${name} ALL DEPENDS ${zipped})
    install(FILES ${zipped} DESTINATION ${folder})
endfunction()

file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/package)
install(TARGETS lockstep DESTINATION ${CMAKE_INSTALL_BINDIR})
lockstep_install_zipped(${man}/lockstep.1 lockstep.1 ${CMAKE_INSTALL_MANDIR}/man1)
if(TARGET lockstep_cuda)
    # The toolkit's libraries are found where they were when it was linked.
    set_target_properties(lockstep_cuda PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
    install(TARGETS lockstep_cuda COMPONENT cuda DESTINATION lib/lockstep/backends)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/plugins DESTINATION ${CMAKE_INSTALL_DATADIR}/lockstep)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/debian/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/lockstep)
if(TARGET lockstep-studio)
    install(TARGETS lockstep-studio DESTINATION ${CMAKE_INSTALL_BINDIR})
    lockstep_install_zipped(${man}/lockstep-studio.1 lockstep-studio.1 ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${PROJECT_SOURCE_DIR}/resources/icons/${app_id}.svg
        DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
    install(FILES ${desktop}/${app_id}.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
    install(FILES ${desktop}/${app_id}.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
endif()
set(changelog ${PROJECT_SOURCE_DIR}/packaging/debian/changelog)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${changelog})
file(READ ${changelog} changes)
string(REPLACE "${authors}" "${LOCKSTEP_MAINTAINER}" changes "${changes}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package/changelog CONTENT "${changes}" @ONLY)
lockstep_install_zipped(${PROJECT_BINARY_DIR}/package/changelog changelog ${CMAKE_INSTALL_DATADIR}/doc/lockstep)

if(LOCKSTEP_MINIMAL)
    return()
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};Lockstep;Unspecified;/")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PACKAGE_NAME lockstep)
set(CPACK_PACKAGE_CONTACT "${LOCKSTEP_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "studio for data-parallel training")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"N replicas of a network train in lockstep, one thread per device, and every
gradient is summed before every update. The cores of the processor serve as
devices, so a laptop is enough to see data parallelism at work.
.
The package has two programs: lockstep-studio, a window with a form for runs,
live curves, a timeline of every rank and a history of trials; and lockstep,
the engine and its command line.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS libgl1)               # Dear ImGui opens it at run time: shlibdeps cannot see it
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS dataset-fashion-mnist)
include(CPack)
