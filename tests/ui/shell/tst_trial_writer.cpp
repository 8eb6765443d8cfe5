#include <QDesktopServices>
#include <QFileDialog>
#include <QLineEdit>

#include "shell_support.h"
#include "tests/ui/queue/made_queue.h"
#include "ui/history/trial_writer.h"
#include "ui/trials/trials_table.h"

using namespace lockstep;
using namespace lockstep::ui;

namespace {

QByteArray contents(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

// Stands in for the browser.
class Browser : public QObject {
    Q_OBJECT
public:
    Browser() { QDesktopServices::setUrlHandler("file", this, "open"); }
    ~Browser() override { QDesktopServices::unsetUrlHandler("file"); }
    QStringList opened;
public slots:
    void open(const QUrl& url) { opened << url.toLocalFile(); }
};

// Chooses a file in the dialog that is about to open.
void chooseFile(const QString& file, int filter = 0) {
    QTimer::singleShot(300, qApp, [file, filter] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        if (!dialog) return;
        dialog->selectNameFilter(dialog->nameFilters()[filter]);
        dialog->findChild<QLineEdit*>("fileNameEdit")->setText(file);
        QMetaObject::invokeMethod(dialog, "accept", Qt::QueuedConnection);
    });
}

}  // namespace

// The window has a trial written by the real program.
class TestTrialWriter : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
        QVERIFY(m_home.train(1, 64).waitForFinished(kPatience));
        QVERIFY(m_home.query()->find(1));
    }

    void everyFormatIsWritten_data() {
        QTest::addColumn<QString>("id");
        QTest::addColumn<int>("variant");
        for (const TrialFormat& format : trialFormats()) {
            for (int i = 0; i < static_cast<int>(format.variants.size()); ++i)
                QTest::addRow("%s %d", qPrintable(format.id), i) << format.id << i;
        }
    }
    void everyFormatIsWritten() {
        QFETCH(QString, id);
        QFETCH(int, variant);
        const TrialFormat& format = trialFormat(id);
        const auto& chosen = format.variants[static_cast<std::size_t>(variant)];
        const bool isFolder = chosen.ending.isEmpty();
        const QString file = path(id + (isFolder ? "" : QString("%1.%2").arg(variant).arg(chosen.ending)));
        QVERIFY(!isFolder || QDir().mkdir(file));
        TrialWriter writer(LOCKSTEP_PROGRAM);
        QSignalSpy written(&writer, &TrialWriter::written), failed(&writer, &TrialWriter::failed);
        writer.write(1, format, chosen, file);
        QTRY_COMPARE_WITH_TIMEOUT(written.size() + failed.size(), 1, kPatience);
        if (chosen.after.contains("torchvision")) {  // which has no such model
            QVERIFY(failed.size() == 1 && failed[0][1].value<Explanation>().what.contains("torchvision"));
            return;
        }
        QCOMPARE(written.size(), 1);
        QVERIFY(isFolder ? QDir(file).entryList(QDir::Files).size() == 1 : contents(file).size() > 100);
        QCOMPARE(written[0][1].toStringList().first(), format.command);
    }

    // By the name's ending, else by the filter; what has no ending gets that of the filter.
    void theDialogDecidesTheVariant_data() {
        QTest::addColumn<QString>("id");
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("filter");
        QTest::addColumn<QStringList>("command");
        const auto row = [this](const char* id, const char* name, int filter, QStringList words) {
            words.replaceInStrings("FILE", path(name));
            QTest::addRow("%s as %s", id, name) << QString(id) << QString(name) << filter << words;
        };
        row("card", "x.html", 0, {"card", "1", "--html", "FILE"});
        row("card", "y.md", 0, {"card", "1", "--markdown", "FILE"});
        row("onnx", "x.onnx", 0, {"export", "1", "--onnx", "FILE", "--normalise"});
        row("onnx", "y.onnx", 1, {"export", "1", "--onnx", "FILE"});
        row("onnx", "z.onnx", 3, {"export", "1", "--onnx", "FILE", "--keep-norms"});
        row("curves", "x.csv", 0, {"export", "1", "--csv", "FILE"});
    }
    void theDialogDecidesTheVariant() {
        QFETCH(QString, id);
        QFETCH(QString, name);
        QFETCH(int, filter);
        TrialWriter writer(LOCKSTEP_PROGRAM);
        QSignalSpy written(&writer, &TrialWriter::written);
        QWidget window;
        chooseFile(path(name), filter);
        writer.ask(1, trialFormat(id), &window);
        QTRY_COMPARE_WITH_TIMEOUT(written.size(), 1, kPatience);
        QTEST(written[0][1].toStringList(), "command");
        const QByteArray bytes = contents(path(name));
        QCOMPARE(bytes.startsWith("<!DOCTYPE html>"), name.endsWith(".html"));
        QCOMPARE(bytes.startsWith("# "), name.endsWith(".md"));
    }

    // Of formats that need one; others have no use for the words, which their command would refuse.
    void aCheckpointIsNamed() {
        TrialWriter writer(LOCKSTEP_PROGRAM);
        QSignalSpy written(&writer, &TrialWriter::written), failed(&writer, &TrialWriter::failed);
        const auto write = [&](const char* id, const QString& file, const char* checkpoint) {
            const TrialFormat& format = trialFormat(id);
            writer.write(1, format, format.variants[0], file, checkpoint);
        };
        write("weights", path("last.safetensors"), "last");
        QTRY_COMPARE_WITH_TIMEOUT(written.size(), 1, kPatience);
        QCOMPARE(written[0][1].toStringList(),
                 (QStringList{"export-weights", "1", "--checkpoint", "last", path("last.safetensors")}));
        write("onnx", path("best.onnx"), "best");
        QTRY_COMPARE_WITH_TIMEOUT(written.size(), 2, kPatience);
        write("curves", path("of-last.csv"), "last");
        QTRY_COMPARE_WITH_TIMEOUT(written.size(), 3, kPatience);
        QCOMPARE(written[2][1].toStringList(), (QStringList{"export", "1", "--csv", path("of-last.csv")}));
        write("weights", path("none.safetensors"), "epoch-7");
        QTRY_COMPARE_WITH_TIMEOUT(failed.size(), 1, kPatience);
        QVERIFY(failed[0][1].value<Explanation>().what.contains("7"));
    }

    void whatGoesWrongIsSaidInWords() {
        const TrialFormat& card = trialFormat("card");
        TrialWriter writer(LOCKSTEP_PROGRAM);
        QSignalSpy failed(&writer, &TrialWriter::failed);
        writer.write(99, card, card.variants[0], path("none.html"));
        QTRY_COMPARE_WITH_TIMEOUT(failed.size(), 1, kPatience);
        const auto why = failed.front()[1].value<Explanation>();
        QVERIFY2(why.what.startsWith("There is no trial 99") && !why.remedy.isEmpty(), qPrintable(why.what));
        QFile plain(path("plain"));
        QVERIFY(plain.open(QIODevice::WriteOnly));
        writer.write(1, card, card.variants[0], path("plain/folder.html"));
        QTRY_COMPARE_WITH_TIMEOUT(failed.size(), 2, kPatience);
        QVERIFY(failed.back()[1].value<Explanation>().what.contains(plain.fileName()));
        TrialWriter nobody("/nowhere/lockstep");
        QSignalSpy gone(&nobody, &TrialWriter::failed);
        nobody.write(1, card, card.variants[0], path("none.html"));
        QTRY_COMPARE_WITH_TIMEOUT(gone.size(), 1, kPatience);
        QVERIFY(gone.front()[1].value<Explanation>().what.contains("/nowhere/lockstep"));
        QVERIFY(!QFile::exists(path("none.html")));
    }

    // By the button of an ended run, and by the command on the page of trials.
    void aPersonSavesAndSeesIt() {
        Browser browser;
        const auto window = m_home.open();
        window->openRun(1);
        QTRY_VERIFY_WITH_TIMEOUT(buttonWith(*window, "Save model card"), kPatience);
        chooseFile(path("own"));
        buttonWith(*window, "Save model card")->click();
        QTRY_COMPARE_WITH_TIMEOUT(browser.opened, QStringList{path("own.html")}, kPatience);
        QVERIFY(window->commands().run("page.trials"));
        QTRY_VERIFY_WITH_TIMEOUT(window->commands().find("trial.card"), kPatience);
        QVERIFY(!window->commands().run("trial.card"));  // of which?
        auto* table = window->findChild<TrialsTable*>();
        QTRY_VERIFY_WITH_TIMEOUT(table->model()->rowCount() == 1, kPatience);
        table->selectRow(0);
        chooseFile(path("other.html"));
        QVERIFY(window->commands().run("trial.card"));
        QTRY_COMPARE_WITH_TIMEOUT(browser.opened.size(), 2, kPatience);
        QVERIFY(contents(path("other.html")).contains("Results"));
    }

    // By the button of the page that compares; the page of the queue tells the command.
    void aPersonReportsASweep() {
        test::MadeQueue made(m_home.places);
        made.keep();
        const auto sweep = made.sweep("nets", 2);
        for (std::int64_t cell = 0; cell < 2; ++cell)
            made.finish("", 0.5 + 0.1 * static_cast<double>(cell), GroupPlace{sweep, cell, 0});
        Browser browser;
        const auto window = m_home.open();
        QVERIFY(window->commands().run("page.compare"));
        QTRY_VERIFY_WITH_TIMEOUT(window->commands().find("compare.report")->isEnabled(), kPatience);
        chooseFile(path("compared"));
        QVERIFY(window->commands().run("compare.report"));
        QTRY_COMPARE_WITH_TIMEOUT(browser.opened, QStringList{path("compared.html")}, kPatience);
        QVERIFY(contents(path("compared.html")).contains("60.00 %"));
        QVERIFY(window->commands().run("page.queue"));
        QTRY_VERIFY_WITH_TIMEOUT(buttonWith(*window, "Report"), kPatience);
        chooseFile(path("queued.html"));
        buttonWith(*window, "Report")->click();
        QTRY_COMPARE_WITH_TIMEOUT(browser.opened.size(), 2, kPatience);
        QVERIFY(textWith(*window, "Written to").contains("lockstep report 1 --html"));
        QCOMPARE(contents(path("queued.html")).contains("nets"), true);
    }

private:
    QString path(const QString& name) const { return m_files.filePath(name); }

    Home m_home;
    QTemporaryDir m_files;
};

QTEST_MAIN(TestTrialWriter)
#include "tst_trial_writer.moc"
