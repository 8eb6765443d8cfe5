#include "ui/views/model_card.h"

#include <qcustomplot.h>

#include <QHeaderView>
#include <QJsonArray>
#include <QTableWidget>

#include "ui/style/theme.h"
#include "ui/views/sample_images.h"

namespace lockstep::ui {

namespace {

constexpr int kTableHeight = 190;

QTableWidget* makeTable() {
    auto* table = new QTableWidget(0, 4);
    table->setHorizontalHeaderLabels({"Layer", "Operation", "Output", "Parameters"});
    table->setAccessibleName("Layers of the model");
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setTabKeyNavigation(false);
    table->verticalHeader()->hide();
    table->verticalHeader()->setDefaultSectionSize(22);
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    table->horizontalHeader()->setHighlightSections(false);
    table->horizontalHeaderItem(0)->setTextAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table->horizontalHeaderItem(1)->setTextAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table->horizontalHeaderItem(2)->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    table->horizontalHeaderItem(3)->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    table->horizontalHeaderItem(2)->setToolTip("Shape for one image: channels × height × width");
    table->setShowGrid(false);
    table->setFixedHeight(kTableHeight);
    return table;
}

QTableWidgetItem* cell(const QString& text, bool number) {
    auto* item = new QTableWidgetItem(text);
    if (number) item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    return item;
}

}  // namespace

ModelCard::ModelCard(SpecForm& form, FormAnswers& answers, const Explain& explain, QWidget* parent)
    : QWidget(parent), m_answers(answers) {
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* card = addCard(*outer, "Model");
    card->addWidget(new ChoiceForm(form, "model", explain));
    m_summary = new QLabel;
    m_summary->setWordWrap(true);
    m_summary->setToolTip("Memory per device: weights, gradients, optimizer state and activations, planned before the run.");
    m_layers = makeTable();
    card->addWidget(m_summary);
    card->addWidget(m_layers);
    connect(&answers, &FormAnswers::planChanged, this, [this] { showPlan(); });
    showPlan();
}

void ModelCard::showPlan() {
    const auto& plan = m_answers.plan();
    const auto layers = plan["layers"].toArray();
    m_summary->setVisible(!plan.isEmpty());
    m_layers->setVisible(!layers.isEmpty());
    m_summary->setText(QString("%1 parameters, %2 per device").arg(
        countText(plan["parameters"].toInteger()), bytesText(plan["bytes_per_device"].toDouble())));
    m_layers->setRowCount(static_cast<int>(layers.size()));
    for (int row = 0; row < layers.size(); ++row) {
        const auto layer = layers[row].toObject();
        const qint64 parameters = layer["parameters"].toInteger();
        m_layers->setItem(row, 0, cell(layer["name"].toString(), false));
        m_layers->setItem(row, 1, cell(layer["op"].toString(), false));
        m_layers->setItem(row, 2, cell(layer["output"].toString().replace('x', " × "), true));
        m_layers->setItem(row, 3, cell(parameters > 0 ? countText(parameters) : QString("–"), true));
    }
}

SchedulePreview::SchedulePreview(FormAnswers& answers, QWidget* parent) : QWidget(parent), m_answers(answers) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    m_plot = new QCustomPlot;
    m_plot->addGraph();
    m_plot->xAxis->setLabel("epoch");
    m_plot->yAxis->setLabel("learning rate");
    m_plot->setFixedHeight(150);
    m_plot->setAccessibleName("Learning rate over the run");
    layout->addWidget(m_plot);
    connect(&answers, &FormAnswers::curveChanged, this, [this] { showCurve(); });
    colour();
    showCurve();
}

void SchedulePreview::showCurve() {
    const auto epochs = m_answers.curve()["epochs"].toArray(), rates = m_answers.curve()["rates"].toArray();
    QVector<double> x, y;
    for (int i = 0; i < epochs.size(); ++i) {
        x << epochs[i].toDouble();
        y << rates.at(i).toDouble();
    }
    m_plot->graph(0)->setData(x, y, true);
    const double most = y.isEmpty() ? 1 : *std::max_element(y.begin(), y.end());
    m_plot->xAxis->setRange(0, x.isEmpty() ? 1 : x.last());
    m_plot->yAxis->setRange(0, most > 0 ? 1.08 * most : 1);
    if (!y.isEmpty()) {
        m_plot->setAccessibleDescription(QString("From %1 over at most %2 to %3").arg(y.first()).arg(most).arg(y.last()));
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
