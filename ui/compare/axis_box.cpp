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
    connect(this, &QComboBox::activated, this, [this] { m_isChosen = true; });
}

void AxisBox::offer(const std::shared_ptr<const CompareTable>& table, std::optional<std::size_t> proposed) {
    const QSignalBlocker blocker(this);
    const QString before = currentData().toString();
    if (std::exchange(m_table, table) != table) fill();
    const QString wanted = m_isChosen || !proposed ? before : QString::fromStdString(m_table->axes[*proposed].key);
    setCurrentIndex(std::max(0, findData(wanted)));
}

void AxisBox::fill() {
    clear();
    if (!m_none.isEmpty()) addItem(m_none, QString());
    for (const CompareAxis& axis : m_table->axes) addItem(axis.name, QString::fromStdString(axis.key));
}

std::optional<std::size_t> AxisBox::axis() const { return m_table ? m_table->axisOf(key()) : std::nullopt; }

std::string AxisBox::key() const { return currentData().toString().toStdString(); }

}  // namespace lockstep::ui
