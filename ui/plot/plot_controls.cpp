#include "ui/plot/plot_controls.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSlider>

#include "ui/plot/plot_view.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr int kSmoothingSteps = 999;  // thousandths of the weight
constexpr int kSmoothingAtFirst = 900;

}  // namespace

PlotControls::PlotControls(std::vector<PlotView*> plots, QWidget* parent) : QWidget(parent), m_plots(std::move(plots)) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(space::kMedium);
    addSmoothing(*row);
    row->addSpacing(space::kMedium);
    addAxis(*row);
    row->addSpacing(space::kMedium);
    addLog(*row);
    row->addStretch();
    auto* everything = new QPushButton(tr("Show all"));
    everything->setAccessibleName(tr("Show everything in all plots"));
    everything->setToolTip(tr("Show everything: undo zooming and moving in all plots"));
    connect(everything, &QPushButton::clicked, this, [this] {
        for (PlotView* plot : m_plots) plot->fit();
    });
    row->addWidget(everything);
}

QVariantMap PlotControls::state() const {
    return {{"smoothing", m_smoothing->value()}, {"axis", m_axis->currentIndex()}, {"log", m_log->isChecked()}};
}

void PlotControls::restore(const QVariantMap& state) {
    m_smoothing->setValue(state.value("smoothing", m_smoothing->value()).toInt());
    const int axis = state.value("axis", m_axis->currentIndex()).toInt();
    if (axis >= 0 && axis < m_axis->count()) m_axis->setCurrentIndex(axis);
    m_log->setChecked(state.value("log", m_log->isChecked()).toBool());
}

void PlotControls::addSmoothing(QHBoxLayout& row) {
    auto* words = new QLabel(tr("Smoothing"));
    auto* slider = m_smoothing = new QSlider(Qt::Horizontal);
    auto* value = new QLabel;
    words->setBuddy(slider);
    slider->setRange(0, kSmoothingSteps);
    slider->setMinimumWidth(60);
    slider->setMaximumWidth(160);
    slider->setAccessibleName(tr("Smoothing of the curves"));
    slider->setToolTip(
        tr("Exponential moving average: how much of the past each point keeps.\n"
           "0 shows what was measured; it stays visible as a faint line behind the smoothed one."));
    value->setMinimumWidth(fontMetrics().horizontalAdvance("0.000"));
    connect(slider, &QSlider::valueChanged, this, [this, value](int thousandths) {
        value->setText(QString::number(thousandths / 1000.0, 'f', 3));
        for (PlotView* plot : m_plots) plot->setSmoothing(thousandths / 1000.0);
    });
    slider->setValue(kSmoothingAtFirst);
    for (QWidget* each : {static_cast<QWidget*>(words), static_cast<QWidget*>(slider), static_cast<QWidget*>(value)})
        row.addWidget(each);
}

void PlotControls::addAxis(QHBoxLayout& row) {
    auto* words = new QLabel(tr("Along x"));
    auto* axis = m_axis = new QComboBox;
    words->setBuddy(axis);
    axis->addItems({tr("Step"), tr("Epoch"), tr("Time")});
    axis->setAccessibleName(tr("What the x axis shows"));
    axis->setToolTip(
        tr("Step: an update of the parameters. Epoch: one pass over the training data. Time: since the start, without "
           "pauses."));
    connect(axis, &QComboBox::currentIndexChanged, this, [this](int index) {
        for (PlotView* plot : m_plots) plot->setAxis(static_cast<PlotAxis>(index));
    });
    row.addWidget(words);
    row.addWidget(axis);
}

void PlotControls::addLog(QHBoxLayout& row) {
    auto* log = m_log = new QCheckBox(tr("Logarithmic"));
    log->setAccessibleName(tr("Logarithmic values"));
    log->setToolTip(tr("Equal distances are equal ratios: small losses become visible. Values of zero are left out."));
    connect(log, &QCheckBox::toggled, this, [this](bool on) {
        for (PlotView* plot : m_plots) plot->setLog(on);
    });
    row.addWidget(log);
}

}  // namespace lockstep::ui
