#include "ui/compare/diff_view.h"

#include <QCheckBox>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QPointer>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <memory>

#include "engine/trials/trial_service.h"
#include "ui/plot/csv_field.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

void DiffModel::show(std::vector<DiffRow> rows, QStringList names, bool withEqual) {
    beginResetModel();
    m_rows = std::move(rows);
    if (!withEqual) std::erase_if(m_rows, [](const DiffRow& row) { return row.isEqual; });
    m_names = std::move(names);
    endResetModel();
}

int DiffModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int DiffModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_names.size());
}

QVariant DiffModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const DiffRow& row = m_rows[static_cast<std::size_t>(index.row())];
    const QString value = row.values.value(index.column());
    if (role == Qt::ForegroundRole && row.isEqual) return currentTheme().muted;
    if (role == Qt::ToolTipRole) return value;
    if (role != Qt::DisplayRole) return {};
    return value.isNull() ? tr("not set") : value;
}

QVariant DiffModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (section < 0 || (role != Qt::DisplayRole && role != Qt::ToolTipRole)) return {};
    if (orientation == Qt::Horizontal) return m_names.value(section);
    if (section >= rowCount()) return {};
    const DiffRow& row = m_rows[static_cast<std::size_t>(section)];
    return role == Qt::DisplayRole ? row.name : row.section + ": " + row.name + " (" + row.key + ")";
}

DiffView::DiffView(HistoryService* history, TrialSelection* selection, QWidget* parent)
    : CompareView(selection, parent),
      m_history(*history),
      m_equal(new QCheckBox(tr("Show what is equal"))),
      m_why(new QLabel),
      m_view(new QTableView),
      m_model(this) {
    setObjectName("diffView");
    setMinimumHeight(260);
    m_equal->setObjectName("diffEqual");
    m_why->setObjectName("diffWhy");
    m_why->setWordWrap(true);
    m_why->setTextFormat(Qt::PlainText);
    m_why->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_view->setModel(&m_model);
    m_view->setAccessibleName(tr("Trials side by side"));
    m_view->setShowGrid(false);
    m_view->setAlternatingRowColors(true);
    m_view->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_view->setTabKeyNavigation(false);
    m_view->setWordWrap(false);
    m_view->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_view->horizontalHeader()->setHighlightSections(false);
    m_view->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 10);
    m_view->verticalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    connect(m_equal, &QCheckBox::toggled, this, &DiffView::redraw);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space::kSmall);
    column->addWidget(m_why);
    column->addWidget(m_equal);
    column->addWidget(m_view, 1);
}

// Pinned ones, of any number that has a place; else the two best that the brushes leave.
std::vector<std::int64_t> DiffView::wanted() const {
    std::vector<std::int64_t> trials;
    for (const auto trial : selection().pinned())
        if (selection().placeOf(trial) && scene()->table->rowOf(trial)) trials.push_back(trial);
    if (trials.size() >= 2) return trials;
    for (const auto row : scene()->ranking) {
        const std::int64_t trial = scene()->table->trials[row].trial;
        if (trials.size() < 2 && scene()->passes[row] && std::ranges::find(trials, trial) == trials.end())
            trials.push_back(trial);
    }
    return trials;
}

void DiffView::sceneChanged() { read(); }

void DiffView::lightChanged() {
    if (wanted() != m_asked) read();
}

void DiffView::read() {
    m_asked = wanted();
    auto facts = std::make_shared<std::vector<TrialFacts>>();
    m_history.run(
        [facts, trials = m_asked](TrialService& service) {
            const TrialQuery& query = service.query();
            for (const auto trial : trials) {
                const auto row = query.find(trial);
                const auto spec = query.spec(trial);
                if (row && spec.ok()) facts->push_back({trial, spec.value(), query.started(trial), row->note});
            }
        },
        [facts, asked = m_asked, view = QPointer(this)](const std::optional<Problem>&) {
            if (view && view->m_asked == asked) view->take(std::move(*facts));
        });
}

void DiffView::take(std::vector<TrialFacts> facts) {
    m_facts = std::move(facts);
    redraw();
}

QString DiffView::nameOf(std::int64_t trial) const {
    const auto row = scene()->table->rowOf(trial);
    return row ? scene()->table->trials[*row].name : QString("#%1").arg(trial);
}

void DiffView::redraw() {
    if (!scene()) return;
    auto rows = diffOf(*scene(), m_facts);
    const auto equal = std::ranges::count(rows, true, &DiffRow::isEqual);
    QStringList names;
    for (const TrialFacts& each : m_facts) names << nameOf(each.trial);
    m_equal->setText(tr("Show what is equal (%1)").arg(equal));
    m_model.show(std::move(rows), names, m_equal->isChecked());
    const QString why = whyBetter(*scene(), m_facts);
    m_why->setText(why);
    m_why->setVisible(!why.isEmpty());
    emit wordsChanged();
}

QString DiffView::emptyText() const {
    return wanted().size() < 2
               ? tr("It takes two trials. Pin those that are to stand side by side, by their marks in the list.")
               : QString();
}

QString DiffView::summary() const {
    const auto rows = diffOf(*scene(), m_facts);
    const auto equal = static_cast<std::size_t>(std::ranges::count(rows, true, &DiffRow::isEqual));
    const QString said = tr("%1 trials side by side: they differ in %2 of %3 things.")
                             .arg(m_facts.size())
                             .arg(rows.size() - equal)
                             .arg(rows.size());
    const QString why = whyBetter(*scene(), m_facts);
    return why.isEmpty() ? said : said + ' ' + why;
}

QByteArray DiffView::csv() const {
    QString text = "section,key";
    for (const TrialFacts& each : m_facts) text += QString(",%1").arg(each.trial);
    text += "\r\n";
    for (const DiffRow& row : diffOf(*scene(), m_facts)) {
        text += csvField(row.section) + ',' + csvField(row.key);
        for (const QString& value : row.values) text += ',' + csvField(value);
        text += "\r\n";
    }
    return text.toUtf8();
}

void DiffView::paintPicture(QPainter& painter, const QRectF& area) const {
    const QFontMetricsF metrics(font());
    const double high = metrics.height() + 6, names = area.width() * 0.26;
    const auto& rows = m_model.rows();
    const auto columns = static_cast<double>(std::max<std::size_t>(1, m_facts.size()));
    const double wide = (area.width() - names) / columns;
    painter.save();
    painter.setFont(font());
    const auto write = [&](double left, double top, double width, const QColor& color, const QString& text) {
        painter.setPen(color);
        painter.drawText(QRectF(left, top, width - space::kMedium, high), Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(text, Qt::ElideRight, width - space::kMedium));
    };
    const Theme& theme = currentTheme();
    double top = area.top();
    for (std::size_t i = 0; i < m_facts.size(); ++i)
        write(area.left() + names + wide * static_cast<double>(i), top, wide, theme.text, nameOf(m_facts[i].trial));
    for (const DiffRow& row : rows) {
        top += high;
        if (top + high > area.bottom()) break;
        write(area.left(), top, names, theme.muted, row.name);
        for (qsizetype i = 0; i < row.values.size(); ++i) {
            const QString& value = row.values[i];
            write(area.left() + names + wide * static_cast<double>(i), top, wide,
                  row.isEqual ? theme.muted : theme.text, value.isNull() ? tr("not set") : value);
        }
    }
    painter.restore();
}

}  // namespace lockstep::ui
