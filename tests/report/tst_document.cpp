#include <QTextDocument>
#include <QTextTable>
#include <QtTest>

#include "engine/core/printable.h"
#include "engine/report/document.h"
#include "engine/report/markup.h"
#include "tests/report/hostile_text.h"

using namespace lockstep;
using namespace lockstep::report;

namespace {

QString toldName(const std::string& name) {
    QString told = QString::fromStdString(printable(name));
    return told.replace(QChar(0xffff), QChar(0xfffd));
}

Document documentOf(const std::string& name) {
    Document document{name, {}};
    document.blocks.push_back({Heading{name}});
    document.blocks.push_back({Paragraph{name}});
    document.blocks.push_back({Paragraph{Line({{"before "}, code(name), {" behind "}, strong("x")})}});
    document.blocks.push_back({BulletList{{name, "second"}}});
    document.blocks.push_back(
        {TextTable{{"Class", name, "F1"}, {{name, Line({code(name)}), "0.5"}, {"last", "row", "1"}}, 2}});
    document.blocks.push_back({CodeBlock{name, "text"}});
    document.blocks.push_back({Folded{name, {{Paragraph{name}}}}});
    return document;
}

// As another reader of GitHub's Markdown has it.
void read(QTextDocument& reader, const Document& document) {
    reader.setMarkdown(QString::fromStdString(markdownOf(document, "files")), QTextDocument::MarkdownDialectGitHub);
}

QTextTable* tableIn(const QTextDocument& document) {
    for (QTextFrame* each : document.rootFrame()->childFrames()) {
        if (auto* table = qobject_cast<QTextTable*>(each)) return table;
    }
    return nullptr;
}

QString cellText(const QTextTable& table, int row, int column) {
    return table.cellAt(row, column).firstCursorPosition().block().text();
}

}  // namespace

class TestDocument : public QObject {
    Q_OBJECT
private slots:
    void hostileNamesAreNames_data() {
        QTest::addColumn<QByteArray>("name");
        for (std::size_t i = 0; i < test::kHostileNames.size(); ++i)
            QTest::addRow("%zu", i) << QByteArray::fromStdString(test::kHostileNames[i]);
    }
    void hostileNamesAreNames() {
        QFETCH(QByteArray, name);
        const Document document = documentOf(name.toStdString());
        const QString told = toldName(name.toStdString());

        const auto html = test::parsedXml(htmlOf(document));
        QVERIFY2(html.error.isEmpty(), qPrintable(html.error));
        for (const char* element : {"script", "img", "svg", "a", "link", "iframe"})
            QVERIFY(!html.elements.contains(element));
        QCOMPARE(html.elements.count("style"), 1);
        QVERIFY2(html.texts.count(told) >= 7, qPrintable(html.texts.join('\n')));

        QTextDocument markdown;
        read(markdown, document);
        const QString text = markdown.toPlainText();
        QVERIFY2(text.count(told.trimmed()) >= 4, qPrintable(told + "\n" + text));
        const QTextTable* table = tableIn(markdown);
        QVERIFY(table && table->rows() == 3 && table->columns() == 3);
        QCOMPARE(cellText(*table, 1, 0), told);
        QCOMPARE(cellText(*table, 0, 1), told);
        QCOMPARE(cellText(*table, 2, 2), QString("1"));
        QVERIFY(!text.contains("\x1b") && !text.contains("\x07"));
        for (QTextBlock block = markdown.begin(); block.isValid(); block = block.next()) {
            for (auto it = block.begin(); !it.atEnd(); ++it) QVERIFY(!it.fragment().charFormat().isAnchor());
        }
    }

    void codeKeepsItsLinesAndItsFence() {
        const std::string text = "first\n```\n~~~~\n````\nlast <b>&\n";
        const std::string fenced = markdownFence(text, "sh");
        QVERIFY(fenced.starts_with("`````sh\n") && fenced.ends_with("\n`````\n"));
        QTextDocument reader;
        reader.setMarkdown(QString::fromStdString(fenced), QTextDocument::MarkdownDialectGitHub);
        QVERIFY2(reader.toPlainText().trimmed() == QString::fromStdString(text).trimmed(),
                 qPrintable(reader.toPlainText()));
        const auto html = test::parsedXml(htmlOf({"t", {{CodeBlock{text, "sh"}}}}));
        QCOMPARE(html.texts.last(), QString::fromStdString(text));
    }

    void numbersAreNoLists() {
        for (const char* plain : {"88.56 %", "3.5 s", "1.", "2026-11-25 18:13 UTC", "0.5", "10"}) {
            QTextDocument reader;
            reader.setMarkdown(QString::fromStdString(markdownText(plain)), QTextDocument::MarkdownDialectGitHub);
            QCOMPARE(reader.toPlainText(), QString(plain));
        }
        QCOMPARE(markdownText("88.56 %"), std::string("88.56 %"));  // people read the source, too
    }

    void picturesLieBesideMarkdownAndInHtml() {
        const Document document{
            "t",
            {{Figure{"loss", "Loss | curve", "<svg/>\n"}}, {Folded{"more", {{Figure{"time", "Time", "<svg/>\n"}}}}}}};
        const std::string text = markdownOf(document, "a (b) <c>-files");
        QVERIFY2(text.find("](<a (b) %3Cc%3E-files/loss.svg>)") != text.npos, text.c_str());
        QCOMPARE(figuresOf(document).size(), std::size_t{2});
        QVERIFY(markdownOf(document, "").find("Picture left out: Time") != text.npos);
        QCOMPARE(test::parsedXml(htmlOf(document)).elements.count("svg"), 2);
    }

    void longNamesAreShortened() {
        QCOMPARE(shortened("abcdef", 6), std::string("abcdef"));
        QCOMPARE(shortened("abcdefg", 6), std::string("abcde…"));
        QCOMPARE(shortened("äöüäöüäöü", 4), std::string("äöü…"));
        QCOMPARE(charactersOf("äö…"), std::size_t{3});
    }
};

QTEST_MAIN(TestDocument)
#include "tst_document.moc"
