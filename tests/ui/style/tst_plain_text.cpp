#include <QHelpEvent>
#include <QLabel>
#include <QMessageBox>
#include <QToolTip>
#include <QtTest>

#include "ui/style/plain_text.h"

using namespace lockstep::ui;

namespace {

const QString kTitle = "<b>bold</b><img src='http://elsewhere/x.png'>";

QLabel* shownToolTip() {
    for (QWidget* each : QApplication::topLevelWidgets()) {
        if (each->inherits("QTipLabel") && each->isVisible()) return qobject_cast<QLabel*>(each);
    }
    return nullptr;
}

}  // namespace

class TestPlainText : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { keepLabelsPlain(*qApp); }

    void labelsDoNotGuess() {
        QVERIFY(Qt::mightBeRichText(kTitle));
        QLabel label(kTitle), rich("<b>ours</b>");
        rich.setTextFormat(Qt::RichText);
        label.show(), rich.show();
        QCOMPARE(label.textFormat(), Qt::PlainText);
        QCOMPARE(rich.textFormat(), Qt::RichText);
    }

    void toolTipsDoNotGuess() {
        QLabel label("a cell");
        label.setToolTip(kTitle);
        label.show();
        QHelpEvent event(QEvent::ToolTip, {2, 2}, label.mapToGlobal(QPoint(2, 2)));
        QApplication::sendEvent(&label, &event);
        const QLabel* tip = shownToolTip();
        QVERIFY(tip);
        QCOMPARE(tip->text(), kTitle);
        QCOMPARE(tip->textFormat(), Qt::PlainText);
        QToolTip::hideText();
    }

    void messageBoxesSayWhatIsOurs() {
        QMessageBox box;
        box.setText("<b>ours</b>");
        box.show();
        QCOMPARE(box.findChild<QLabel*>("qt_msgbox_label")->textFormat(), Qt::AutoText);
    }

    void aLineIsOneLine() {
        QCOMPARE(oneLine("plain Größe"), QString("plain Größe"));
        QCOMPARE(oneLine("a\nb\x1b[2J\t\u202ec\u2028d"), QString("a b [2J  c d"));
        QCOMPARE(oneLine("caf\xe9"), QString("caf") + QChar(0xfffd));
    }
};

QTEST_MAIN(TestPlainText)
#include "tst_plain_text.moc"
