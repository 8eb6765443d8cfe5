#include "ui/compare/curves_controls.h"

#include <QActionGroup>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QSettings>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <QWidgetAction>
#include <algorithm>
#include <utility>

#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr int kSmoothest = 99;  // hundredths of the weight

// As they are kept.
constexpr std::pair<const char*, std::optional<BandKind>> kBands[] = {{"deviation", BandKind::Deviation},
                                                                      {"error", BandKind::StandardError},
                                                                      {"extremes", BandKind::Extremes},
                                                                      {"none", std::nullopt}};
constexpr std::pair<const char*, PlotAxis> kAxes[] = {{"step", PlotAxis::Step},
                                                      {"epoch", PlotAxis::Epoch},
                                                      {"samples", PlotAxis::Samples},
                                                      {"time", PlotAxis::Time},
                                                      {"device-time", PlotAxis::DeviceTime}};

template <class Kept>
QString wordOf(const Kept& kept, const auto& value) {
    return std::ranges::find(kept, value, [](const auto& each) { return each.second; })->first;
}

// What it was kept as; a word that means nothing changes nothing.
template <class Kept>
void readWord(const Kept& kept, const QVariant& word, auto& value) {
    const auto found = std::ranges::find(kept, word.toString(), [](const auto& each) { return QString(each.first); });
    if (found != std::end(kept)) value = found->second;
}

}  // namespace

CurvesControls::CurvesControls(QWidget* parent)
    : QWidget(parent), m_metric(new QComboBox), m_axis(new QComboBox), m_more(new QToolButton) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(space::kSmall);
    addQuantities();
    addAxes();
    makeMenu();
    m_more->setObjectName("curvesOptions");
    m_more->setText(tr("Show"));
    m_more->setAccessibleName(tr("What the curves show: bands, members, smoothing, logarithmic values"));
    m_more->setToolTip(m_more->accessibleName());
    m_more->setPopupMode(QToolButton::InstantPopup);
    row->addWidget(m_metric, 3);
    row->addWidget(m_axis, 2);
    row->addWidget(m_more);
    row->addStretch(1);
}

template <class Value>
void CurvesControls::choose(Value CurveChoice::*member, Value value) {
    if (std::exchange(m_choice.*member, value) != value) emit chosen();
}

void CurvesControls::addQuantities() {
    m_metric->setObjectName("curvesMetric");
    m_metric->setAccessibleName(tr("Quantity of the curves"));
    m_metric->setMinimumContentsLength(12);
    m_metric->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_metric->addItem(tr("Objective"), QString());
    connect(m_metric, &QComboBox::currentIndexChanged, this,
            [this] { choose(&CurveChoice::metric, m_metric->currentData().toString().toStdString()); });
}

CurveChoice CurvesControls::choice() const {
    CurveChoice choice = m_choice;
    const auto isOffered = [&](const std::string& key) {
        return std::ranges::find(m_offered, key, &ComparedMetric::series) != m_offered.end();
    };
    if (!isOffered(choice.metric)) choice.metric.clear();
    if (choice.second && !isOffered(*choice.second)) choice.second.reset();
    return choice;
}

void CurvesControls::offer(const CompareTable& table) {
    const QString name = table.objective ? table.axes[*table.objective].name : QString();
    m_metric->setItemText(0, name.isEmpty() ? tr("Objective") : tr("Objective: %1").arg(name));
    const auto hasTask = [&](const Metric& metric) {
        const auto isOf = [&](const CompareAxis& axis) { return axis.metric && axis.metric->task == metric.task; };
        return metric.task.empty() || std::ranges::any_of(table.axes, isOf);
    };
    std::vector<ComparedMetric> offered;
    for (const ComparedMetric& each : comparedMetrics()) {
        const Metric* metric = each.second.empty() ? findMetric(each.series) : nullptr;
        if (!metric || !hasTask(*metric)) continue;
        const bool isOfSteps = metric->step || (metric->derive && findMetric(metric->from)->step);
        if (isOfSteps || table.axisOf("metric." + each.series)) offered.push_back(each);
    }
    if (std::ranges::equal(offered, m_offered, {}, &ComparedMetric::series, &ComparedMetric::series)) return;
    m_offered = std::move(offered);
    showQuantities();
}

