#include "ui/train/find_rate_dialog.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QRegularExpressionValidator>
#include <QSpinBox>
#include <cmath>

#include "ui/train/dataset_text.h"

namespace lockstep::ui {

namespace {

constexpr int kRateWidth = 90;
constexpr double kAboveSmoothed = 1.3;  // of the highest smoothed loss: what single updates have beyond is not drawn

QLineEdit* rateLine(const QString& name, const QString& usual) {
    static const QRegularExpression number("[0-9.eE+-]*");
    auto* line = new QLineEdit(usual);
    line->setObjectName(name);
    line->setValidator(new QRegularExpressionValidator(number, line));
    line->setAlignment(Qt::AlignRight);
    line->setFixedWidth(kRateWidth);
    return line;
}

PlotView::Look rateLook() {
    PlotView::Look look{FindRateDialog::tr("Loss over learning rate"),
                        FindRateDialog::tr("Waiting for the first update …"),
                        {},
                        {},
                        {}};
    look.along = [](double rate) { return FindRateDialog::tr("rate %1").arg(learningRateText(rate)); };
    look.alongTick = &learningRateText;
    return look;
}

}  // namespace

FindRateDialog::FindRateDialog(Source source, QWidget* parent)
    : FindDialog(
          std::move(source),
          {tr("Find a learning rate"),
           tr("One short run whose rate grows from update to update; nothing of it is kept. Where its loss falls most "
              "steeply, a rate is good to begin with."),
           rateLook()},
          parent) {
    setObjectName("findRateDialog");
    setHeading(
        tr("%1 on %2, batch %3, %4").arg(textOf("model"), textOf("dataset"), textOf("batch"), textOf("devices")));
    m_from = rateLine("findFrom", "1e-6");
    m_to = rateLine("findTo", "10");
    m_updates = new QSpinBox;
    m_updates->setObjectName("findUpdates");
    m_updates->setRange(20, 100'000);
    m_updates->setSingleStep(50);
    m_updates->setValue(100);
    addField(tr("From"), m_from, tr("The first rate.\nDefault: 1e-6"));
    addField(tr("To"), m_to, tr("The last rate.\nDefault: 10"));
    addField(tr("Updates"), m_updates,
             tr("From the one to the other: more of them show a smoother curve.\nDefault: 100"));
    fields().addStretch(1);
    FindRateDialog::begin();
}

std::vector<FindQuestion> FindRateDialog::questions() const {
    return {{"find-rate",
             spec(),
             {"--from", m_from->text(), "--to", m_to->text(), "--steps", QString::number(m_updates->value())}}};
}

// All rates have their place from the beginning.
PlotView::Look FindRateDialog::lookNow() const {
    PlotView::Look look = rateLook();
    const double from = m_from->text().toDouble(), to = m_to->text().toDouble();
    if (m_highest > 0) look.bounds = PlotRange{0, m_highest * kAboveSmoothed};
    if (from > 0 && to > from && std::isfinite(to)) look.span = PlotRange{std::log10(from), std::log10(to)};
    return look;
}

void FindRateDialog::begin() {
    m_found = {};
    m_highest = 0;
    m_losses = std::make_shared<Curve>();
    m_smoothed = std::make_shared<Curve>();
    PlotSeries losses{tr("Loss of each update"), m_losses}, smoothed{tr("Smoothed"), m_smoothed};
    losses.color = smoothed.color = 1;
    losses.faint = true;
    plot().setLook(lookNow());
    plot().setSeries({losses, smoothed});
}

void FindRateDialog::take(std::size_t, const QJsonObject& line) { m_found.take(line); }

void FindRateDialog::draw() {
    const auto& points = m_found.points();
    bool isHigher = false;
    for (std::size_t i = m_losses->size(); i < points.size(); ++i) {
        const double x = std::log10(points[i].rate);
        m_losses->append(x, 0, points[i].loss);
        m_smoothed->append(x, 0, points[i].smoothed);
        if (points[i].smoothed > m_highest) {
            m_highest = points[i].smoothed;
            isHigher = true;
        }
    }
    if (isHigher) plot().setLook(lookNow());
    std::vector<PlotMoment> marks;
    const auto mark = [&marks](const std::optional<double>& rate, const QString& words, PlotMoment::Tone tone) {
        if (rate) marks.push_back({std::log10(*rate), 0, words.arg(learningRateText(*rate)), tone});
    };
    mark(m_found.steepestAt(), m_found.isScaled() ? tr("falls most steeply at %1") : tr("suggested: %1"),
         PlotMoment::Tone::Good);
    mark(m_found.blewUpAt(), tr("blows up at %1"), PlotMoment::Tone::Bad);
    plot().setMoments(std::move(marks));
}

FindDialog::Told FindRateDialog::told() const {
    Told now{.done = m_found.tested(), .of = m_found.updates(), .result = m_found.text()};
    now.progress = now.of == 0 ? tr("The data is opened and the program compiled …")
                               : tr("%1 of %2 updates").arg(countText(now.done), countText(now.of));
    if (!m_found.suggested()) return now;
    now.suggestion = learningRateText(*m_found.suggested());
    now.value = now.suggestion.toDouble();
    return now;
}

}  // namespace lockstep::ui
