#include "ui/style/plain_text.h"

#include <QApplication>
#include <QEvent>
#include <QLabel>
#include <QMessageBox>
#include <algorithm>

namespace lockstep::ui {

namespace {

// Every label is polished before it is first shown, Qt's own of tool tips included.
class PlainLabels : public QObject {
public:
    using QObject::QObject;

    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() != QEvent::Polish) return false;
        auto* label = qobject_cast<QLabel*>(watched);
        if (label && label->textFormat() == Qt::AutoText && !qobject_cast<QMessageBox*>(label->parentWidget()))
            label->setTextFormat(Qt::PlainText);
        return false;
    }
};

bool isUnprintable(QChar character) {
    const char16_t code = character.unicode();
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

void keepLabelsPlain(QApplication& application) { application.installEventFilter(new PlainLabels(&application)); }

QString oneLine(std::string_view text) {
    QString line = QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
    std::ranges::replace_if(line, isUnprintable, u' ');
    return line;
}

}  // namespace lockstep::ui