void CurvesControls::showQuantities() {
    const QSignalBlocker quiet(m_metric);
    while (m_metric->count() > 1) m_metric->removeItem(1);
    for (const ComparedMetric& each : m_offered) m_metric->addItem(each.name, QString::fromStdString(each.series));
    m_metric->setCurrentIndex(std::max(0, m_metric->findData(QString::fromStdString(m_choice.metric))));
    delete m_more->menu();
    makeMenu();
}

void CurvesControls::addAxes() {
    m_axis->setObjectName("curvesAxis");
    m_axis->setAccessibleName(tr("What the x axis shows"));
    m_axis->setMinimumContentsLength(8);
    m_axis->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_axis->setToolTip(
        tr("Step: an update of the parameters. Epoch: one pass over the training data. Time: since the start, without "
           "pauses. Device time: the same of all devices together."));
    const std::pair<PlotAxis, QString> axes[] = {{PlotAxis::Step, tr("Step")},
                                                 {PlotAxis::Epoch, tr("Epoch")},
                                                 {PlotAxis::Samples, tr("Samples")},
                                                 {PlotAxis::Time, tr("Time")},
                                                 {PlotAxis::DeviceTime, tr("Device time")}};
    for (const auto& [axis, name] : axes) m_axis->addItem(name, static_cast<int>(axis));
    m_axis->setCurrentIndex(m_axis->findData(static_cast<int>(m_choice.axis)));
    connect(m_axis, &QComboBox::currentIndexChanged, this,
            [this] { choose(&CurveChoice::axis, static_cast<PlotAxis>(m_axis->currentData().toInt())); });
}

void CurvesControls::save(QSettings& settings) const {
    settings.setValue("compare/curves/metric", QString::fromStdString(m_choice.metric));
    settings.setValue("compare/curves/second", QString::fromStdString(m_choice.second.value_or(std::string())));
    settings.setValue("compare/curves/axis", wordOf(kAxes, m_choice.axis));
    settings.setValue("compare/curves/band", wordOf(kBands, m_choice.band));
    settings.setValue("compare/curves/members", m_choice.hasMembers);
    settings.setValue("compare/curves/log", m_choice.isLog);
    settings.setValue("compare/curves/smoothing", m_choice.smoothing);
}

void CurvesControls::restore(const QSettings& settings) {
    CurveChoice kept;
    const QString metric = settings.value("compare/curves/metric").toString(),
                  second = settings.value("compare/curves/second").toString();
    const auto& known = comparedMetrics();
    const auto isKnown = [&](const QString& key) {
        return std::ranges::find(known, key.toStdString(), &ComparedMetric::series) != known.end();
    };
    if (isKnown(metric)) kept.metric = metric.toStdString();
    if (isKnown(second)) kept.second = second.toStdString();
    readWord(kAxes, settings.value("compare/curves/axis"), kept.axis);
    readWord(kBands, settings.value("compare/curves/band"), kept.band);
    kept.hasMembers = settings.value("compare/curves/members", kept.hasMembers).toBool();
    kept.isLog = settings.value("compare/curves/log", kept.isLog).toBool();
    const double smoothing = settings.value("compare/curves/smoothing", kept.smoothing).toDouble();
    if (smoothing >= 0 && smoothing <= kSmoothest / 100.0) kept.smoothing = smoothing;
    if (std::exchange(m_choice, kept) == kept) return;
    m_axis->setCurrentIndex(m_axis->findData(static_cast<int>(kept.axis)));
    showQuantities();
    emit chosen();
}

