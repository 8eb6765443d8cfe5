#include "ui/trials/compare_pane.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/history/compared_curves.h"
#include "ui/plot/plot_controls.h"
#include "ui/plot/plot_view.h"
#include "ui/plot/run_text.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

QLabel* labelled(const QString& text, const char* role) {
    auto* label = new QLabel(text);
    label->setProperty("role", role);
    label->setWordWrap(true);
    return label;
}

PlotView::Look lookOf(const ComparedMetric& metric, const QString& empty) {
    const auto percentTick = [](double value) { return QString::number(100 * value, 'g', 4) + " %"; };
    if (metric.percent)
        return {metric.name, empty, [](double value) { return runPercent(value); }, percentTick, PlotRange{0, 1}};
    if (metric.key == "samples_per_second") return {metric.name, empty, &runCount, &runCount, {}};
    return {metric.name, empty, {}, {}, {}};
}

QStringList namesOf(const TrialCurves& curves) {
    QStringList names;
    for (const auto& curve : curves.trials) names << QString("#%1").arg(curve.trial);
    return names;
}

}  // namespace

ComparePane::ComparePane(const TrialSelection* selection, Explain explain, QWidget* parent)
    : QWidget(parent), m_selection(*selection), m_explain(std::move(explain)) {
    connect(selection, &TrialSelection::pinnedChanged, this, &ComparePane::draw);
    auto* sides = new QSplitter(Qt::Horizontal);
    sides->addWidget(buildPlotSide());
    sides->addWidget(buildFactSide());
    sides->setStretchFactor(0, 3);
    sides->setStretchFactor(1, 2);
    sides->setChildrenCollapsible(false);
    sides->setSizes({700, 500});
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(sides);
    setTrials({});
}

QWidget* ComparePane::buildPlotSide() {
    auto* side = new QWidget;
    m_metric = new QComboBox;
    m_metric->setAccessibleName(tr("Quantity of the curves"));
    for (const auto& metric : comparedMetrics()) m_metric->addItem(metric.name, QString::fromStdString(metric.key));
    m_bySeeds = new QCheckBox(tr("Mean ± deviation over seeds"));
    m_bySeeds->setObjectName("bySeeds");
    m_bySeeds->setToolTip(
        tr("Trials that differ in their seed alone become one curve: their mean, and one sample standard"
           " deviation around it"));
    auto* label = new QLabel(tr("&Curves"));
    label->setBuddy(m_metric);
    m_plot = new PlotView(lookOf(comparedMetrics().front(), tr("Select trials to see their curves")));
    m_controls = new PlotControls({m_plot});
    auto* plot = new QFrame;
    plot->setProperty("card", true);
    auto* inside = new QVBoxLayout(plot);
    inside->setContentsMargins(space::kMedium, space::kMedium, space::kMedium, space::kMedium);
    inside->addWidget(m_plot);
    auto* line = new QHBoxLayout;
    line->addWidget(label);
    line->addWidget(m_metric);
    line->addSpacing(space::kMedium);
    line->addWidget(m_bySeeds);
    line->addStretch();
    auto* layout = new QVBoxLayout(side);
    layout->setContentsMargins(0, space::kMedium, space::kMedium, 0);
    layout->addLayout(line);
    layout->addWidget(m_controls);
    layout->addWidget(plot, 1);
    connect(m_metric, &QComboBox::currentIndexChanged, this, &ComparePane::curvesAsked);
    connect(m_bySeeds, &QCheckBox::toggled, this, &ComparePane::curvesAsked);
    return side;
}

QWidget* ComparePane::buildFactSide() {
    auto* side = new QWidget;
    side->setMinimumWidth(fontMetrics().horizontalAdvance('n') * 23);  // a name's and a value's beginning
    m_factTitle = labelled({}, "heading");
    m_hint = labelled({}, "muted");
    m_diff = new QTableView;
    m_diff->setAccessibleName(tr("Settings of the selected trials"));
    m_diff->setModel(m_diffModel = new SpecDiffModel(this));
    m_diff->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_diff->setTabKeyNavigation(false);
    m_diff->setShowGrid(false);
    m_diff->setAlternatingRowColors(true);
    m_diff->verticalHeader()->setTextElideMode(Qt::ElideRight);
    m_diff->installEventFilter(this);
    m_diff->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
    m_diff->verticalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_diff->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_note = new QPlainTextEdit;
    m_note->setAccessibleName(tr("Note"));
    m_note->setTabChangesFocus(true);
    m_note->setMaximumHeight(4 * fontMetrics().lineSpacing());
    m_note->installEventFilter(this);
    auto* noteLabel = new QLabel(tr("&Note"));
    noteLabel->setProperty("role", "heading");
    noteLabel->setBuddy(m_note);
    auto* layout = new QVBoxLayout(side);
    layout->setContentsMargins(space::kMedium, space::kMedium, 0, 0);
    layout->addWidget(m_factTitle);
    layout->addWidget(m_hint);
    layout->addWidget(m_diff, 1);
    layout->addWidget(noteLabel);
    layout->addWidget(m_note);
    return side;
}

std::string ComparePane::metric() const { return m_metric->currentData().toString().toStdString(); }

void ComparePane::setMetric(const std::string& metric) {
    const int at = m_metric->findData(QString::fromStdString(metric));
    if (at >= 0) m_metric->setCurrentIndex(at);
}

