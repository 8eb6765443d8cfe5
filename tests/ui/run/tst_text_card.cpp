#include <QApplication>
#include <QComboBox>
#include <QPlainTextEdit>
#include <QTextBlock>
#include <QtTest>

#include "ui/run/text_card.h"
#include "ui/style/theme.h"

using namespace lockstep;
using namespace lockstep::ui;

namespace {

TextSample sample(std::int64_t epoch) {
    return {10 * epoch, epoch, "To be,", " it says after " + std::to_string(epoch)};
}

struct Shown {
    TextCard card;
    QPlainTextEdit& text = *card.findChild<QPlainTextEdit*>("writtenText");
    QComboBox& epochs = *card.findChild<QComboBox*>("textEpochs");
    Shown() { card.show(); }
};

QTextCharFormat formatAt(const QPlainTextEdit& text, int position) {
    QTextCursor cursor(text.document());
    cursor.setPosition(position + 1);  // the format of the character before it
    return cursor.charFormat();
}

}  // namespace

class TestTextCard : public QObject {
    Q_OBJECT
private slots:
    void init() { applyTheme(*qApp, ThemeChoice::Light); }

    void anEmptyCardSaysWhatWillCome() {
        Shown shown;
        shown.card.setSamples({}, false);
        QVERIFY(shown.text.toPlainText().isEmpty() && shown.text.placeholderText().contains("After each epoch"));
        QVERIFY(!shown.epochs.isVisible());
        shown.card.setSamples({}, true);
        QVERIFY(shown.text.placeholderText().contains("no text"));
    }

    void thePromptStandsOut() {
        Shown shown;
        shown.card.setSamples({sample(1)}, false);
        QCOMPARE(shown.text.toPlainText(), QString("To be, it says after 1"));
        QVERIFY(shown.text.isReadOnly());
        for (const ThemeChoice choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
            applyTheme(*qApp, choice);
            QCoreApplication::processEvents();
            const QTextCharFormat prompt = formatAt(shown.text, 0), text = formatAt(shown.text, 8);
            QVERIFY(prompt.fontWeight() > text.fontWeight());
            QCOMPARE(prompt.foreground().color(), currentTheme().accent);
            QCOMPARE(text.foreground().color(), currentTheme().text);
        }
    }

    void bytesThatAreNoCharacterAreReplaced() {
        Shown shown;
        shown.card.setSamples({{10, 1, "a", "b\uFFFDc\nd"}}, false);
        QCOMPARE(shown.text.toPlainText(), QString("ab\uFFFDc\nd"));
        QCOMPARE(shown.text.document()->blockCount(), 2);
    }

    // The newest is shown until a person chooses another, which stays until it is the newest that is chosen.
    void theNewestIsFollowed() {
        Shown shown;
        shown.card.setSamples({sample(1)}, false);
        QVERIFY(!shown.epochs.isVisible());
        shown.card.setSamples({sample(1), sample(2)}, false);
        QVERIFY(shown.epochs.isVisible());
        QVERIFY(shown.text.toPlainText().endsWith("after 2"));
        shown.epochs.setCurrentIndex(0);
        QVERIFY(shown.text.toPlainText().endsWith("after 1"));
        shown.card.setSamples({sample(1), sample(2), sample(3)}, false);
        QVERIFY(shown.text.toPlainText().endsWith("after 1"));
        shown.epochs.setCurrentIndex(2);
        shown.card.setSamples({sample(1), sample(2), sample(3), sample(4)}, false);
        QVERIFY(shown.text.toPlainText().endsWith("after 4"));
    }

    // A resume takes back what was written after its checkpoint.
    void whatIsTakenBackGoes() {
        Shown shown;
        shown.card.setSamples({sample(1), sample(2), sample(3)}, false);
        shown.epochs.setCurrentIndex(1);
        shown.card.setSamples({sample(1)}, false);
        QVERIFY(shown.text.toPlainText().endsWith("after 1"));
        shown.card.setSamples({}, false);
        QVERIFY(shown.text.toPlainText().isEmpty());
    }

    // Whoever reads or selects in it is not disturbed by what does not concern it.
    void anUnchangedTextIsLeftAlone() {
        Shown shown;
        shown.card.setSamples({sample(1)}, false);
        shown.text.selectAll();
        shown.card.setSamples({sample(1)}, true);
        QVERIFY(shown.text.textCursor().hasSelection());
    }
};

QTEST_MAIN(TestTextCard)
#include "tst_text_card.moc"
