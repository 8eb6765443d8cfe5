#include "ui/compare/parallel_lines.h"

#include <QPainter>
#include <QThreadPool>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <utility>

#include "ui/plot/color_ramp.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr std::size_t kMostExact = 3'000;           // lines that a draft draws one by one
constexpr std::size_t kBins = 64, kMostBins = 512;  // of an axis, in a draft

struct LineInk {
    std::vector<QRgb> colors;  // by row
    double thickness = 1;      // device-independent pixels
};

// Few lines are strong, of many the better ones stand out.
LineInk inkOf(const ParallelPlot& plot, std::size_t count) {
    const Theme& theme = currentTheme();
    const double alpha = std::clamp(2.4 / std::pow(static_cast<double>(count) + 1, 0.3), 0.14, 0.95);
    LineInk ink{std::vector<QRgb>(plot.goodness.size()), count < 60 ? 1.8 : count < 400 ? 1.5 : 1.2};
    std::vector<QRgb> ramp;
    for (int i = 0; i < 256; ++i) {
        const double good = i / 255.0, stronger = std::min(1.0, alpha + 0.6 * good * good * good * good);
        QColor color = rampColor(good, theme);
        color.setAlphaF(static_cast<float>(stronger));
        ramp.push_back(color.rgba());
    }
    const bool hasObjective = plot.scene->table->objective.has_value();
    QColor failed = theme.bad, without = hasObjective ? theme.muted : theme.accent;
    for (QColor* each : {&failed, &without}) each->setAlphaF(static_cast<float>(hasObjective ? alpha * 0.6 : alpha));
    for (std::size_t row = 0; row < ink.colors.size(); ++row) {
        const float good = plot.goodness[row];
        const QColor& blank = hasObjective && plot.scene->table->trials[row].hasFailed() ? failed : without;
        ink.colors[row] = good < 0 ? blank.rgba() : ramp[static_cast<std::size_t>(std::lround(255 * good))];
    }
    return ink;
}

LineInk greyInk(const ParallelPlot& plot) {
    QColor grey = currentTheme().muted;
    const auto count = static_cast<double>(plot.drawOrder.size());
    grey.setAlphaF(static_cast<float>(std::clamp(1.5 / std::pow(count + 1, 0.35), 0.06, 0.4)));
    return {std::vector<QRgb>(plot.goodness.size(), grey.rgba()), 1.1};
}

// Bins of one end of a gap's lines. Where the other end has few places, as choices have, these are the finer.
class EndBins {
public:
    EndBins(double height, std::size_t others)
        : m_count(std::clamp(kBins * kBins / std::max<std::size_t>(others, 1), kBins, kMostBins)),
          m_scale(static_cast<float>(static_cast<double>(m_count) / height)) {}
    std::size_t count() const { return m_count; }
    std::size_t at(float y) const {
        return std::min(static_cast<std::size_t>(std::max(y, 0.0f) * m_scale), m_count - 1);
    }

private:
    std::size_t m_count;
    float m_scale;
};

// Which of many lines stand for others that go nearly the same way: the last, the best of them.
class LineBins {
public:
    using Line = ParallelRaster::Line;
    LineBins(double height, const std::vector<Line>& lines)
        : m_startsUsed(used(height, lines, &Line::from)),
          m_endsUsed(used(height, lines, &Line::to)),
          m_from(height, m_endsUsed),
          m_to(height, m_startsUsed),
          m_bins(m_from.count() * m_to.count()) {
        for (std::uint32_t i = 0; i < lines.size(); ++i) {
            Bin& bin = m_bins[at(lines[i])];
            ++bin.count;
            bin.line = i;
        }
    }
    // Whether lines that go side by side, from all of one end to all of the other, would be too few to close up.
    bool leavesGaps(std::size_t lines, int height) const {
        return std::cmp_less(lines, height) && std::min(m_startsUsed, m_endsUsed) >= kBins / 2;
    }
    // How many lines it stands for; 0: another one does.
    std::uint32_t count(std::uint32_t line, const Line& of) const {
        const Bin& bin = m_bins[at(of)];
        return bin.line == line ? bin.count : 0;
    }

private:
    struct Bin {
        std::uint32_t line = 0, count = 0;
    };
    static std::size_t used(double height, const std::vector<Line>& lines, float Line::*end) {
        const EndBins coarse(height, kBins);
        std::vector<bool> taken(coarse.count());
        for (const Line& line : lines) taken[coarse.at(line.*end)] = true;
        return static_cast<std::size_t>(std::ranges::count(taken, true));
    }
    std::size_t at(const Line& line) const { return m_from.at(line.from) * m_to.count() + m_to.at(line.to); }

