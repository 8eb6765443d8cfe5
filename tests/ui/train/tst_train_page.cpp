#include <QAccessible>
#include <QApplication>
#include <QClipboard>
#include <QDropEvent>
#include <QJsonDocument>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QProcess>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include "app/words.h"
#include "ui/style/theme.h"
#include "ui/views/train_page.h"

using namespace lockstep::ui;

namespace {

Explain explain() {
    return [words = std::make_shared<lockstep::Words>()](const lockstep::Problem& problem) {
        return Explanation{QString::fromStdString(words->what(problem)), QString::fromStdString(words->remedy(problem))};
    };
}

QJsonObject synthetic() {
    return {{"dataset", QJsonObject{{"id", "synthetic"}}}, {"model", QJsonObject{{"id", "mlp"}}}, {"devices", "cpu:2"}, {"epochs", 2}};
}

}  // namespace

// The page with the real engine, as a person uses it. LOCKSTEP_SHOTS names a folder for pictures of its states.
class TestTrainPage : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        qputenv("LOCKSTEP_HOME", m_folder.path().toUtf8());
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_folder.filePath("settings"));
        QCoreApplication::setOrganizationName("lockstep-test");
        applyTheme(*qApp, ThemeChoice::Light);
        m_service = std::make_unique<EngineService>(LOCKSTEP_PROGRAM);
        m_launcher = std::make_unique<RunLauncher>(LOCKSTEP_PROGRAM, lockstep::placesFromEnvironment());
        m_page = std::make_unique<TrainPage>(m_service.get(), m_launcher.get(), explain());
        m_page->resize(1280, 800);
        m_page->show();
        QTRY_VERIFY_WITH_TIMEOUT(!m_page->spec().isEmpty(), 60000);
    }

    void cleanupTestCase() {
        m_page.reset();
        m_launcher.reset();
        m_service.reset();
    }

    void theFirstFormCanStart() {
        m_page->setHomeIsEmpty(true);
        const auto* welcome = m_page->findChild<QPushButton*>("startPreset");
        QVERIFY(welcome->isVisible());
        QTest::qWait(1500);
        shot("empty");
        m_page->setHomeIsEmpty(false);
        QVERIFY(!welcome->isVisible());
        m_page->setSpec(synthetic());
        QTRY_VERIFY_WITH_TIMEOUT(m_page->canStart(), 60000);
    }

    void aFilledForm() {
        if (!QFileInfo::exists("/usr/share/datasets/fashion-mnist")) QSKIP("dataset-fashion-mnist is not installed");
        m_page->setSpec({{"dataset", "fashion-mnist"}, {"model", "fashion-cnn"}, {"devices", "cpu:4"}, {"batch", 130},
                         {"schedule", "one-cycle"}, {"augmentation", QJsonObject{{"flip", true}, {"crop_padding", 3}, {"cutout", 8}}}});
        QTRY_VERIFY_WITH_TIMEOUT(m_page->canStart(), 60000);
        QTest::qWait(3000);
        shot("filled");
        for (auto* area : m_page->findChildren<QScrollArea*>()) {
            area->verticalScrollBar()->setValue(100000);
        }
        QTest::qWait(100);
        shot("filled-below");
        applyTheme(*qApp, ThemeChoice::Dark);
        QTest::qWait(100);
        shot("filled-dark");
        applyTheme(*qApp, ThemeChoice::Light);
        for (auto* area : m_page->findChildren<QScrollArea*>()) {
            area->verticalScrollBar()->setValue(0);
        }
    }

    void problemsAreLiveAndBlockTheStart() {
        m_page->setSpec(synthetic());
        QTRY_VERIFY_WITH_TIMEOUT(m_page->canStart(), 60000);
        auto* epochs = m_page->findChild<QLineEdit*>("epochs");
        QVERIFY(epochs);
        epochs->setFocus();
        epochs->selectAll();
        QTest::keyClicks(epochs, "0");
        QVERIFY(!m_page->canStart());
        QTRY_VERIFY_WITH_TIMEOUT(shows("epochs: 0 is outside"), 30000);
        auto strange = m_page->spec();
        strange["tomorrow"] = 1;
        strange["devices"] = "tpu:3";
        strange["learning_rate"] = "fast";
        m_page->setSpec(strange);
        QTRY_VERIFY_WITH_TIMEOUT(shows("tomorrow"), 30000);
        QTest::qWait(500);
        shot("problems");
        QVERIFY(!m_page->findChild<QPushButton*>("startTraining")->isEnabled());
        QCOMPARE(m_page->spec()["tomorrow"].toInt(), 1);
        while (m_page->history().canUndo()) m_page->history().undo();
        QTRY_VERIFY_WITH_TIMEOUT(!shows("tomorrow"), 30000);
    }

    void aDropIsRecognisedOrExplained() {
        drop(m_folder.path());
        QTRY_VERIFY_WITH_TIMEOUT(shows(m_folder.path()), 30000);
        QTest::qWait(200);
        shot("bad-drop");
        const auto path = QStringLiteral("/usr/share/datasets/fashion-mnist");
        if (!QFileInfo::exists(path)) QSKIP("dataset-fashion-mnist is not installed");
        drop(path);
        QTRY_COMPARE_WITH_TIMEOUT(m_page->spec()["dataset"].toObject()["path"].toString(), path, 60000);
        QVERIFY(shows("Recognised as"));
    }

    void theCommandMeansTheSameSpec() {
        m_page->setSpec({{"title", "a \"quoted\" name's"}, {"dataset", QJsonObject{{"id", "synthetic"}}}, {"model", "lenet5"},
                         {"optimizer", QJsonObject{{"id", "adamw"}}}, {"learning_rate", 1e-05}, {"seed", 77},
                         {"augmentation", QJsonObject{{"flip", true}}}, {"bucket_bytes", 8192}});
        QPushButton* copy = nullptr;
        for (auto* button : m_page->findChildren<QPushButton*>()) copy = button->text() == "Copy as command" ? button : copy;
        copy->click();
        auto command = QApplication::clipboard()->text();
        QVERIFY(command.startsWith("lockstep train "));
        const auto fromCommand = printed("exec " LOCKSTEP_PROGRAM + command.mid(8));
        QFile file(m_folder.filePath("spec.json"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QJsonDocument(m_page->spec()).toJson());
        file.close();
        QVERIFY(!fromCommand.isEmpty());
        QCOMPARE(fromCommand, printed("exec " LOCKSTEP_PROGRAM " train --spec " + file.fileName()));
    }

    void everyControlHasAName() {
        for (auto* widget : m_page->findChildren<QWidget*>()) {
            if (!(widget->focusPolicy() & Qt::TabFocus) || !widget->isVisible()) continue;
            auto* role = QAccessible::queryAccessibleInterface(widget);
            const bool inner = widget->objectName().startsWith("qt_");
            QVERIFY2(inner || widget->inherits("QScrollArea") || !role->text(QAccessible::Name).isEmpty(),
                     widget->metaObject()->className());
        }
    }

    void theButtonStartsARun() {
        m_page->setSpec(synthetic());
        QTRY_VERIFY_WITH_TIMEOUT(m_page->canStart(), 60000);
        QSignalSpy started(m_launcher.get(), &RunLauncher::started);
        QTest::mouseClick(m_page->findChild<QPushButton*>("startTraining"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(started.size(), 1, 120000);
        QTRY_VERIFY_WITH_TIMEOUT(m_page->canStart(), 30000);             // the next one, if wanted
    }

private:
    bool shows(const QString& text) const {
        for (auto* label : m_page->findChildren<QLabel*>()) {
            if (label->isVisibleTo(m_page.get()) && label->text().contains(text)) return true;
        }
        return false;
    }

    void drop(const QString& path) {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(path)});
        QDragEnterEvent enter({100, 100}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_page.get(), &enter);
        QDropEvent event({100, 100}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_page.get(), &event);
    }

    static QByteArray printed(const QString& command) {
        QProcess shell;
        shell.start("/bin/sh", {"-c", command + " --print-spec"});
        shell.waitForFinished();
        return shell.readAllStandardOutput();
    }

    void shot(const QString& name) const {
        const auto folder = qEnvironmentVariable("LOCKSTEP_SHOTS");
        if (!folder.isEmpty()) m_page->grab().save(folder + '/' + name + ".png");
    }

    QTemporaryDir m_folder;
    std::unique_ptr<EngineService> m_service;
    std::unique_ptr<RunLauncher> m_launcher;
    std::unique_ptr<TrainPage> m_page;
};

QTEST_MAIN(TestTrainPage)
#include "tst_train_page.moc"
