#include "ui/train/rate_finding.h"

#include <QCoreApplication>
#include <cmath>

namespace lockstep::ui {

namespace {

struct RateFindingText {
    Q_DECLARE_TR_FUNCTIONS(RateFindingText)
};

std::optional<double> numberIn(const QJsonValue& value) {
    return value.isDouble() ? std::optional(value.toDouble()) : std::nullopt;
}

}  // namespace

QString learningRateText(double rate) { return QString::number(rate, 'g', 2).replace("e-0", "e-").replace("e+0", "e"); }

void RateFinding::take(const QJsonObject& line) {
    if (line["event"] == "rate_tested") return takeEvent(line);
    if (!line.contains("suggested_lr")) return;
    m_suggested = numberIn(line["suggested_lr"]);
    m_steepestAt = numberIn(line["steepest_at"]);
    m_lowestAt = numberIn(line["lowest_at"]);
    m_blewUpAt = numberIn(line["blew_up_at"]);
}

void RateFinding::takeEvent(const QJsonObject& event) {
    m_tested = event["update"].toInteger();
    m_updates = event["updates"].toInteger();
    const double rate = event["learning_rate"].toDouble();
    if (event["blew_up"].toBool()) m_blewUpAt = rate;
    else m_points.push_back({rate, event["loss"].toDouble(NAN), event["smoothed_loss"].toDouble(NAN)});
}

bool RateFinding::isScaled() const {
    return m_suggested && m_steepestAt && std::abs(*m_suggested - *m_steepestAt) > 1e-6 * *m_steepestAt;
}

QString RateFinding::text() const {
    if (!m_suggested || !m_steepestAt) return {};
    QStringList sentences{RateFindingText::tr("The loss falls most steeply at a rate of %1: a good one to begin with.")
                              .arg(learningRateText(*m_steepestAt))};
    if (isScaled())
        sentences << RateFindingText::tr("The form's rule makes that of %1, which its field is to have.")
                         .arg(learningRateText(*m_suggested));
    if (m_lowestAt && m_blewUpAt)
        sentences << RateFindingText::tr("It is lowest at %1, and blows up at %2.")
                         .arg(learningRateText(*m_lowestAt), learningRateText(*m_blewUpAt));
    else if (m_lowestAt)
        sentences
            << RateFindingText::tr("It is lowest at %1, and does not blow up.").arg(learningRateText(*m_lowestAt));
    return sentences.join(' ');
}

}  // namespace lockstep::ui
