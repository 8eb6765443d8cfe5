#include "ui/train/model_card.h"

#include <qcustomplot.h>

#include <QHeaderView>
#include <QTableView>

#include "ui/style/theme.h"
#include "ui/train/dataset_text.h"
#include "ui/train/field_places.h"

namespace lockstep::ui {

namespace {

constexpr int kTableHeight = 190;

QTableView* makeTable(LayerTable& layers) {
    auto* table = new QTableView;
    table->setModel(&layers);
    table->setAccessibleName(ModelCard::tr("Layers of the model"));
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setTabKeyNavigation(false);
    table->verticalHeader()->hide();
    table->verticalHeader()->setDefaultSectionSize(22);
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    table->horizontalHeader()->setHighlightSections(false);
    table->setShowGrid(false);
    table->setFixedHeight(kTableHeight);
    return table;
}

}  // namespace

ModelCard::ModelCard(SpecForm& form, FormAnswers& answers, const Explain& explain, QWidget* parent)
    : QWidget(parent), m_form(form), m_answers(answers) {
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* card = addCard(*outer, tr("Model"));
    card->addWidget(new ChoiceForm(form, "model", explain));
    card->addWidget(m_fields = new FieldList(form, explain));
    card->addWidget(m_headFields = new FieldList(form, explain));
    m_summary = new QLabel;
    m_summary->setWordWrap(true);
    m_summary->setToolTip(
        tr("Parameters: the numbers that training adjusts.\nMemory per device: weights, gradients, "
           "optimizer state and activations, planned before the run."));
    m_table = makeTable(m_layers);
    card->addWidget(m_summary);
    card->addWidget(m_table);
    for (const auto change : {&SpecForm::catalogChanged, &SpecForm::changed, &SpecForm::problemsChanged})
        connect(&form, change, this, [this] { showFields(); });
    connect(&answers, &FormAnswers::planChanged, this, [this] { showPlan(); });
    showFields();
    showPlan();
}

void ModelCard::showFields() {
    const FieldPlaces places(m_form);
    m_fields->setFields(places.model);
    m_headFields->setFields(places.head + places.text);
}

void ModelCard::showPlan() {
    const auto& plan = m_answers.plan();
    const auto layers = plan ? plan->layers : std::vector<PlannedLayer>();
    m_summary->setVisible(plan.has_value());
    m_table->setVisible(!layers.empty());
    m_summary->setEnabled(!m_answers.planIsOld());  // a figure that is about to change is greyed
    m_table->setEnabled(!m_answers.planIsOld());
    if (plan) {
        m_summary->setText(tr("%1 parameters, %2 of memory per device")
                               .arg(countText(plan->parameters), bytesText(static_cast<double>(plan->bytesPerDevice))));
    }
    if (layers == m_shown) return;
    m_shown = layers;
    m_layers.setLayers(layers);
}

SchedulePreview::SchedulePreview(FormAnswers& answers, QWidget* parent) : QWidget(parent), m_answers(answers) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    m_plot = new QCustomPlot;
    m_plot->addGraph();
    m_plot->xAxis->setLabel(tr("epoch"));
    m_plot->yAxis->setLabel(tr("learning rate"));
    m_plot->setFixedHeight(150);
    m_plot->setAccessibleName(tr("Learning rate over the run"));
    layout->addWidget(m_plot);
    connect(&answers, &FormAnswers::curveChanged, this, [this] { showCurve(); });
    colour();
    showCurve();
}

void SchedulePreview::showCurve() {
    const auto& [epochs, rates] = m_answers.curve();
    const auto points = static_cast<qsizetype>(std::min(epochs.size(), rates.size()));
    const QVector<double> x(epochs.begin(), epochs.begin() + points), y(rates.begin(), rates.begin() + points);
    m_plot->graph(0)->setData(x, y, true);
    const double most = y.isEmpty() ? 1 : *std::max_element(y.begin(), y.end());
    m_plot->xAxis->setRange(0, x.isEmpty() ? 1 : x.last());
    m_plot->yAxis->setRange(0, most > 0 ? 1.08 * most : 1);
    if (!y.isEmpty()) {
        const auto words = tr("The learning rate goes from %1 over at most %2 to %3.");
        m_plot->setAccessibleDescription(words.arg(y.first(), 0, 'g', 3).arg(most, 0, 'g', 3).arg(y.last(), 0, 'g', 3));
        m_plot->setToolTip(m_plot->accessibleDescription());
    }
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void SchedulePreview::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange) colour();
    QWidget::changeEvent(event);
}

void SchedulePreview::colour() {
    const auto& theme = currentTheme();
    m_plot->setBackground(theme.surface);
    for (auto* axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->setBasePen(QPen(theme.border));
        axis->setTickPen(QPen(theme.border));
        axis->setSubTickPen(Qt::NoPen);
        axis->setTickLabelColor(theme.muted);
        axis->setLabelColor(theme.muted);
        axis->setTickLabelFont(font());
        axis->setLabelFont(font());
        axis->grid()->setPen(QPen(theme.grid));
        axis->ticker()->setTickCount(4);
    }
    m_plot->graph(0)->setPen(QPen(theme.accent, 2));
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

}  // namespace lockstep::ui