    std::size_t m_startsUsed, m_endsUsed;  // of coarse bins
    EndBins m_from, m_to;
    std::vector<Bin> m_bins;
};

// As opaque as so many of it over each other.
QRgb repeated(QRgb color, std::uint32_t count) {
    const double through = std::pow(1 - qAlpha(color) / 255.0, static_cast<double>(count));
    return qRgba(qRed(color), qGreen(color), qBlue(color), static_cast<int>(std::lround(255 * (1 - through))));
}

// The lines of one picture, gap by gap.
class GapPainter {
public:
    GapPainter(ParallelRaster& raster, const ParallelPlot& plot, const std::vector<std::uint32_t>& rows,
               const LineInk& ink, double ratio, bool isDraft)
        : m_raster(raster), m_plot(plot), m_rows(rows), m_ink(ink), m_ratio(ratio), m_isDraft(isDraft) {}

    void paint(std::size_t gap) const {
        std::vector<ParallelRaster::Line> lines = linesOf(gap);
        if (m_isDraft && lines.size() > kMostExact) lines = binned(lines);
        m_raster.paint(column(gap), column(gap + 1), lines, m_ink.thickness * m_ratio);
    }

private:
    int column(std::size_t axis) const {
        return static_cast<int>(std::lround((m_plot.layout.x[axis] - m_plot.layout.plot.left()) * m_ratio));
    }

    // Pixels of the raster by place: one multiplication for numbers, a look-up for slots.
    class Heights {
    public:
        Heights(const ParallelLayout& layout, double ratio)
            : m_foot(static_cast<float>((layout.y(0) - layout.lines().top()) * ratio)),
              m_height(static_cast<float>(layout.plot.height() * ratio)) {
            for (const Absence absence : kAbsences)
                m_slots[static_cast<std::size_t>(absence)] =
                    static_cast<float>((layout.y(-static_cast<float>(absence)) - layout.lines().top()) * ratio);
        }
        float at(float place) const {
            return place >= 0 ? m_foot - place * m_height : m_slots[static_cast<int>(-place)];
        }

    private:
        float m_foot, m_height, m_slots[std::size(kAbsences) + 1] = {};
    };

    std::vector<ParallelRaster::Line> linesOf(std::size_t gap) const {
        const auto &left = m_plot.axes[gap].places(), &right = m_plot.axes[gap + 1].places();
        const auto& trials = m_plot.scene->table->trials;
        const Heights heights(m_plot.layout, m_ratio);
        std::vector<ParallelRaster::Line> lines;
        lines.reserve(m_rows.size());
        for (const auto row : m_rows)
            lines.push_back({heights.at(left[row]), heights.at(right[row]), m_ink.colors[row], trials[row].isCutShort});
        return lines;
    }

    std::vector<ParallelRaster::Line> binned(const std::vector<ParallelRaster::Line>& lines) const {
        const LineBins bins(m_raster.height(), lines);
        std::vector<ParallelRaster::Line> fewer;
        for (std::uint32_t i = 0; i < lines.size(); ++i) {
            const auto count = bins.count(i, lines[i]);
            if (count == 0) continue;
            fewer.push_back(lines[i]);
            if (count > 1) fewer.back().color = repeated(lines[i].color, count);
        }
        return bins.leavesGaps(fewer.size(), m_raster.height()) ? lines : fewer;
    }

    ParallelRaster& m_raster;
    const ParallelPlot& m_plot;
    const std::vector<std::uint32_t>& m_rows;
    const LineInk& m_ink;
    double m_ratio;
    bool m_isDraft;
};

// Does 0 … count - 1, with the help of threads of the pool that are free at once; waits for no other.
template <class Work>
void shareOut(std::size_t count, const Work& work) {
    struct State {
        std::atomic<std::size_t> next = 0, done = 0;
    };
    const auto state = std::make_shared<State>();
    const auto take = [state, count, &work] {
        for (std::size_t i = state->next++; i < count; i = state->next++) {  // `work` stands as long as there is any
            work(i);
            ++state->done;
            state->done.notify_one();
        }
    };
    QThreadPool& pool = *QThreadPool::globalInstance();
    for (std::size_t helper = 1; helper < std::min<std::size_t>(count, 4); ++helper)
        if (!pool.tryStart(take)) break;
    take();
    for (std::size_t done = state->done; done < count; done = state->done) state->done.wait(done);
}

void paintGaps(ParallelRaster& raster, const ParallelPlot& plot, const std::vector<std::uint32_t>& rows,
               const LineInk& ink, double ratio, bool isDraft) {
    if (rows.empty() || plot.axes.size() < 2) return;
    const GapPainter painter(raster, plot, rows, ink, ratio, isDraft);
    shareOut(plot.axes.size() - 1, [&](std::size_t gap) { painter.paint(gap); });
}

}  // namespace

