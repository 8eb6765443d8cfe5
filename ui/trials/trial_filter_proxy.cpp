#include "ui/trials/trial_filter_proxy.h"

namespace lockstep::ui {

namespace {

QString quoted(QString text) {
    if (!text.contains(',') && !text.contains('"') && !text.contains('\n') && !text.contains('\r')) return text;
    return '"' + text.replace('"', "\"\"") + '"';
}

}  // namespace

TrialFilterProxy::TrialFilterProxy(TrialTableModel& model, QObject* parent)
    : QSortFilterProxyModel(parent), m_model(model) {
    setSortRole(TrialTableModel::SortRole);
    setSourceModel(&model);
}

void TrialFilterProxy::setShelf(Shelf shelf) {
    m_shelf = shelf;
    invalidateRowsFilter();
}

void TrialFilterProxy::setWords(const QString& text) {
    m_words = TrialFilterWords(text);
    invalidateRowsFilter();
}

void TrialFilterProxy::setSettings(const std::string& path, SettingValues values) {
    auto& known = m_settings[path];
    if (known == values) return;
    known = std::move(values);
    invalidateRowsFilter();
}

const TrialRow& TrialFilterProxy::trial(const QModelIndex& proxyIndex) const {
    return m_model.row(mapToSource(proxyIndex).row());
}

bool TrialFilterProxy::filterAcceptsRow(int row, const QModelIndex&) const {
    const auto& trial = m_model.row(row);
    const Shelf lies = trial.deleted ? Shelf::Trash : trial.archived ? Shelf::Archived : Shelf::Current;
    return lies == m_shelf && (m_words.empty() || m_words.matches(trial, m_model.haystack(row), m_settings));
}

bool TrialFilterProxy::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    const QVariant a = left.data(TrialTableModel::SortRole), b = right.data(TrialTableModel::SortRole);
    // The base class turns the result around for the descending order.
    if (!a.isValid() || !b.isValid())
        return a.isValid() != b.isValid() && a.isValid() == (sortOrder() == Qt::AscendingOrder);
    if (a.metaType().id() == QMetaType::QString) return a.toString() < b.toString();
    return a.toDouble() < b.toDouble();
}

QString csvOf(const QAbstractItemModel& table, const QList<int>& columns) {
    QString text;
    const auto line = [&](auto&& cell) {
        QStringList cells;
        for (const int column : columns) cells << quoted(cell(column));
        text += cells.join(',') + "\r\n";
    };
    line([](int column) { return headerOf(column); });
    for (int row = 0; row < table.rowCount(); ++row) {
        line([&](int column) { return table.index(row, column).data(TrialTableModel::PlainRole).toString(); });
    }
    return text;
}

}  // namespace lockstep::ui
