#pragma once
#include <QImage>
#include <cstdint>
#include <optional>
#include <vector>

#include "ui/compare/compare_scene.h"
#include "ui/compare/parallel_axis.h"
#include "ui/compare/parallel_layout.h"
#include "ui/plot/parallel_raster.h"

class QPainter;

namespace lockstep::ui {

// What one picture of parallel coordinates shows. A plain value.
struct ParallelPlot {
    SharedScene scene = nullptr;
    std::vector<ParallelAxis> axes = {};  // that are shown, from left to right
    ParallelLayout layout = {};
    double bestShare = 1;  // of the trials that were ranked, the best so many stay coloured

    // How good the row is among all by the objective, 0 … 1; below 0: it has no value.
    std::vector<float> goodness = {};
    std::vector<std::uint32_t> drawOrder = {};  // rows, those behind others first: the best last
};
// Fills in what follows from the scene's table.
void rankTrials(ParallelPlot& plot);
// Rows that pass and belong to the best share, in their order.
std::vector<std::uint32_t> coloured(const ParallelPlot& plot);

// The lines of all trials: those that are not coloured as a grey ground, which is kept from picture to picture.
class ParallelLines {
public:
    void forget();  // the plot is another one but for what its scene lets pass

    // Of plot.layout.lines(), opaque. A draft of thousands of trials draws those as one that go nearly the same way
    // between two axes, so that it keeps up with a pointer.
    QImage picture(const ParallelPlot& plot, double ratio, bool isDraft);
    static void paint(QPainter& painter, const ParallelPlot& plot);  // all of them as lines, for vector graphics

    static bool hasDraft(const ParallelPlot& plot, double ratio);  // it would take too long at each move of a pointer

private:
    std::optional<ParallelRaster> m_ground;
    double m_groundRatio = 0;
    bool m_isGroundDraft = false;
};

}  // namespace lockstep::ui
