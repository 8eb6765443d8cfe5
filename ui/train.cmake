# The train page, and how a run starts.
find_package(LibArchive REQUIRED)
lockstep_library(ui_train
    SOURCES controllers/archive_unpacker.cpp controllers/engine_service.cpp controllers/form_answers.cpp
        controllers/run_launcher.cpp
        models/archive_name.cpp models/batch_equation.cpp models/command_text.cpp models/dataset_text.cpp models/field_places.cpp
        models/device_tiles.cpp models/form_catalog.cpp models/layer_table.cpp models/problem_list.cpp
        models/spec_file.cpp models/spec_form.cpp
        views/dataset_card.cpp views/devices_card.cpp views/field_editor.cpp views/model_card.cpp
        views/sample_images.cpp views/train_page.cpp views/train_page_layout.cpp
    LINK ui_style QCustomPlotQt6::QCustomPlotQt6 LibArchive::LibArchive)
target_compile_definitions(lockstep_ui_train PRIVATE LOCKSTEP_VERSION="${PROJECT_VERSION}")
