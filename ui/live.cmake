# The live view of a run: what it holds, how it is followed, what is shown of it.
lockstep_library(ui_live
    SOURCES controllers/run_actions.cpp controllers/run_feed.cpp controllers/run_sight.cpp
        models/eta.cpp models/failure_text.cpp models/live_text.cpp models/perplexity_curve.cpp models/run_record.cpp
        views/device_tile.cpp views/failure_card.cpp views/live_page.cpp views/run_buttons.cpp views/text_card.cpp
    LINK ui_plot)
