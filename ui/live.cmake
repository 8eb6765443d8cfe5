# The live view of a run: what it holds, how it is followed, what is shown of it.
lockstep_library(ui_live
    SOURCES controllers/run_actions.cpp controllers/run_feed.cpp controllers/run_sight.cpp models/curve.cpp
        models/eta.cpp models/failure_text.cpp models/live_text.cpp models/plot_model.cpp models/run_record.cpp
        models/run_text.cpp views/device_tile.cpp views/failure_card.cpp views/live_controls.cpp views/live_page.cpp
        views/plot_input.cpp views/plot_marks.cpp views/plot_view.cpp views/run_buttons.cpp
    LINK ui_style Qt6::Widgets Qt6::PrintSupport Qt6::Svg QCustomPlotQt6::QCustomPlotQt6)
