lockstep_library(ui_trials
    SOURCES models/compared_curves.cpp models/seed_groups.cpp models/spec_diff.cpp models/trial_actions.cpp models/trial_columns.cpp
            models/trial_edit.cpp models/trial_filter_proxy.cpp models/trial_filter_words.cpp
            models/trial_table_model.cpp models/trials_situation.cpp
            controllers/curve_reader.cpp controllers/history_desk.cpp
            views/compare_pane.cpp views/trial_cell_delegate.cpp views/trials_page.cpp
            views/trials_page_actions.cpp views/trials_page_bar.cpp views/trials_table.cpp
            models/spec_diff.h models/trial_filter_proxy.h models/trial_table_model.h
            controllers/history_desk.h
            views/compare_pane.h views/trials_page.h views/trials_table.h
    LINK ui_train ui_plot core spec history session_client nlohmann_json::nlohmann_json)
