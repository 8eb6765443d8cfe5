#include <QDesktopServices>
#include <QFileDialog>
#include <QLineEdit>

#include "shell_support.h"
#include "ui/shell/card_writer.h"
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
void chooseFile(const QString& file) {
    QTimer::singleShot(300, qApp, [file] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        if (!dialog) return;
        dialog->findChild<QLineEdit*>("fileNameEdit")->setText(file);
        QMetaObject::invokeMethod(dialog, "accept", Qt::QueuedConnection);
    });
}

}  // namespace

// The window has model cards written by the real program.
class TestCardWriter : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
        QVERIFY(m_home.train(1, 64).waitForFinished(kPatience));
        QVERIFY(m_home.query()->find(1));
    }

    void theEndingSaysWhichKind() {
        CardWriter writer(LOCKSTEP_PROGRAM, plainWords);
        QSignalSpy written(&writer, &CardWriter::written), failed(&writer, &CardWriter::failed);
        writer.write(1, path("card.html"));
        writer.write(1, path("card.md"));
        QTRY_COMPARE_WITH_TIMEOUT(written.size(), 2, kPatience);
        QVERIFY(failed.isEmpty());
        QVERIFY(contents(path("card.html")).startsWith("<!DOCTYPE html>"));
        QVERIFY(contents(path("card.md")).startsWith("# "));
        QVERIFY(QDir(path("card-files")).entryList({"*.svg"}).size() > 3);
    }

    void whatGoesWrongIsSaidInWords() {
        CardWriter writer(LOCKSTEP_PROGRAM, plainWords);
        QSignalSpy failed(&writer, &CardWriter::failed);
        writer.write(99, path("none.html"));
        QTRY_COMPARE_WITH_TIMEOUT(failed.size(), 1, kPatience);
        const auto why = failed.front()[1].value<Explanation>();
        QVERIFY2(why.what.startsWith("There is no trial 99") && !why.remedy.isEmpty(), qPrintable(why.what));
        writer.write(1, path("no/such/folder.html"));
        QTRY_COMPARE_WITH_TIMEOUT(failed.size(), 2, kPatience);
        QVERIFY(failed.back()[1].value<Explanation>().what.contains("folder.html"));
        CardWriter nobody("/nowhere/lockstep", plainWords);
        QSignalSpy gone(&nobody, &CardWriter::failed);
        nobody.write(1, path("none.html"));
        QTRY_COMPARE_WITH_TIMEOUT(gone.size(), 1, kPatience);
        QVERIFY(gone.front()[1].value<Explanation>().what.contains("engine.cannot-start"));
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

private:
    QString path(const QString& name) const { return m_files.filePath(name); }

    Home m_home;
    QTemporaryDir m_files;
};

QTEST_MAIN(TestCardWriter)
#include "tst_card_writer.moc"
