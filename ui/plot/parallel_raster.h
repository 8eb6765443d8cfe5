#pragma once
#include <QImage>
#include <QRgb>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::ui {

// Paints many straight lines between upright axes, as parallel coordinates have them: antialiased, each over those
// before. A line crosses every column of its gap once, with the same slope, so what it covers of a column is one of few
// profiles, which are made once; columns lie one after another in memory. A tenth of the time of a general painter.
class ParallelRaster {
public:
    struct Line {
        float from = 0, to = 0;  // pixels from the top: at the gap's left and right end
        QRgb color = 0;          // not premultiplied
        bool isDashed = false;
    };

    ParallelRaster(int width, int height, QRgb ground);  // pixels; the ground is opaque

    // Lines `thickness` pixels thick over the columns [left, right). Other threads may paint other columns meanwhile.
    void paint(int left, int right, std::span<const Line> lines, double thickness);

    int width() const { return m_width; }
    int height() const { return m_height; }
    QImage image() const;  // opaque

private:
    class Profiles;

    QRgb* column(int at) { return m_columns.data() + static_cast<std::size_t>(at) * m_stride; }
    void paintLine(int left, int right, const Line& line, Profiles& profiles);

    int m_width, m_height;
    std::size_t m_stride;         // of a column with room above and below, where lines end that are thick and steep
    std::vector<QRgb> m_columns;  // opaque
};

}  // namespace lockstep::ui
