#pragma once
#include <QFrame>

#include "ui/style/page.h"

class QHBoxLayout;
class QLabel;

namespace lockstep::ui {

// An EmptyState as a person sees it: its words in the middle, its ways as buttons below.
class EmptyView : public QFrame {
    Q_OBJECT
public:
    explicit EmptyView(QWidget* parent = nullptr);
    void show(const EmptyState& state);
    using QFrame::show;

signals:
    void chosen(const QString& command);

private:
    QLabel *m_title, *m_text;
    QHBoxLayout* m_buttons;
    QStringList m_shown;  // ids and words of the buttons
};

}  // namespace lockstep::ui