bool ComparePane::bySeeds() const { return m_bySeeds->isChecked(); }
void ComparePane::setBySeeds(bool bySeeds) { m_bySeeds->setChecked(bySeeds); }
QVariantMap ComparePane::controls() const { return m_controls->state(); }
void ComparePane::setControls(const QVariantMap& state) { m_controls->restore(state); }

void ComparePane::setTrials(const std::vector<TrialRow>& rows) {
    const auto single = rows.size() == 1 ? std::optional(rows.front().id) : std::nullopt;
    if (single != m_noted) saveNote();
    m_rows = rows;
    if (single != m_noted || !m_note->document()->isModified()) {
        m_noted = single;
        const QString note = single ? QString::fromStdString(rows.front().note) : QString();
        if (m_note->toPlainText() != note) m_note->setPlainText(note);
        m_note->document()->setModified(false);
    }
    m_note->setEnabled(single && !rows.front().deleted);
    m_note->setPlaceholderText(single ? tr("What you want to remember of this trial")
                                      : tr("Select a single trial to read and write its note"));
    if (rows.empty()) setCurves({});
    describe();
}

void ComparePane::setCurves(const TrialCurves& curves) {
    m_curves = curves;
    showSpecs();
    draw();
    lightHovered();
}

void ComparePane::setHovered(std::optional<std::int64_t> trial) {
    m_hovered = trial;
    lightHovered();
}

void ComparePane::lightHovered() {
    const auto shows = [&](const ComparedCurve& each) {
        return m_hovered && std::ranges::count(each.trials, *m_hovered) > 0;
    };
    const auto found = std::ranges::find_if(m_curves.compared, shows);
    m_plot->setLit(found == m_curves.compared.end() ? std::nullopt : std::optional(found->series));
}

void ComparePane::editNote() {
    m_note->setFocus();
    m_note->moveCursor(QTextCursor::End);
}

void ComparePane::saveNote() {
    if (!m_noted || !m_note->document()->isModified()) return;
    m_note->document()->setModified(false);
    emit noteEdited(*m_noted, m_note->toPlainText());
}

bool ComparePane::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_note && event->type() == QEvent::FocusOut) saveNote();
    if (watched == m_diff && event->type() == QEvent::Resize)
        m_diff->verticalHeader()->setMaximumWidth(m_diff->width() / 2);
    return QWidget::eventFilter(watched, event);
}

// What somebody zoomed to stays while the same curves grow.
void ComparePane::draw() {
    const auto& metric = comparedMetric(m_curves.request.metric);
    std::vector<PlotSeries> series;
    for (const auto& compared : m_curves.compared) {
        const std::int64_t look = m_selection.lookOf(compared.series);
        series.push_back({compared.name, compared.curve, look, seriesMarker(look), compared.stepsPerEpoch,
                          metric.smoothed, compared.second, compared.band});
        series.back().key = compared.series;
    }
    const bool known = m_drawn.metric == m_curves.request.metric && m_drawn.trials == m_curves.request.trials;
    m_drawn = m_curves.request;
    m_plot->setSeries(std::move(series));
    if (!known) m_plot->setLook(lookOf(metric, emptyText()));
    if (known) m_plot->refresh();
    else m_plot->fit();
}

QString ComparePane::emptyText() const {
    if (m_rows.empty()) return tr("Select trials to see their curves");
    return m_curves.request.trials.empty() ? tr("Reading…") : tr("Not measured yet");
}

void ComparePane::describe() {
    QString title = tr("No trial is selected");
    QString hint =
        tr("Select one trial to see its settings, several to compare them: Ctrl+click, Shift+arrows, Ctrl+A.");
    if (m_rows.size() == 1) {
        title = tr("Settings of trial %1").arg(m_rows.front().id);
        hint = QString::fromStdString(m_rows.front().failure);
        const auto* known = m_curves.trials.size() == 1 ? &m_curves.trials.front() : nullptr;
        if (known && known->trial == m_rows.front().id && known->failure && !hint.isEmpty()) {
            const auto words = m_explain(*known->failure);
            hint = words.inOneLine();
        }
    } else if (m_rows.size() > 1) {
        title = tr("Differences between %1 trials").arg(m_rows.size());
        hint = m_rows.size() > kComparedTrials ? tr("Of the first %1. The page Compare shows all.").arg(kComparedTrials)
                                               : QString();
        if (m_curves.trials.size() > 1 && m_diffModel->rowCount() == 0) hint = tr("Their settings are the same.");
    }
    if (!m_curves.problems.empty()) hint = m_explain(m_curves.problems.front()).what;
    m_factTitle->setText(title);
    m_hint->setText(hint);
    m_hint->setVisible(!hint.isEmpty());
}

void ComparePane::showSpecs() {
    std::vector<TrialSpec> specs;
    for (const auto& curve : m_curves.trials) specs.push_back(curve.spec);
    m_diffModel->show(specs, namesOf(m_curves));
    m_diff->horizontalHeader()->setStretchLastSection(specs.size() == 1);
    m_diff->horizontalHeader()->setVisible(specs.size() > 1);
    m_diff->resizeColumnsToContents();
    describe();
}

}  // namespace lockstep::ui