// Equal ones are equally good; those without a value lie behind all others.
void rankTrials(ParallelPlot& plot) {
    const CompareTable& table = *plot.scene->table;
    plot.goodness.assign(table.trials.size(), -1);
    std::vector<std::size_t> valued;
    if (table.objective)
        for (std::size_t row = 0; row < table.trials.size(); ++row)
            if (table.axes[*table.objective].absences[row] == Absence::None) valued.push_back(row);
    std::ranges::sort(valued, [&](std::size_t a, std::size_t b) { return table.isBetter(b, a); });
    const double last = valued.size() > 1 ? static_cast<double>(valued.size() - 1) : 1;
    for (std::size_t first = 0, end = 0; first < valued.size(); first = end) {
        const auto value = [&](std::size_t at) { return table.axes[*table.objective].values[valued[at]]; };
        while (end < valued.size() && value(end) == value(first)) ++end;
        const double middle = static_cast<double>(first + end - 1) / 2;
        for (std::size_t at = first; at < end; ++at)
            plot.goodness[valued[at]] = valued.size() > 1 ? static_cast<float>(middle / last) : 1;
    }
    plot.drawOrder.clear();
    for (auto row = plot.scene->ranking.rbegin(); row != plot.scene->ranking.rend(); ++row)
        plot.drawOrder.push_back(static_cast<std::uint32_t>(*row));
    std::ranges::stable_partition(plot.drawOrder, [&](std::uint32_t row) { return plot.goodness[row] < 0; });
}

std::vector<std::uint32_t> coloured(const ParallelPlot& plot) {
    const auto& order = plot.drawOrder;
    const auto valued = std::ranges::count_if(plot.goodness, [](float good) { return good >= 0; });
    const bool isAll = plot.bestShare >= 1;
    const auto best = static_cast<std::ptrdiff_t>(std::ceil(plot.bestShare * static_cast<double>(valued) - 1e-9));
    std::vector<std::uint32_t> rows;
    rows.reserve(order.size());
    const auto first = isAll ? order.begin() : order.end() - std::min(best, std::ssize(order));
    std::copy_if(first, order.end(), std::back_inserter(rows),
                 [&](std::uint32_t row) { return plot.scene->passes[row]; });
    return rows;
}

bool ParallelLines::hasDraft(const ParallelPlot& plot, double ratio) {
    return static_cast<double>(plot.drawOrder.size()) * ratio * ratio > kMostExact;
}

void ParallelLines::forget() { m_ground.reset(); }

QImage ParallelLines::picture(const ParallelPlot& plot, double ratio, bool isDraft) {
    const QSizeF size = plot.layout.lines().size() * ratio;
    const auto rows = coloured(plot);
    const QRgb surface = currentTheme().surface.rgb();
    const bool isKept = m_ground && m_groundRatio == ratio && (isDraft || !m_isGroundDraft);
    if (!isKept && rows.size() < plot.drawOrder.size()) {
        m_ground.emplace(qCeil(size.width()), qCeil(size.height()), surface);
        m_groundRatio = ratio;
        m_isGroundDraft = isDraft && plot.drawOrder.size() > kMostExact;
        paintGaps(*m_ground, plot, plot.drawOrder, greyInk(plot), ratio, isDraft);
    }
    ParallelRaster raster = rows.size() < plot.drawOrder.size()
                                ? *m_ground
                                : ParallelRaster(qCeil(size.width()), qCeil(size.height()), surface);
    paintGaps(raster, plot, rows, inkOf(plot, rows.size()), ratio, isDraft);
    QImage image = raster.image();
    image.setDevicePixelRatio(ratio);
    return image;
}

void ParallelLines::paint(QPainter& painter, const ParallelPlot& plot) {
    const auto rows = coloured(plot);
    const auto draw = [&](const std::vector<std::uint32_t>& which, const LineInk& ink) {
        for (const auto row : which) {
            QPolygonF line;
            for (std::size_t i = 0; i < plot.axes.size(); ++i)
                line << QPointF(plot.layout.x[i], plot.layout.y(plot.axes[i].places()[row]));
            const bool isDashed = plot.scene->table->trials[row].isCutShort;
            painter.setPen(
                QPen(QColor::fromRgba(ink.colors[row]), ink.thickness, isDashed ? Qt::DashLine : Qt::SolidLine));
            painter.drawPolyline(line);
        }
    };
    painter.setBrush(Qt::NoBrush);
    if (rows.size() < plot.drawOrder.size()) draw(plot.drawOrder, greyInk(plot));
    draw(rows, inkOf(plot, rows.size()));
}

}  // namespace lockstep::ui
