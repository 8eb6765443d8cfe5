lockstep_library(ui_shell
    SOURCES controllers/open_runs.cpp models/command_match.cpp views/command_palette.cpp views/main_window.cpp views/main_window_menus.cpp
            controllers/open_runs.h views/command_palette.h views/main_window.h
    LINK ui_style ui_live ui_train ui_trials ui_timeline)
target_compile_definitions(lockstep_ui_shell PRIVATE LOCKSTEP_VERSION="${PROJECT_VERSION}")
