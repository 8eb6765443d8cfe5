#pragma once
#include <QComboBox>
#include <memory>
#include <optional>

#include "ui/compare/compare_table.h"

namespace lockstep::ui {

// Which axis of the table a view shows: as the view proposes it, until a person chooses one.
class AxisBox : public QComboBox {
    Q_OBJECT
public:
    // `none`: words for no axis at all, the first choice; empty: there must be one.
    AxisBox(const QString& id, const QString& name, const QString& none = {});

    // Of what stands in the box already nothing is made anew.
    void offer(const std::shared_ptr<const CompareTable>& table, std::optional<std::size_t> proposed);
    std::optional<std::size_t> axis() const;  // of the table offered last; empty: none
    std::string key() const;                  // of that axis

private:
    void fill();

    const QString m_none;
    std::shared_ptr<const CompareTable> m_table;
    bool m_isChosen = false;  // by a person: the axis of this key
    QString m_chosen;
};

}  // namespace lockstep::ui
