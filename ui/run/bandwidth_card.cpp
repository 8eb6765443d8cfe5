#include "ui/run/bandwidth_card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <utility>

#include "ui/plot/run_text.h"
#include "ui/run/bandwidth_gauge.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

// What was seen, with the numbers of now.
Problem verdictNow(const Bandwidths& now, BindingChanged seen) {
    seen.loading = now.loading, seen.training = now.training, seen.reached = now.reached;
    return verdictOf(seen,
                     [](double rate) { return BandwidthCard::tr("%1 samples/s").arg(runCount(rate)).toStdString(); });
}

}  // namespace

BandwidthCard::BandwidthCard(Explain explain, QWidget* parent) : QFrame(parent), m_explain(std::move(explain)) {
    setProperty("card", true);
    setObjectName("bandwidths");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(space::kMedium, space::kMedium, space::kMedium, space::kMedium);
    column->setSpacing(space::kSmall);
    auto* head = new QHBoxLayout;
    auto* title = new QLabel(tr("Two bandwidths"));
    title->setProperty("role", "heading");
    title->setToolTip(
        tr("How many samples per second loading could make if nothing waited for it, and training could take if it\n"
           "never waited, over the latest steps. The needle is what the run reaches."));
    m_reached = new QLabel;
    head->addWidget(title);
    head->addStretch();
    head->addWidget(m_reached);
    column->addLayout(head);
    m_gauge = new BandwidthGauge;
    m_gauge->setToolTip(title->toolTip());
    column->addWidget(m_gauge);
    m_verdict = new QLabel;
    m_verdict->setObjectName("bandwidthVerdict");
    m_remedy = new QLabel;
    m_remedy->setProperty("role", "muted");
    for (QLabel* each : {m_verdict, m_remedy}) {
        each->setWordWrap(true);
        each->setTextInteractionFlags(Qt::TextSelectableByMouse);
        column->addWidget(each);
    }
}

void BandwidthCard::show(const Bandwidths& now, const std::optional<BindingChanged>& seen) {
    setVisible(now.loading > 0 && now.training > 0);
    m_gauge->setBandwidths(now);
    m_reached->setText(tr("%1/s reached").arg(runCount(now.reached)));
    const Explanation words = seen ? m_explain(verdictNow(now, *seen)) : Explanation();
    m_verdict->setText(seen ? words.what : tr("Too early to say which of them binds."));
    m_remedy->setText(words.remedy);
    m_remedy->setVisible(!words.remedy.isEmpty());
}

}  // namespace lockstep::ui
