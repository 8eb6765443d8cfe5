#pragma once
#include <QImage>
#include <QPointF>
#include <QRgb>
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
    CurveRaster(int width, int height);  // pixels; all transparent

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

    // What lies between two such lines, of which `high` is the upper one in the picture.
    template <class Points, class ToPixel>
    void paintBand(const Points& low, const Points& high, ToPixel&& toPixel, QRgb color) {
        clear();
        m_lowTop.assign(m_top.size(), kNone);
        trace(low, toPixel, m_lowTop, m_bottom);
        m_highBottom.resize(m_top.size());
        trace(high, toPixel, m_top, m_highBottom);
        for (std::size_t column = 0; column < m_top.size(); ++column)
            if (m_lowTop[column] == kNone) m_top[column] = kNone;
        fillSpans(color);
    }

    QImage image() const;  // premultiplied

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

    void clear();
    int rowAt(double y) const;
    void reach(const QPointF& from, const QPointF& to, Rows& top, Rows& bottom) const;
    static void include(std::size_t column, int row, Rows& top, Rows& bottom);
    void extend(double x, double y);
    void closeGaps();
    void fill(QRgb color);       // what the columns reach to, and to their neighbours
    void fillSpans(QRgb color);  // the columns as they are
    void fillColumn(std::size_t column, int from, int to, QRgb color, bool isOpaque);

    int m_width, m_height;
    std::vector<QRgb> m_columns;  // premultiplied; column after column
    Rows m_top, m_bottom;         // of the curve in work
    Rows m_lowTop, m_highBottom;  // of a band's edges: the other side of each
};

}  // namespace lockstep::ui
