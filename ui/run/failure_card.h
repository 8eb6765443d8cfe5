#pragma once
#include <QFrame>

#include "ui/run/failure_text.h"

class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace lockstep::ui {

// A run that ended badly: what, why, what next, with details to copy.
class FailureCard : public QFrame {
    Q_OBJECT

public:
    explicit FailureCard(QWidget* parent = nullptr);
    void setText(const FailureText& text, bool canResume);

signals:
    void resumeRequested();

private:
    QLabel *m_what = nullptr, *m_why = nullptr, *m_next = nullptr;
    QPlainTextEdit* m_details = nullptr;
    QPushButton* m_resume = nullptr;
};

}  // namespace lockstep::ui
