# Debian's ImGui: headers in a folder of their own, and a library that needs stb's.
find_library(LOCKSTEP_IMGUI imgui REQUIRED)
find_library(LOCKSTEP_STB stb REQUIRED)
find_path(LOCKSTEP_IMGUI_HEADERS imgui.h PATH_SUFFIXES imgui REQUIRED)
add_library(lockstep_imgui INTERFACE)
target_link_libraries(lockstep_imgui INTERFACE ${LOCKSTEP_IMGUI} ${LOCKSTEP_STB} ${CMAKE_DL_LIBS})
target_include_directories(lockstep_imgui SYSTEM INTERFACE ${LOCKSTEP_IMGUI_HEADERS})

lockstep_library(ui_timeline
    SOURCES timeline/imgui_font.cpp timeline/imgui_surface.cpp timeline/span_track.cpp timeline/timeline_canvas.cpp
        timeline/timeline_feed.cpp timeline/timeline_model.cpp timeline/timeline_painter.cpp timeline/timeline_scene.cpp
        timeline/timeline_state.cpp timeline/timeline_statistics.cpp timeline/timeline_text.cpp timeline/timeline_view.cpp
        timeline/timeline_viewport.cpp
    LINK ui_style imgui Qt6::OpenGLWidgets)
