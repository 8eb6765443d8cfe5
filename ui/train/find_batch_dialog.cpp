#include "ui/train/find_batch_dialog.h"

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QSpinBox>
#include <cmath>

#include "ui/plot/run_text.h"
#include "ui/train/dataset_text.h"

namespace lockstep::ui {

namespace {

PlotView::Look batchLook() {
    PlotView::Look look{FindBatchDialog::tr("Samples/s over batch"),
                        FindBatchDialog::tr("Waiting for the first batch …"),
                        &runCount,
                        &runCount,
                        {}};
    look.along = [](double batch) { return FindBatchDialog::tr("batch %1").arg(runCount(batch)); };
    look.alongTick = &runCount;
    look.base = 2;
    look.fromZero = true;
    return look;
}

}  // namespace

FindBatchDialog::FindBatchDialog(Source source, QStringList fewer, QWidget* parent)
    : FindDialog(
          std::move(source),
          {tr("Find a batch size"),
           tr("How fast training is with a batch that doubles, on made-up samples of the data's shape; which is the "
              "largest that fits is planned. All devices together take a batch."),
           batchLook()},
          parent),
      m_fewer(std::move(fewer)) {
    setObjectName("findBatchDialog");
    setHeading(tr("%1 on %2, %3").arg(textOf("model"), textOf("dataset"), textOf("devices")));
    m_seconds = new QDoubleSpinBox;
    m_seconds->setObjectName("findSeconds");
    m_seconds->setRange(0, 60);
    m_seconds->setDecimals(1);
    m_seconds->setValue(1);
    m_doublings = new QSpinBox;
    m_doublings->setObjectName("findDoublings");
    m_doublings->setRange(0, 30);
    m_doublings->setValue(8);
    m_alsoFewer = new QCheckBox(tr("Also on fewer devices"));
    m_alsoFewer->setObjectName("findFewer");
    m_alsoFewer->setToolTip(tr("Measures the same on %1, too.").arg(m_fewer.join(", ")));
    m_alsoFewer->setAccessibleDescription(m_alsoFewer->toolTip());
    m_alsoFewer->setVisible(!m_fewer.isEmpty());
    addField(tr("Seconds for each"), m_seconds, tr("How long each batch is timed, at least one update.\nDefault: 1"));
    addField(tr("Doublings"), m_doublings,
             tr("At most so many beyond the first batch; it ends before, once two of them bring little.\nDefault: 8"));
    fields().addWidget(m_alsoFewer);
    fields().addStretch(1);
    FindBatchDialog::begin();
}

FindQuestion FindBatchDialog::questionOf(const QString& devices) const {
    QJsonObject spec = this->spec();
    if (textOf("devices") != devices) {
        spec["devices"] = devices;
        spec.remove("shares");  // they are of as many devices as the form has
    }
    return {"find-batch",
            spec,
            {"--seconds", QString::number(m_seconds->value()), "--doublings", QString::number(m_doublings->value())}};
}

std::vector<FindQuestion> FindBatchDialog::questions() const {
    std::vector<FindQuestion> all;
    for (const QString& each : deviceTexts()) all.push_back(questionOf(each));
    return all;
}

QStringList FindBatchDialog::deviceTexts() const {
    const QStringList own{textOf("devices")};
    return m_alsoFewer->isChecked() ? own + m_fewer : own;
}

QString FindBatchDialog::nameOf(std::size_t question) const { return m_measured[question].devices; }

void FindBatchDialog::begin() {
    m_measured.clear();
    m_newest = 0;
    std::vector<PlotSeries> series;
    for (const QString& each : deviceTexts()) {
        const auto number = static_cast<std::int64_t>(m_measured.size()) + 1;
        m_measured.push_back({each});
        PlotSeries added{m_measured.back().devices, m_measured.back().curve};
        added.color = number;
        added.marker = seriesMarker(number);
        series.push_back(std::move(added));
    }
    plot().setSeries(std::move(series));
}

void FindBatchDialog::take(std::size_t question, const QJsonObject& line) {
    m_newest = question;
    m_measured[question].found.take(line);
}

void FindBatchDialog::draw() {
    for (const auto& [devices, found, curve] : m_measured) {
        for (std::size_t i = curve->size(); i < found.speeds().size(); ++i)
            curve->append(std::log10(static_cast<double>(found.speeds()[i].batch)), 0,
                          found.speeds()[i].samplesPerSecond);
    }
    std::vector<PlotMoment> marks;
    const auto mark = [&marks](qint64 batch, const QString& words, PlotMoment::Tone tone) {
        if (batch > 0) marks.push_back({std::log10(static_cast<double>(batch)), 0, words.arg(countText(batch)), tone});
    };
    const BatchFinding& own = m_measured.front().found;
    mark(own.suggested(), tr("suggested: %1"), PlotMoment::Tone::Good);
    mark(own.largest(), tr("largest that fits: %1"), PlotMoment::Tone::Notable);
    plot().setMoments(std::move(marks));
}

QString FindBatchDialog::resultText() const {
    const BatchFinding& own = m_measured.front().found;
    QStringList lines{own.suggested() > 0 ? own.text() : own.largestText()};
    for (std::size_t i = 1; i < m_measured.size(); ++i) lines << m_measured[i].found.textOf(m_measured[i].devices);
    lines.removeAll(QString());
    return lines.join('\n');
}

FindDialog::Told FindBatchDialog::told() const {
    const auto& [devices, newest, curve] = m_measured[m_newest];
    const BatchFinding& own = m_measured.front().found;
    Told now{.done = std::ssize(newest.speeds()), .of = newest.most(), .result = resultText()};
    now.progress = now.of == 0
                       ? tr("The data is opened and the memory planned …")
                       : tr("%1: %2 of at most %3 batches").arg(devices, countText(now.done), countText(now.of));
    if (own.suggested() == 0) return now;
    now.suggestion = countText(own.suggested());
    now.value = own.suggested();
    return now;
}

}  // namespace lockstep::ui
