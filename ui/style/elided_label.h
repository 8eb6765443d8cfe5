#pragma once
#include <QLabel>

namespace lockstep::ui {

// One line of plain text that is cut with "…" where there is no room for it; whole as its tool tip then.
class ElidedLabel : public QLabel {
public:
    using QLabel::QLabel;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;
};

}  // namespace lockstep::ui
