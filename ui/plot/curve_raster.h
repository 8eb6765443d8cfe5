#pragma once
#include <QImage>
#include <QRgb>
#include <cstdint>
#include <vector>

namespace lockstep::ui {

// Paints curves that have more points than the picture has columns: of each column the stretch between its smallest and
// its largest value, one pixel wide, without antialiasing. Works on columns that lie one after another in memory, which
// is several times as fast as a general painter's lines. One thread.
class CurveRaster {
public:
    CurveRaster(int width, int height);  // pixels; all transparent

    // One curve, over what was painted before: points in pixels from the top left corner, ascending in x; a column's
    // stretch reaches to its neighbours', so that the curve has no gaps. Opaque or not.
    template <class Points, class ToPixel>
    void paint(const Points& points, ToPixel&& toPixel, QRgb color) {
        m_top.assign(m_top.size(), kNone);
        for (const auto& point : points) {
            const auto pixel = toPixel(point);
            extend(pixel.x(), pixel.y());
        }
        fill(color);
    }

    QImage image() const;  // premultiplied

private:
    static constexpr int kNone = INT32_MAX;

    void extend(double x, double y);
    void closeGaps();
    void fill(QRgb color);

    int m_width, m_height;
    std::vector<QRgb> m_columns;       // premultiplied; column after column
    std::vector<int> m_top, m_bottom;  // of the curve in work, by column
};

}  // namespace lockstep::ui
