#pragma once
#include <QImage>
#include <QPointF>
#include <QRgb>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace lockstep::ui {

// Paints curves that have more points than the picture has columns: of each column the stretch between its smallest and
// its largest value, one pixel wide, without antialiasing. Works on columns that lie one after another in memory, which
// is several times as fast as a general painter's lines. One thread.
class CurveRaster {
public:
    CurveRaster() = default;
    CurveRaster(int width, int height) { reset(width, height); }
    void reset(int width, int height);  // pixels; all transparent, and its memory used again

    // One curve, over what was painted before: points in pixels from the top left corner, ascending in x; a column's
    // stretch reaches to its neighbours', so that the curve has no gaps. Opaque or not.
    template <class Points, class ToPixel>
    void paint(const Points& points, ToPixel&& toPixel, QRgb color) {
        clear();
        for (const auto& point : points) {
            const auto pixel = toPixel(point);
            extend(pixel.x(), pixel.y());
        }
        closeGaps();
        fill(color);
    }

    // The same of points that may be many columns apart: straight between two of them.
    template <class Points, class ToPixel>
    void paintLine(const Points& points, ToPixel&& toPixel, QRgb color) {
        clear();
        trace(points, toPixel, m_top, m_bottom);
        fill(color);
    }

    // What lies between two lines, of which `high` is the upper one in the picture.
    template <class Points, class ToPixel>
    void paintBand(const Points& low, const Points& high, ToPixel&& toPixel, QRgb color) {
        clear();
        m_lowTop.assign(m_top.size(), kNone);
        m_highBottom.resize(m_top.size());
        trace(low, toPixel, m_lowTop, m_bottom);
        trace(high, toPixel, m_top, m_highBottom);
        for (std::size_t column = 0; column < m_top.size(); ++column)
            if (m_lowTop[column] == kNone) m_top[column] = kNone;
        fillSpans(color);
    }

    const QImage& image(double pixelRatio = 1);  // premultiplied; good until the next call of anything

private:
    static constexpr int kNone = INT32_MAX;

    using Rows = std::vector<int>;  // by column; kNone: none

    template <class Points, class ToPixel>
    void trace(const Points& points, ToPixel&& toPixel, Rows& top, Rows& bottom) {
        QPointF last;
        bool isFirst = true;
        for (const auto& point : points) {
            const QPointF pixel = toPixel(point);
            if (!std::isfinite(pixel.x()) || !std::isfinite(pixel.y())) continue;
            reach(std::exchange(isFirst, false) ? pixel : last, pixel, top, bottom);
            last = pixel;
        }
    }

    void clear() { m_top.assign(m_top.size(), kNone); }
    // Beyond the picture: one row beyond it. Truncation is quick, and floors what is not negative.
    int rowAt(double y) const { return static_cast<int>(std::clamp(y, -1.0, static_cast<double>(m_height)) + 1) - 1; }
    static void include(std::size_t column, int row, Rows& top, Rows& bottom) {
        const bool isFirst = top[column] == kNone;
        top[column] = isFirst ? row : std::min(top[column], row);
        bottom[column] = isFirst ? row : std::max(bottom[column], row);
    }
    void extend(double x, double y) {
        if (x >= 0 && x < m_width && std::isfinite(y)) include(static_cast<std::size_t>(x), rowAt(y), m_top, m_bottom);
    }
    // Column by column, from where the line enters it to where it leaves.
    void reach(const QPointF& from, const QPointF& to, Rows& top, Rows& bottom) const;
    void closeGaps();
    void fill(QRgb color);       // what the columns reach to, and to their neighbours
    void fillSpans(QRgb color);  // the columns as they are
    void fillColumn(std::size_t column, int from, int to, QRgb color, bool isOpaque);

    int m_width = 0, m_height = 0;
    std::vector<QRgb> m_columns;  // premultiplied; column after column
    QImage m_picture;
    Rows m_top, m_bottom;         // of the curve in work
    Rows m_lowTop, m_highBottom;  // of a band's edges: the other side of each
};

}  // namespace lockstep::ui
