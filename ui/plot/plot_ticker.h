#pragma once
#include <qcustomplot.h>

#include <QSet>
#include <cmath>
#include <functional>
#include <optional>

#include "ui/plot/plot_model.h"

namespace lockstep::ui {

using TickWords = std::function<QVector<QString>(const QVector<double>&)>;  // of all ticks of an axis at once
using KeepsTick = std::function<bool(double)>;

inline TickWords wordsOfEach(std::function<QString(double)> words) {
    return [words = std::move(words)](const QVector<double>& ticks) {
        QVector<QString> all;
        for (const double tick : ticks) all << words(tick);
        return all;
    };
}

// With four digits, or as many as tell them apart.
inline QVector<QString> tickNumbers(const QVector<double>& ticks) {
    constexpr int kMost = 12;
    for (int digits = 4;; ++digits) {
        const auto words = wordsOfEach([digits](double tick) { return QString::number(tick, 'g', digits); })(ticks);
        if (digits == kMost || QSet<QString>(words.begin(), words.end()).size() == words.size()) return words;
    }
}

// Steps of a tenth do not add up to a whole.
inline KeepsTick ticksWithin(const PlotRange& bounds) {
    return [bounds, slack = 1e-9 * bounds.size()](double tick) {
        return tick >= bounds.low - slack && tick <= bounds.high + slack;
    };
}

inline bool isWholeTick(double tick) {
    return std::abs(tick - std::round(tick)) < 1e-9 * std::max(1.0, std::abs(tick));
}

// Ticks where `Base` puts them, of which some may be left out; in words of our own.
template <class Base>
class WordedTicker : public Base {
public:
    explicit WordedTicker(TickWords words, KeepsTick keeps = {})
        : m_words(std::move(words)), m_keeps(std::move(keeps)) {}

protected:
    QVector<QString> createLabelVector(const QVector<double>& ticks, const QLocale&, QChar, int) override {
        return m_words(ticks);
    }

    QVector<double> createTickVector(double step, const QCPRange& range) override {
        auto ticks = Base::createTickVector(step, range);
        if (m_keeps) ticks.removeIf([&](double tick) { return !m_keeps(tick); });
        return ticks;
    }

private:
    TickWords m_words;
    KeepsTick m_keeps;
};

// Of an axis whose numbers are decimal logarithms: at powers of `base`, as many as there is room for, or where fewer
// than two of them are seen at 1, 2 and 5 times powers of ten.
class LogTicker : public QCPAxisTicker {
public:
    LogTicker(double base, std::function<QString(double)> words) : m_base(base), m_words(std::move(words)) {}

protected:
    double getTickStep(const QCPRange&) override { return 1; }
    int getSubTickCount(double) override { return 0; }

    QVector<double> createTickVector(double, const QCPRange& range) override {
        const double unit = std::log10(m_base), powers = range.size() / unit;
        if (powers < 2) return leads(range);
        const double step = unit * std::max(1.0, std::ceil(powers / kMost));
        QVector<double> ticks;
        for (double tick = std::ceil(range.lower / step) * step; tick <= range.upper; tick += step) ticks << tick;
        return ticks;
    }

    QVector<QString> createLabelVector(const QVector<double>& ticks, const QLocale&, QChar, int) override {
        return wordsOfEach([this](double tick) { return m_words(std::pow(10, tick)); })(ticks);
    }

private:
    static constexpr double kMost = 10;

    static QVector<double> leads(const QCPRange& range) {
        QVector<double> ticks;
        for (double decade = std::floor(range.lower); decade <= range.upper; ++decade)
            for (const double lead : {1.0, 2.0, 5.0}) ticks << decade + std::log10(lead);
        return ticks;
    }

    double m_base;
    std::function<QString(double)> m_words;
};

}  // namespace lockstep::ui
