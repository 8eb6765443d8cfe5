#include "ui/compare/target_list.h"

#include <QCoreApplication>
#include <QPainter>
#include <QSignalBlocker>
#include <algorithm>

#include "ui/plot/plot_marks.h"
#include "ui/plot/plot_view.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

struct TargetListText {
    Q_DECLARE_TR_FUNCTIONS(TargetListText)
};

constexpr int kTrialRole = Qt::UserRole;

TargetRun runOf(const TrialProgress& progress, const ComparedTrial& trial, double target, Better better,
                PlotAxis axis) {
    const double perEpoch = progress.worlds.stepsPerEpoch();
    TargetRun run{.reached = std::nullopt, .isOver = isFinal(trial.state)};
    if (!progress.evaluations.empty()) run.budget = amountAt(progress.evaluations.back(), axis, perEpoch);
    if (const auto* reached = firstReaching(progress.evaluations, target, better))
        run.reached = amountAt(*reached, axis, perEpoch);
    return run;
}

QIcon markOf(int look) {
    constexpr int kSize = 16;
    QPixmap picture(kSize, kSize);
    picture.fill(Qt::transparent);
    QPainter painter(&picture);
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor color = look >= 0 ? seriesColor(look, currentTheme()) : currentTheme().muted;
    painter.setPen(QPen(color, 1.5));
    painter.setBrush(look >= 0 ? QBrush(color) : QBrush(Qt::NoBrush));
    painter.drawPath(markerPath(look >= 0 ? seriesMarker(look) : Marker::Circle, {kSize / 2.0, kSize / 2.0}, 4));
    return picture;
}

}  // namespace

std::vector<RankedTarget> rankedByTarget(const CompareScene& scene, const std::vector<CurveGroup>& groups,
                                         const ProgressOfTrials& progress, PlotAxis axis) {
    std::vector<RankedTarget> ranking;
    const CompareTable& table = *scene.table;
    if (!scene.target || !table.objective) return ranking;
    for (const CurveGroup& group : groups) {
        std::vector<TargetRun> runs;
        for (const std::size_t row : group.rows) {
            const auto known = progress.find(table.trials[row].trial);
            const bool hasBegun = known != progress.end() && !known->second->evaluations.empty();
            if (!hasBegun && !table.trials[row].hasFailed()) continue;
            runs.push_back(runOf(hasBegun ? *known->second : TrialProgress(), table.trials[row], *scene.target,
                                 table.axes[*table.objective].better, axis));
        }
        if (runs.empty()) continue;
        ranking.push_back({.trial = table.trials[group.lead].trial,
                           .name = group.name,
                           .seeds = static_cast<int>(runs.size()),
                           .look = group.isColoured() ? group.look() : -1,
                           .summary = summaryOf(runs)});
    }
    std::ranges::stable_sort(ranking, isEarlier, &RankedTarget::summary);
    return ranking;
}

QString targetText(const RankedTarget& ranked, PlotAxis axis) {
    const TargetSummary& summary = ranked.summary;
    const QString share = TargetListText::tr(" (%1 of %2)").arg(summary.reached).arg(ranked.seeds);
    const QString some = summary.reached > 0 && summary.reached < ranked.seeds ? share : QString();
    if (summary.median) return TargetListText::tr("after %1").arg(PlotView::axisText(axis, *summary.median)) + some;
    if (summary.unreached == 0) return TargetListText::tr("not yet");
    if (summary.budget <= 0) return TargetListText::tr("not evaluated");
    return TargetListText::tr("> budget (%1)").arg(PlotView::axisText(axis, summary.budget)) + some;
}

TargetList::TargetList(QWidget* parent) : QListWidget(parent) {
    setObjectName("targetList");
    setAccessibleName(tr("How long each took to the target"));
    setFrameShape(QFrame::NoFrame);
    setMouseTracking(true);
    setUniformItemSizes(true);
    setTextElideMode(Qt::ElideRight);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    connect(this, &QListWidget::itemEntered, this,
            [this](QListWidgetItem* item) { emit pointed(item->data(kTrialRole).toLongLong()); });
    connect(this, &QListWidget::currentItemChanged, this, [this](QListWidgetItem* item) {
        if (item && hasFocus()) emit pointed(item->data(kTrialRole).toLongLong());
    });
    connect(this, &QListWidget::itemClicked, this,
            [this](QListWidgetItem* item) { emit picked(item->data(kTrialRole).toLongLong()); });
    connect(this, &QListWidget::itemActivated, this,
            [this](QListWidgetItem* item) { emit opened(item->data(kTrialRole).toLongLong()); });
}

void TargetList::setRanking(const std::vector<RankedTarget>& ranking, PlotAxis axis) {
    const QSignalBlocker quiet(this);
    clear();
    m_trials.clear();
    m_lit = -1;
    for (const RankedTarget& each : ranking) {
        const QString words = targetText(each, axis);
        auto* item = new QListWidgetItem(markOf(each.look), words + QStringLiteral("\n") + each.name);
        item->setData(kTrialRole, static_cast<qlonglong>(each.trial));
        item->setToolTip(each.name + QStringLiteral("\n") + words);
        addItem(item);
        m_trials.push_back(each.trial);
    }
}

void TargetList::light(std::optional<std::int64_t> trial) {
    if (QListWidgetItem* before = item(m_lit)) before->setBackground(QBrush());
    const auto found = trial ? std::ranges::find(m_trials, *trial) : m_trials.end();
    m_lit = found == m_trials.end() ? -1 : static_cast<int>(found - m_trials.begin());
    if (QListWidgetItem* now = item(m_lit)) now->setBackground(currentTheme().raised);
}

void TargetList::leaveEvent(QEvent* event) {
    QListWidget::leaveEvent(event);
    emit pointed(std::nullopt);
}

}  // namespace lockstep::ui
