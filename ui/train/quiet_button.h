#pragma once
#include <QToolButton>

namespace lockstep::ui {

// A button that is seen when it is looked for: words, or a sign, without a frame.
class QuietButton : public QToolButton {
    Q_OBJECT
public:
    // `help`: what it does, for tool tip and screen reader; `spoken`: its name there, where `text` says too little.
    QuietButton(const QString& name, const QString& text, const QString& help, const QString& spoken = {},
                QWidget* parent = nullptr);
    QSize sizeHint() const override;
};

}  // namespace lockstep::ui
