# Plots of curves, on any page.
lockstep_library(ui_plot
    SOURCES models/curve.cpp models/plot_model.cpp models/run_text.cpp
        views/curve_raster.cpp views/dense_curves.cpp views/plot_controls.cpp views/plot_graphs.cpp views/plot_lines.cpp views/plot_input.cpp views/plot_legend.cpp views/plot_marks.cpp
        views/plot_view.cpp
    LINK ui_style Qt6::Widgets Qt6::PrintSupport Qt6::Svg QCustomPlotQt6::QCustomPlotQt6)
