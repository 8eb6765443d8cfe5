#include "ui/compare/axis_box.h"

#include <QSignalBlocker>
#include <algorithm>

namespace lockstep::ui {

AxisBox::AxisBox(const QString& id, const QString& name, const QString& none) : m_none(none) {
    setObjectName(id);
    setAccessibleName(name);
    setToolTip(name);
    setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    setMinimumContentsLength(8);
    connect(this, &QComboBox::activated, this, [this] { m_chosen = currentData().toString(), m_isChosen = true; });
}

void AxisBox::offer(const std::shared_ptr<const CompareTable>& table, std::optional<std::size_t> proposed) {
    const QSignalBlocker blocker(this);
    if (std::exchange(m_table, table) != table) fill();
    // What was chosen comes again with the trials that have it.
    const int chosen = m_isChosen ? findData(m_chosen) : -1;
    const QString other = proposed ? QString::fromStdString(m_table->axes[*proposed].key) : QString();
    setCurrentIndex(chosen >= 0 ? chosen : std::max(0, findData(other)));
}

void AxisBox::fill() {
    clear();
    if (!m_none.isEmpty()) addItem(m_none, QString());
    for (const CompareAxis& axis : m_table->axes) addItem(axis.name, QString::fromStdString(axis.key));
}

std::optional<std::size_t> AxisBox::axis() const { return m_table ? m_table->axisOf(key()) : std::nullopt; }

std::string AxisBox::key() const { return currentData().toString().toStdString(); }

}  // namespace lockstep::ui
