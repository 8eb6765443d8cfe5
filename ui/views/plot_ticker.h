#pragma once
#include <qcustomplot.h>

#include <functional>

namespace lockstep::ui {

// Ticks where `Base` puts them, in words of our own.
template <class Base>
class WordedTicker : public Base {
public:
    explicit WordedTicker(std::function<QString(double)> words) : m_words(std::move(words)) {}

protected:
    QString getTickLabel(double tick, const QLocale&, QChar, int) override { return m_words(tick); }

private:
    std::function<QString(double)> m_words;
};

}  // namespace lockstep::ui
