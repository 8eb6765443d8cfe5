# The train page, and how a run starts.
lockstep_library(ui_train
    SOURCES controllers/engine_service.cpp controllers/run_launcher.cpp
        models/batch_equation.cpp models/command_text.cpp models/device_tiles.cpp models/form_catalog.cpp
        models/problem_list.cpp models/spec_form.cpp controllers/form_answers.cpp
        views/dataset_card.cpp views/devices_card.cpp views/field_editor.cpp views/model_card.cpp views/sample_images.cpp
        views/train_page.cpp
    LINK ui_style QCustomPlotQt6::QCustomPlotQt6)
target_compile_definitions(lockstep_ui_train PRIVATE LOCKSTEP_VERSION="${PROJECT_VERSION}")
