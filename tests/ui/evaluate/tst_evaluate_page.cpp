#include <QAbstractScrollArea>
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSlider>
#include <QSpinBox>
#include <QtTest>

#include "app/words.h"
#include "tests/ui/run_home.h"
#include "ui/evaluate/answer_bars.h"
#include "ui/evaluate/confusion_view.h"
#include "ui/evaluate/evaluate_page.h"
#include "ui/style/elided_label.h"
#include "ui/style/theme.h"

using namespace lockstep;
using namespace lockstep::ui;

namespace {

constexpr int kPatience = 60'000;

Explanation inWords(const Problem& problem) {
    static const Words words;
    return {QString::fromStdString(words.what(problem)), QString::fromStdString(words.remedy(problem))};
}

// In the dialog that is about to open.
void nameFile(const QString& file) {
    QTimer::singleShot(300, qApp, [file] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        if (!dialog) return;
        dialog->findChild<QLineEdit*>("fileNameEdit")->setText(file);
        QMetaObject::invokeMethod(dialog, "accept", Qt::QueuedConnection);
    });
}

// A home with trials that a real engine trained, and the page over it.
class Bench {
public:
    explicit Bench(const QStringList& more = {}, int trials = 1) {
        for (int i = 0; i < trials; ++i)
            run(QStringList{"train", "--dataset", "synthetic", "--model", "mlp", "--epochs", "2", "--devices", "cpu:1",
                            "--set", "dataset.samples=400", "dataset.test_samples=120", "dataset.noise=6",
                            QString("seed=%1").arg(i + 1)} +
                more);
    }
    void run(const QStringList& words) {
        QProcess& process = home.start(LOCKSTEP_PROGRAM, words);
        if (!process.waitForFinished(kPatience) || process.exitCode() != 0)
            qFatal("lockstep %s ended with %d", qPrintable(words.join(' ')), process.exitCode());
    }
    void trainLanguage() {
        QFile file(texts.filePath("text.txt"));
        if (!file.open(QIODevice::WriteOnly) || file.write(QByteArray("to be or not to be. ").repeated(200)) <= 0)
            qFatal("%s cannot be written", qPrintable(file.fileName()));
        file.close();
        run({"train", "--dataset", "text", "--data", file.fileName(), "--model", "gpt", "--epochs", "1", "--devices",
             "cpu:1", "--batch", "8", "--set", "dataset.sequence=32", "model.width=32", "model.heads=2"});
    }
    // A model that has learnt nothing, so that some of its answers are wrong.
    void trainTexts() {
        writeTexts("all is well", "good", "bad");
        run({"train", "--data", tableOfTexts(), "--model", "text-encoder", "--epochs", "1", "--devices", "cpu:1",
             "--batch", "8", "--lr", "0", "--set", "model.width=16", "model.heads=2", "model.layers=1"});
    }
    void writeTexts(const QByteArray& well, const QByteArray& good, const QByteArray& bad) {
        QFile table(tableOfTexts());
        if (!table.open(QIODevice::WriteOnly)) qFatal("%s cannot be written", qPrintable(table.fileName()));
        table.write("text,label\n");
        for (int i = 0; i < 40; ++i) table.write(i % 2 ? well + ',' + good + '\n' : "nothing works," + bad + '\n');
    }
    QString tableOfTexts() const { return texts.filePath("texts.csv"); }
    void open() {
        engine = std::make_unique<EngineService>(LOCKSTEP_PROGRAM);
        history = std::make_unique<HistoryService>(home.places);
        page = std::make_unique<EvaluatePage>(LOCKSTEP_PROGRAM, engine.get(), history.get(), inWords);
        page->resize(1100, 760);
        page->show();
        QTRY_COMPARE_WITH_TIMEOUT(page->trial() > 0, true, kPatience);
    }
    template <class Widget>
    Widget& find(const char* name) const {
        return *page->findChild<Widget*>(name);
    }
    QAction& action(const QString& id) const {
        for (QAction* each : page->commands()) {
            if (each->objectName() == "evaluate." + id) return *each;
        }
        qFatal("no command %s", qPrintable(id));
    }
    void choose(const char* name, int index) const {
        auto& box = find<QComboBox>(name);
        box.setCurrentIndex(index);
        emit box.activated(index);
    }
    void drop(const QMimeData& data) const {
        QDragEnterEvent enter({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(page.get(), &enter);
        QDropEvent dropped({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(page.get(), &dropped);
    }
    void dropFile(const QString& path) const {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(path)});
        drop(data);
    }
    // As the dialog is told; the command that does the same.
    QString exportModel(const QString& file) const {
        nameFile(file);
        action("onnx").trigger();
        auto& copies = find<QPushButton>("copyNotice");
        if (!QTest::qWaitFor([&copies] { return copies.isVisible(); }, kPatience)) return {};
        QTest::mouseClick(&copies, Qt::LeftButton);
        return QApplication::clipboard()->text();
    }
    QString sampleText(int at) const { return find<QListWidget>("sampleList").item(at)->text(); }
    int samples() const { return find<QListWidget>("sampleList").count(); }
    QString answers() const { return find<AnswerBars>("answers").accessibleDescription(); }

    RunHome home;
    QTemporaryDir texts;
    std::unique_ptr<EngineService> engine;
    std::unique_ptr<HistoryService> history;
    std::unique_ptr<EvaluatePage> page;
};

}  // namespace

// With real trials and the real engine behind it.
class TestEvaluatePage : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
        applyTheme(*qApp, ThemeChoice::Light);
    }

    // Of 1024 x 640, beside the window's navigation: no words are cut in the middle.
    void aSmallWindowIsEnough() {
        Bench bench({"--title", "a trial whose title is rather long"}, 2);
        bench.open();
        QTRY_VERIFY_WITH_TIMEOUT(bench.find<ConfusionView>("confusionMatrix").isVisible(), kPatience);
        const QSize least = bench.page->minimumSizeHint();
        QVERIFY2(least.width() <= 876, qPrintable(QString::number(least.width())));
        bench.page->resize(876, 600);
        QTest::qWait(100);
        auto& figures = bench.find<QLabel>("figures");
        figures.setText("10,000 samples   ·   accuracy 91.17 %   ·   calibration error 12.12 %");
        QTRY_VERIFY(figures.width() >= figures.sizeHint().width());
        for (const auto* each : bench.page->findChildren<QLabel*>()) {
            const bool isElided = dynamic_cast<const ElidedLabel*>(each) != nullptr;
            if (!each->isVisible() || each->wordWrap() || isElided || each->text().isEmpty()) continue;
            QVERIFY2(each->width() >= each->minimumSizeHint().width(), qPrintable(each->text()));
        }
        QCOMPARE(bench.page->size(), QSize(876, 600));
    }

    // Open a finished trial, evaluate it, click a cell, see its images, drop a picture, read the answer.
    void theWholeStory() {
        Bench bench;
        bench.open();
        auto& matrix = bench.find<ConfusionView>("confusionMatrix");
        QTRY_VERIFY_WITH_TIMEOUT(matrix.isVisible(), kPatience);  // of training, with a slider over its epochs
        QTRY_COMPARE_WITH_TIMEOUT(bench.find<QSlider>("epoch").value(), 1, kPatience);
        QVERIFY(bench.find<QSlider>("epoch").isVisible());
        QTRY_VERIFY_WITH_TIMEOUT(bench.find<QPushButton>("evaluateForSamples").isVisible(), kPatience);
        QCOMPARE(bench.samples(), 0);

        QTest::mouseClick(&bench.find<QPushButton>("evaluateForSamples"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(bench.samples() > 0, kPatience);  // its mistakes
        const auto kept = bench.home.query()->evaluation(1);
        QVERIFY(kept && kept->samples == 120);
        QVERIFY(bench.find<QLabel>("figures").text().contains("120 samples"));
        const auto counts = ConfusionMatrix::from(kept->counts).value();
        const auto worst = counts.confusions().front();
        QTest::mouseClick(matrix.viewport(), Qt::LeftButton, {}, matrix.rectOf({worst.label, worst.answer}).center());
        QTRY_COMPARE_WITH_TIMEOUT(bench.samples(), static_cast<int>(worst.count), kPatience);

        const QString picture = QString::fromLocal8Bit(qgetenv("LOCKSTEP_HOME")) + "/picture.png";
        QVERIFY(bench.find<QListWidget>("sampleList").item(0)->icon().pixmap(64, 64).save(picture));
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(picture)});
        bench.drop(data);
        QTRY_VERIFY_WITH_TIMEOUT(!bench.answers().isEmpty(), kPatience);
        QCOMPARE(bench.answers().split(", ").size(), 5);

        bench.action("copy-question").trigger();
        QCOMPARE(QApplication::clipboard()->text(), "lockstep predict 1 " + picture);
        bench.action("copy-command").trigger();
        QCOMPARE(QApplication::clipboard()->text(), QString("lockstep evaluate 1 --checkpoint best"));

        bench.choose("evaluatePrecision", 3);
        bench.action("copy-command").trigger();
        QCOMPARE(QApplication::clipboard()->text(), QString("lockstep evaluate 1 --checkpoint best --precision bf16"));
        bench.action("best").trigger();
        QTRY_VERIFY_WITH_TIMEOUT(bench.find<QLabel>("figures").text().contains("120 samples in bf16"), kPatience);
        QVERIFY(bench.home.query()->evaluation(1));  // what was found in fp32 stands beside it
    }

    // A model leaves by the menu, and the command that does the same is at hand.
    void aModelIsExported() {
        Bench bench;
        bench.open();
        QTRY_VERIFY_WITH_TIMEOUT(bench.action("onnx").isEnabled(), kPatience);
        const QTemporaryDir folder;
        const QString command = bench.exportModel(folder.filePath("model"));
        QVERIFY(QFileInfo(folder.filePath("model.onnx")).size() > 1000);
        QCOMPARE(command, "lockstep export 1 --onnx " + folder.filePath("model.onnx") + " --normalise");
    }

    // Its weights are those of what is looked at, where they are kept, or of another checkpoint that the menu has.
    void theModelThatIsLookedAtIsExported() {
        Bench bench({"--set", "keep_checkpoints=best:2"});
        bench.run({"evaluate", "1", "--last"});
        bench.open();
        const auto isMeant = [&bench](const QString& checkpoint) {
            const auto* action = bench.page->findChild<QAction*>("evaluate.checkpoint-" + checkpoint);
            return action && action->isChecked();
        };
        const QTemporaryDir folder;
        const auto words = [&folder](const QString& which, const QString& name) {
            return "lockstep export 1 " + which + "--onnx " + folder.filePath(name) + " --normalise";
        };
        QTRY_VERIFY_WITH_TIMEOUT(isMeant("last"), kPatience);
        QCOMPARE(bench.exportModel(folder.filePath("a.onnx")), words("--checkpoint last ", "a.onnx"));

        bench.choose("source", 1);  // of training: its epochs
        QTRY_VERIFY_WITH_TIMEOUT(isMeant("epoch-2"), kPatience);
        bench.find<QSlider>("epoch").setValue(0);
        QVERIFY(isMeant("epoch-1"));
        QCOMPARE(bench.exportModel(folder.filePath("b.onnx")), words("--checkpoint 1 ", "b.onnx"));
        bench.action("checkpoint-best").trigger();
        QCOMPARE(bench.exportModel(folder.filePath("c.onnx")), words("", "c.onnx"));
        bench.find<QSlider>("epoch").setValue(1);
        QVERIFY(isMeant("epoch-2") && !isMeant("best"));
    }

    // By the command or by dropping it; what could not be answered is a row, and a folder of nothing says why.
    void aFolderIsPredicted() {
        Bench bench;
        bench.open();
        QTRY_VERIFY_WITH_TIMEOUT(bench.action("predict-folder").isEnabled(), kPatience);
        const QTemporaryDir folder, empty, tables;
        QImage grey(28, 28, QImage::Format_Grayscale8);
        grey.fill(90);
        QVERIFY(grey.save(folder.filePath("a.png")) && grey.save(folder.filePath("b.png")));
        QFile broken(folder.filePath("c.png"));
        QVERIFY(broken.open(QIODevice::WriteOnly) && broken.write("no image") > 0);
        broken.close();

        const QString file = tables.filePath("answers.csv");
        nameFile(file);
        bench.dropFile(folder.path());
        auto& notice = *bench.find<QFrame>("notice").findChild<QLabel*>();
        QTRY_VERIFY_WITH_TIMEOUT(notice.text().startsWith("Written to " + file), kPatience);
        QVERIFY2(notice.text().contains("3 samples") && notice.text().contains("samples/s") &&
                     notice.text().contains("1 could not be answered"),
                 qPrintable(notice.text()));
        QTest::mouseClick(&bench.find<QPushButton>("copyNotice"), Qt::LeftButton);
        QCOMPARE(QApplication::clipboard()->text(), "lockstep predict 1 " + folder.path() + " --csv > " + file);
        QFile table(file);
        QVERIFY(table.open(QIODevice::ReadOnly));
        const QStringList lines = QString::fromUtf8(table.readAll()).trimmed().split('\n');
        QCOMPARE(lines.size(), 4);
        QVERIFY(lines[0].startsWith("sample,class1,probability1") && lines[1].contains("a.png"));

        nameFile(tables.filePath("none.csv"));
        bench.dropFile(empty.path());
        QTRY_VERIFY_WITH_TIMEOUT(notice.text().contains(empty.path() + " was not predicted"), kPatience);
        QVERIFY(notice.property("role").toString() == "problem" && bench.find<QPushButton>("copyNotice").isVisible());
        QVERIFY(!QFile::exists(tables.filePath("none.csv")));
        QVERIFY(bench.action("predict-folder").isEnabled());
    }

    // What cannot be answered says why; the next image is answered all the same.
    void whatIsNoImageIsSaid() {
        Bench bench;
        bench.open();
        QFile rubbish(QString::fromLocal8Bit(qgetenv("LOCKSTEP_HOME")) + "/rubbish.png");
        QVERIFY(rubbish.open(QIODevice::WriteOnly) && rubbish.write("no image") > 0);
        rubbish.close();
        QTRY_VERIFY_WITH_TIMEOUT(bench.action("choose-image").isEnabled(), kPatience);
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(rubbish.fileName())});
        bench.drop(data);
        auto& said = bench.find<QLabel>("said");
        QTRY_VERIFY_WITH_TIMEOUT(said.text().contains("rubbish.png"), kPatience);
        QVERIFY(bench.answers().isEmpty());
        QImage grey(28, 28, QImage::Format_Grayscale8);
        grey.fill(90);
        QMimeData pasted;
        pasted.setImageData(grey);
        bench.drop(pasted);
        QTRY_VERIFY_WITH_TIMEOUT(!bench.answers().isEmpty(), kPatience);
    }

    // Where there is no room for all of them, they are there for whoever points at them.
    void figuresAreWholeWherePointedAt() {
        Bench bench;
        bench.run({"evaluate", "1"});
        bench.open();
        auto& figures = bench.find<QLabel>("figures");
        QTRY_VERIFY_WITH_TIMEOUT(figures.text().contains("calibration error"), kPatience);
        const auto toolTip = [&figures] {
            QHelpEvent help(QEvent::ToolTip, {1, 1}, figures.mapToGlobal(QPoint(1, 1)));
            QApplication::sendEvent(&figures, &help);
            return figures.toolTip();
        };
        const QImage before = figures.grab().toImage();
        figures.setMaximumWidth(100);
        QTRY_COMPARE(figures.width(), 100);
        QCOMPARE(toolTip(), figures.text());
        QVERIFY(figures.grab().toImage() != before.copy(0, 0, 100, before.height()));  // it ends with an ellipsis
        figures.setFixedWidth(figures.sizeHint().width());
        QTRY_COMPARE(figures.width(), figures.sizeHint().width());
        QVERIFY(toolTip().isEmpty());
    }

    void twoTrialsStandBesideEachOther() {
        Bench bench({}, 2);
        bench.run({"evaluate", "2"});
        bench.open();
        QCOMPARE(bench.page->trial(), 2);
        QTRY_VERIFY_WITH_TIMEOUT(bench.samples() > 0, kPatience);
        QTRY_COMPARE_WITH_TIMEOUT(bench.find<QComboBox>("besideTrial").count(), 2, kPatience);
        bench.choose("besideTrial", 1);  // the first trial, which nobody has evaluated
        auto& evaluates = bench.find<QPushButton>("evaluateBeside");
        QTRY_VERIFY_WITH_TIMEOUT(evaluates.isVisible(), kPatience);
        QTest::mouseClick(&evaluates, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(bench.find<QPushButton>("beside0").isVisible(), kPatience);
        qint64 all = 0;
        for (const char* name : {"beside0", "beside1", "beside2", "beside3"})
            all += bench.find<QPushButton>(name).text().section('\n', 1).toLongLong();
        QCOMPARE(all, 120);
        auto& onlyFirst = bench.find<QPushButton>("beside1");
        QTest::mouseClick(&onlyFirst, Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(bench.samples(), onlyFirst.text().section('\n', 1).toInt(), kPatience);
    }

    // Neither itself nor one that knows other classes.
    void onlyWhatCanBeComparedStandsBeside() {
        const QStringList fewer{"dataset.classes=4"};
        Bench bench;
        const auto train = [&] {
            bench.run(QStringList{"train", "--dataset", "synthetic", "--model", "mlp", "--epochs", "1", "--devices",
                                  "cpu:1", "--set", "dataset.samples=400", "dataset.test_samples=120"} +
                      fewer);
        };
        train();
        bench.open();
        QCOMPARE(bench.page->trial(), 2);
        auto& others = bench.find<QComboBox>("besideTrial");
        QTRY_VERIFY_WITH_TIMEOUT(bench.find<ConfusionView>("confusionMatrix").isVisible(), kPatience);
        QVERIFY(others.count() == 0 && !others.isEnabled());
        QVERIFY2(others.placeholderText().contains("no other trial"), qPrintable(others.placeholderText()));
        const QString why = bench.find<QLabel>("besideHint").text();
        QVERIFY2(why.contains("same classes") && why.contains("train another model"), qPrintable(why));
        train();
        QTRY_COMPARE_WITH_TIMEOUT(others.count(), 2, kPatience);
        QVERIFY(others.isEnabled());
        QCOMPARE(others.itemData(1).toLongLong(), 3);
    }

    // Why, and what to do, whatever the reason.
    void whatCannotBeComparedIsSaid() {
        Bench bench({}, 2);
        bench.run({"evaluate", "2"});
        bench.run({"evaluate", "1", "--split", "train"});
        bench.open();
        auto& hint = bench.find<QLabel>("besideHint");
        QTRY_COMPARE_WITH_TIMEOUT(bench.find<QComboBox>("besideTrial").count(), 2, kPatience);
        bench.choose("besideTrial", 1);
        QTRY_VERIFY_WITH_TIMEOUT(hint.text().contains("not been evaluated on the same data"), kPatience);
        QVERIFY2(hint.text().contains("Evaluate it"), qPrintable(hint.text()));
        bench.choose("source", 1);  // of training
        QTRY_VERIFY_WITH_TIMEOUT(hint.text().contains("Choose one of its evaluations"), kPatience);
        bench.choose("source", 0);
        std::filesystem::remove_all(bench.home.places.run(1) / "checkpoints");
        bench.choose("besideTrial", 1);
        QTRY_VERIFY_WITH_TIMEOUT(hint.text().contains("choose another trial"), kPatience);
        QVERIFY(!bench.find<QPushButton>("evaluateBeside").isVisible());
    }

    // Of a trial that is opened on another page.
    void theTrialLookedAtElsewhereIsShown() {
        Bench bench({}, 2);
        bench.open();
        QCOMPARE(bench.page->trial(), 2);
        bench.page->hide();
        bench.page->setLookedAt(1);
        bench.page->show();
        QTRY_COMPARE_WITH_TIMEOUT(bench.page->trial(), 1, kPatience);
        bench.choose("evaluatedTrial", 0);
        bench.page->hide();
        bench.page->show();
        QTest::qWait(200);
        QCOMPARE(bench.page->trial(), 2);  // chosen since
    }

    // A trial that ended before its first checkpoint has lost none.
    void neverACheckpointIsSaid() {
        Bench bench;
        std::filesystem::remove_all(bench.home.places.run(1) / "checkpoints");
        QProcess& failing =
            bench.home.start(LOCKSTEP_PROGRAM, {"train", "--dataset", "synthetic", "--model", "mlp", "--devices",
                                                "cpu:1", "--lr", "1000", "--set", "optimizer.momentum=0.99"});
        QVERIFY(failing.waitForFinished(kPatience) && failing.exitCode() != 0);
        bench.open();
        QCOMPARE(bench.page->trial(), 2);
        auto& why = bench.find<QPushButton>("evaluateMenu");
        QTRY_VERIFY_WITH_TIMEOUT(why.toolTip().contains("never had a checkpoint"), kPatience);
        QVERIFY2(why.toolTip().contains("Clone"), qPrintable(why.toolTip()));
        bench.choose("evaluatedTrial", 1);
        QTRY_VERIFY_WITH_TIMEOUT(why.toolTip().contains("are gone"), kPatience);
    }

    // A hundred at a time, and no answer of an older question stands under a newer one's samples.
    void samplesComeByTheHundred() {
        Bench bench({"--lr", "0"});
        bench.run({"evaluate", "1"});
        bench.open();
        QTRY_COMPARE_WITH_TIMEOUT(bench.samples(), 100, kPatience);
        auto& all = bench.find<QPushButton>("allMistakes");
        QTest::mouseClick(&all, Qt::LeftButton);
        QTest::mouseClick(&all, Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(bench.samples(), 100, kPatience);
        auto& more = bench.find<QPushButton>("moreSamples");
        QTRY_VERIFY_WITH_TIMEOUT(more.isVisible(), kPatience);
        QTest::mouseClick(&more, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(bench.samples() > 100, kPatience);
        QVERIFY(bench.samples() <= 120 && !more.isVisible());
    }

    // Nothing of the trial before stays while another is read.
    void anotherTrialIsAnotherView() {
        Bench bench({}, 2);
        bench.run({"evaluate", "2"});
        bench.open();
        QTRY_VERIFY_WITH_TIMEOUT(bench.samples() > 0, kPatience);
        bench.choose("evaluatedTrial", 1);
        QCOMPARE(bench.page->trial(), 1);
        QCOMPARE(bench.samples(), 0);
        QVERIFY(!bench.find<ConfusionView>("confusionMatrix").isVisible());
        QVERIFY(!bench.action("copy-question").isEnabled());
        QTRY_VERIFY_WITH_TIMEOUT(bench.find<ConfusionView>("confusionMatrix").isVisible(), kPatience);
        QTRY_COMPARE_WITH_TIMEOUT(bench.find<QSlider>("epoch").value(), 1, kPatience);
    }

    // Others lie there by now: they are not passed off as those that were asked about, and the page says so.
    void dataThatChangedAreSaid() {
        Bench bench({}, 0);
        bench.trainTexts();
        bench.run({"evaluate", "1", "--split", "all"});
        bench.writeTexts("all was fine", "good", "bad");
        bench.open();
        auto& changed = bench.find<QLabel>("dataChanged");
        QTRY_VERIFY_WITH_TIMEOUT(bench.samples() > 0, kPatience);
        QVERIFY2(bench.sampleText(0).contains("   sample "), qPrintable(bench.sampleText(0)));
        QVERIFY2(changed.isVisible() && changed.text().contains("texts.csv have changed since this evaluation"),
                 qPrintable(changed.text()));

        bench.run({"evaluate", "1", "--split", "all"});
        bench.choose("evaluatedTrial", 0);  // reads its evaluations
        auto& source = bench.find<QComboBox>("source");
        QTRY_COMPARE_WITH_TIMEOUT(source.count(), 3, kPatience);
        QVERIFY2(source.itemText(1).endsWith(", the data changed since"), qPrintable(source.itemText(1)));
        QVERIFY(!source.itemText(0).contains("changed"));
        bench.choose("source", 2);
        QTRY_VERIFY2_WITH_TIMEOUT(changed.text().contains("changed since the training: the evaluation of"),
                                  qPrintable(changed.text()), kPatience);
        bench.choose("source", 0);
        QTRY_VERIFY_WITH_TIMEOUT(bench.samples() > 0, kPatience);
        QVERIFY2(!bench.sampleText(0).contains("sample "), qPrintable(bench.sampleText(0)));
        QVERIFY2(changed.text().contains("since the training: these samples are others"), qPrintable(changed.text()));
        bench.writeTexts("all is well", "good", "bad");  // as they were
        bench.choose("source", 1);
        QTRY_VERIFY_WITH_TIMEOUT(bench.samples() > 0, kPatience);
        QVERIFY2(!bench.sampleText(0).contains("sample "), qPrintable(bench.sampleText(0)));
        QVERIFY2(changed.text().contains("since this evaluation: that of"), qPrintable(changed.text()));
    }

    // Two trials that were asked before and after a change were asked about different samples.
    void changedDataAreNotCompared() {
        Bench bench({}, 0);
        bench.trainTexts();
        const QStringList onAll{"--split", "all"};
        bench.run(QStringList{"evaluate", "1"} + onAll);
        bench.trainTexts();
        bench.writeTexts("all was fine", "good", "bad");
        bench.run(QStringList{"evaluate", "2"} + onAll);
        bench.open();
        QCOMPARE(bench.page->trial(), 2);
        QTRY_VERIFY_WITH_TIMEOUT(bench.samples() > 0, kPatience);
        QTRY_COMPARE_WITH_TIMEOUT(bench.find<QComboBox>("besideTrial").count(), 2, kPatience);
        bench.choose("besideTrial", 1);
        auto& evaluates = bench.find<QPushButton>("evaluateBeside");
        QTRY_VERIFY_WITH_TIMEOUT(evaluates.isVisible(), kPatience);
        const auto labels = evaluates.parentWidget()->findChildren<QLabel*>();
        QVERIFY(std::ranges::any_of(
            labels, [](const QLabel* each) { return each->text().contains("asked about different samples"); }));
        QTest::mouseClick(&evaluates, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(bench.find<QPushButton>("beside0").isVisible(), kPatience);
    }

    // Whatever lies there by now: of the history or, of an old trial, of a checkpoint.
    void classesAreThoseOfTheTraining_data() {
        QTest::addColumn<bool>("isOld");
        QTest::newRow("of the history") << false;
        QTest::newRow("of a checkpoint") << true;
    }
    void classesAreThoseOfTheTraining() {
        QFETCH(bool, isOld);
        Bench bench({}, 0);
        bench.trainTexts();
        bench.run({"evaluate", "1", "--split", "all"});
        const QString history = QString::fromStdString(bench.home.places.history().string());
        if (isOld) QCOMPARE(QProcess::execute("sqlite3", {history, "UPDATE trial SET trained_on = NULL"}), 0);
        else std::filesystem::remove_all(bench.home.places.run(1) / "checkpoints");
        bench.writeTexts("all is well", "cheerful", "sad");
        bench.open();
        QTRY_VERIFY_WITH_TIMEOUT(bench.samples() > 0, kPatience);
        QTRY_VERIFY2_WITH_TIMEOUT(bench.sampleText(0).contains("is good") || bench.sampleText(0).contains("is bad"),
                                  qPrintable(bench.sampleText(0)), kPatience);
    }

    void aTextIsTyped() {
        Bench bench({}, 0);
        QTemporaryDir texts;
        QFile table(texts.filePath("texts.csv"));
        QVERIFY(table.open(QIODevice::WriteOnly));
        table.write("text,label\n");
        for (int i = 0; i < 40; ++i) table.write(i % 2 ? "all is well,good\n" : "nothing works,bad\n");
        table.close();
        bench.run({"train", "--data", table.fileName(), "--model", "text-encoder", "--epochs", "1", "--devices",
                   "cpu:1", "--batch", "8", "--set", "model.width=16", "model.heads=2", "model.layers=1"});
        bench.open();
        auto& text = bench.find<QLineEdit>("askedText");
        QTRY_VERIFY_WITH_TIMEOUT(text.isVisible(), kPatience);
        QVERIFY(!bench.action("choose-image").isEnabled());
        QTest::keyClicks(&text, "all's well");
        QTest::keyClick(&text, Qt::Key_Return);
        QTRY_VERIFY_WITH_TIMEOUT(bench.answers().contains("good"), kPatience);
        bench.action("copy-question").trigger();
        QCOMPARE(QApplication::clipboard()->text(), QString("printf '%s\\n' 'all'\\''s well' | lockstep predict 1 -"));
    }

    // An evaluation that fails says why, and so does one whose checkpoint is gone.
    void aCheckpointThatIsGoneIsSaid() {
        Bench bench;
        bench.open();
        QTRY_VERIFY_WITH_TIMEOUT(bench.action("best").isEnabled(), kPatience);
        std::filesystem::remove_all(bench.home.places.run(1) / "checkpoints");
        bench.action("best").trigger();
        QTRY_VERIFY_WITH_TIMEOUT(bench.find<QFrame>("notice").findChild<QLabel*>()->text().contains("checkpoint"),
                                 kPatience);
        QVERIFY(bench.action("best").isEnabled());
    }

    void aLanguageModelGoesOnWithAPrompt() {
        Bench bench({}, 0);
        bench.trainLanguage();
        bench.open();
        auto& prompt = bench.find<QPlainTextEdit>("prompt");
        QTRY_VERIFY_WITH_TIMEOUT(prompt.isVisible(), kPatience);
        QVERIFY(!bench.action("predict-folder").isEnabled());  // nor has it an answer for each of many samples
        prompt.setPlainText("to be");
        QTest::mouseClick(&bench.find<QPushButton>("goOn"), Qt::LeftButton);
        auto& written = bench.find<QPlainTextEdit>("written");
        QTRY_VERIFY_WITH_TIMEOUT(written.toPlainText().size() > 100, kPatience);
        QVERIFY(written.toPlainText().startsWith("to be"));

        bench.find<QSpinBox>("textLength").setValue(12);
        bench.find<QDoubleSpinBox>("textTemperature").setValue(0.5);
        bench.find<QSpinBox>("textTopK").setValue(3);
        bench.action("copy-question").trigger();
        QCOMPARE(QApplication::clipboard()->text(),
                 QString("lockstep predict 1 --prompt 'to be' --length 12 --temperature 0.5 --top-k 3 --seed 1"));
        auto& writes = bench.find<QPushButton>("goOn");
        QTRY_COMPARE_WITH_TIMEOUT(writes.text(), QString("Go on"), kPatience);
        QTest::mouseClick(&writes, Qt::LeftButton);
        QCOMPARE(writes.text(), QString("Stop"));
        QTRY_COMPARE_WITH_TIMEOUT(writes.text(), QString("Go on"), kPatience);
        QVERIFY2(written.toPlainText().size() < 30, qPrintable(written.toPlainText()));
        QVERIFY(bench.find<QLabel>("said").text().isEmpty());
    }

    // Figures, a line that says why there is no more, and the prompt; a classifier has its views again.
    void aLanguageModelHasNoViewsOfClasses() {
        Bench bench;
        bench.trainLanguage();
        bench.open();
        QCOMPARE(bench.page->trial(), 2);
        auto& why = bench.find<QLabel>("noClasses");
        QTRY_VERIFY_WITH_TIMEOUT(why.isVisible(), kPatience);
        const std::initializer_list<const char*> ofClasses{"matrixCard", "evaluateTabs", "samples", "besideTrial"};
        for (const char* name : ofClasses) QVERIFY2(!bench.find<QWidget>(name).isVisible(), name);
        QVERIFY(bench.find<QPlainTextEdit>("prompt").isVisible());
        auto& figures = bench.find<QLabel>("figures");
        QVERIFY2(figures.text().startsWith("loss ") && figures.text().contains("perplexity "),
                 qPrintable(figures.text()));
        bench.action("best").trigger();
        QTRY_VERIFY_WITH_TIMEOUT(figures.text().contains("sample"), kPatience);
        QVERIFY2(figures.text().contains("bits per byte"), qPrintable(figures.text()));
        bench.choose("evaluatedTrial", 1);
        QTRY_VERIFY_WITH_TIMEOUT(bench.find<ConfusionView>("confusionMatrix").isVisible(), kPatience);
        for (const char* name : ofClasses) QVERIFY2(bench.find<QWidget>(name).isVisible(), name);
        QVERIFY(!why.isVisible());
    }
};

QTEST_MAIN(TestEvaluatePage)
#include "tst_evaluate_page.moc"
