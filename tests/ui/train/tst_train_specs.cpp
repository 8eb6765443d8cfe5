#include <QComboBox>
#include <QJsonDocument>
#include <QLineEdit>
#include <QPushButton>

#include "page_bench.h"
#include "ui/train/spec_file.h"

using namespace lockstep::ui;

namespace {

QString codesOf(const Problems& problems) {
    QStringList codes;
    for (const auto& each : problems) codes << QString::fromStdString(each.code);
    return codes.join(' ');
}

}  // namespace

// Specs that people edited by hand, opened into the form: what is wrong is named, what is valid is kept.
class TestTrainSpecs : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        m_bench = std::make_unique<PageBench>();
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->hasForm(), 20000);
    }
    void cleanupTestCase() { m_bench.reset(); }

    void files_data() {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("kept");
        const auto row = [](const char* name, const char* json, QStringList words, const char* kept = "mine") {
            QTest::newRow(name) << QByteArray(json) << words << QString(kept);
        };
        row("unknown field", R"({"title": "mine", "dataset": "synthetic", "tomorrow": 1})",
            {"recipe.json: tomorrow: there is no setting \"tomorrow\" here", "Known settings: title"});
        row("unknown setting of a choice",
            R"({"title": "mine", "dataset": "synthetic", "optimizer": {"id": "sgd", "momentmu": 1}})",
            {"optimizer.momentmu"});
        row("wrong type", R"({"title": "mine", "dataset": "synthetic", "epochs": "many"})",
            {"recipe.json: epochs: \"many\" is not a whole number", "epochs: \"many\""});
        row("wrong kind of choice", R"({"title": "mine", "dataset": "synthetic", "optimizer": [1]})",
            {"optimizer: \"[1]\" is not a name or an object"});
        row("newer version", R"({"schema_version": 7, "title": "mine", "dataset": "synthetic"})",
            {"recipe.json names a version of its own (schema_version: 7)"});
        row("out of range",
            R"({"title": "mine", "dataset": "synthetic", "batch": 0, "optimizer": {"id": "sgd", "momentum": 4}})",
            {"batch: 0 is outside", "optimizer.momentum: 4 is outside"});
        row("unknown model", R"({"title": "mine", "dataset": "synthetic", "model": "resnet-9000"})",
            {"no model called \"resnet-9000\""});
        row("broken", R"({"title": "lost", "epochs": })",
            {"recipe.json is not valid JSON: the trouble is at line 1, column 29", "was not opened"}, "before");
        row("twice", R"({"title": "mine", "dataset": "synthetic", "epochs": 1, "epochs": 2})",
            {"the key \"epochs\" appears twice"});
        row("no object", "[]", {"was not opened"}, "before");
        row("empty", "", {"recipe.json is not valid JSON"}, "before");
    }
    void files() {
        QFETCH(QByteArray, json);
        QFETCH(QStringList, words);
        auto before = synthetic();
        before["title"] = "before";
        m_bench->page->setSpec(before);
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 20000);
        const auto file = m_bench->file("recipe.json", json);
        m_bench->drop(file);
        for (const auto& each : words)
            QTRY_VERIFY2_WITH_TIMEOUT(m_bench->shows(each), qPrintable(each + " in\n" + m_bench->visibleText()), 20000);
        m_bench->shot(QString("spec-") + QTest::currentDataTag());
        QTEST(m_bench->find<QLineEdit>("title")->text(), "kept");
        QFETCH(QString, kept);
        if (kept == "mine") {
            QCOMPARE(m_bench->page->spec(), QJsonDocument::fromJson(json).object());  // nothing is thrown away
            m_bench->page->undoStack()->undo();
        }
        QCOMPARE(m_bench->page->spec(), before);
        QTest::keyClick(m_bench->page.get(), Qt::Key_Escape);
        QVERIFY(!m_bench->shows("recipe.json"));
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 20000);
    }

    void whatIsUnknownCanBeLeftOut() {
        auto strange = synthetic();
        strange["tomorrow"] = QJsonObject{{"a", 1}};
        strange["optimizer"] = QJsonObject{{"id", "sgd"}, {"momentum", 0.5}, {"momentmu", 0.5}};
        m_bench->page->setSpec(strange);
        auto* leaveOut = m_bench->action("Leave out");
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->shows("tomorrow"), 20000);
        QVERIFY(!m_bench->page->canStart() && leaveOut->isEnabled());
        QVERIFY(leaveOut->toolTip().contains("optimizer.momentmu, tomorrow"));
        leaveOut->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->page->canStart(), 20000);
        QVERIFY(!leaveOut->isEnabled() && !m_bench->shows("tomorrow"));
        QCOMPARE(m_bench->page->spec()["optimizer"].toObject(), (QJsonObject{{"id", "sgd"}, {"momentum", 0.5}}));
        m_bench->page->undoStack()->undo();
        QCOMPARE(m_bench->page->spec(), strange);
        m_bench->page->undoStack()->undo();
    }

    // A problem that has nothing to do with the data must not stay with the data.
    void aRepairedSpecStarts() {
        auto wrong = synthetic();
        wrong["learning_rate"] = "fast";
        m_bench->page->setSpec(wrong);
        QTRY_VERIFY_WITH_TIMEOUT(m_bench->shows("learning_rate: \"fast\" is not a number"), 20000);
        QTest::qWait(300);
        auto* rate = m_bench->find<QLineEdit>("learning_rate");
        QCOMPARE(rate->text(), QString("fast"));
        rate->setFocus();
        rate->selectAll();
        QTest::keyClicks(rate, "0.05");
        QTRY_VERIFY2_WITH_TIMEOUT(m_bench->page->canStart(), qPrintable(m_bench->visibleText()), 20000);
        QVERIFY(!m_bench->shows("learning_rate:"));
    }

    void filesThatCannotBeRead() {
        const auto folder = m_bench->folder.path();
        QCOMPARE(codesOf(readSpecFile(folder + "/none.json").problems), QString("spec.unreadable"));
        QCOMPARE(codesOf(readSpecFile(folder).problems), QString("spec.unreadable"));
        const auto large = m_bench->file("large.json", "{\"title\": \"" + QByteArray(2 << 20, 'x') + "\"}");
        QCOMPARE(codesOf(readSpecFile(large).problems), QString("spec.too-large"));
        QVERIFY(readSpecFile(large).spec.isEmpty());
        const auto good = m_bench->file("good.json", R"({"epochs": 3})");
        QVERIFY(readSpecFile(good).problems.empty());
        QCOMPARE(readSpecFile(good).spec, (QJsonObject{{"epochs", 3}}));
    }

private:
    std::unique_ptr<PageBench> m_bench;
};

QTEST_MAIN(TestTrainSpecs)
#include "tst_train_specs.moc"