void CurvesControls::makeMenu() {
    auto* menu = new QMenu(m_more);
    addBands(*menu);
    menu->addSeparator();
    addSwitch(*menu, tr("Members of each mean"), "curvesMembers", &CurveChoice::hasMembers);
    addSwitch(*menu, tr("Logarithmic values"), "curvesLog", &CurveChoice::isLog);
    addSecond(*menu);
    menu->addSeparator();
    addSmoothing(*menu);
    m_more->setMenu(menu);
}

void CurvesControls::addBands(QMenu& menu) {
    auto* group = new QActionGroup(&menu);
    const auto add = [&](const QString& text, const QString& name, std::optional<BandKind> kind) {
        QAction* action = menu.addAction(text);
        action->setObjectName(name);
        action->setCheckable(true);
        action->setChecked(kind == m_choice.band);
        group->addAction(action);
        connect(action, &QAction::triggered, this, [this, kind] { choose(&CurveChoice::band, kind); });
    };
    add(tr("Mean ± deviation over seeds"), "curvesDeviation", BandKind::Deviation);
    add(tr("Mean ± standard error"), "curvesError", BandKind::StandardError);
    add(tr("Mean, least and greatest"), "curvesExtremes", BandKind::Extremes);
    add(tr("Mean alone"), "curvesNoBand", std::nullopt);
}

void CurvesControls::addSecond(QMenu& menu) {
    QMenu* below = menu.addMenu(tr("A second plot below"));
    below->setObjectName("curvesSecond");
    auto* group = new QActionGroup(below);
    const auto add = [&](const QString& text, std::optional<std::string> metric) {
        QAction* action = below->addAction(text);
        action->setCheckable(true);
        action->setChecked(metric == choice().second);
        group->addAction(action);
        connect(action, &QAction::triggered, this, [this, metric] { choose(&CurveChoice::second, metric); });
    };
    add(tr("None"), std::nullopt);
    for (const ComparedMetric& each : m_offered) add(each.name, each.series);
}

void CurvesControls::addSwitch(QMenu& menu, const QString& text, const QString& name, bool CurveChoice::*member) {
    QAction* action = menu.addAction(text);
    action->setObjectName(name);
    action->setCheckable(true);
    action->setChecked(m_choice.*member);
    connect(action, &QAction::toggled, this, [this, member](bool isOn) { choose(member, isOn); });
}

void CurvesControls::addSmoothing(QMenu& menu) {
    auto* line = new QWidget;
    auto* row = new QHBoxLayout(line);
    auto* words = new QLabel(tr("Smoothing"));
    auto* slider = new QSlider(Qt::Horizontal);
    auto* value = new QLabel;
    row->setContentsMargins(space::kLarge, space::kSmall, space::kLarge, space::kSmall);
    words->setBuddy(slider);
    slider->setObjectName("curvesSmoothing");
    slider->setRange(0, kSmoothest);
    slider->setMinimumWidth(100);
    slider->setAccessibleName(tr("Smoothing of noisy curves"));
    slider->setToolTip(tr("0 shows what was measured; it stays visible as a faint line behind the smoothed one."));
    value->setMinimumWidth(fontMetrics().horizontalAdvance("0.00"));
    const auto show = [value](int hundredths) { value->setText(QString::number(hundredths / 100.0, 'f', 2)); };
    slider->setValue(qRound(100 * m_choice.smoothing));
    show(slider->value());
    connect(slider, &QSlider::valueChanged, this, [this, show](int hundredths) {
        show(hundredths);
        choose(&CurveChoice::smoothing, hundredths / 100.0);
    });
    for (QWidget* each : {static_cast<QWidget*>(words), static_cast<QWidget*>(slider), static_cast<QWidget*>(value)})
        row->addWidget(each);
    auto* action = new QWidgetAction(&menu);
    action->setDefaultWidget(line);
    menu.addAction(action);
}

}  // namespace lockstep::ui
