#pragma once
#include <qcustomplot.h>

#include <functional>
#include <optional>

#include "ui/models/plot_model.h"

namespace lockstep::ui {

// Ticks where `Base` puts them, but none outside the bounds; in words of our own.
template <class Base>
class WordedTicker : public Base {
public:
    explicit WordedTicker(std::function<QString(double)> words, std::optional<PlotRange> bounds = std::nullopt)
        : m_words(std::move(words)), m_bounds(bounds) {}

protected:
    QString getTickLabel(double tick, const QLocale&, QChar, int) override { return m_words(tick); }

    QVector<double> createTickVector(double step, const QCPRange& range) override {
        auto ticks = Base::createTickVector(step, range);
        if (m_bounds) ticks.removeIf([&](double tick) { return !within(tick); });
        return ticks;
    }

private:
    // Steps of a tenth do not add up to a whole.
    bool within(double tick) const {
        const double slack = 1e-9 * m_bounds->size();
        return tick >= m_bounds->low - slack && tick <= m_bounds->high + slack;
    }

    std::function<QString(double)> m_words;
    std::optional<PlotRange> m_bounds;
};

}  // namespace lockstep::ui
