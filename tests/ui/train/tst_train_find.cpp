#include <signal.h>

#include <QAccessible>
#include <QCheckBox>
#include <QClipboard>
#include <QJsonDocument>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QSpinBox>
#include <QToolButton>

#include "page_bench.h"
#include "ui/plot/plot_view.h"
#include "ui/train/batch_finding.h"
#include "ui/train/find_dialog.h"
#include "ui/train/find_question.h"
#include "ui/train/rate_finding.h"
#include "ui/train/sweep_form.h"

using namespace lockstep::ui;

namespace {

constexpr int kFindPatience = 60'000;

// JSON with other quotes: moc loses its way behind raw strings that have these.
QByteArray json(QByteArray text) { return text.replace('\'', '"'); }
QJsonObject lineOf(const QByteArray& text) { return QJsonDocument::fromJson(json(text)).object(); }

QByteArray rateLine(int update, double rate, double loss, bool blewUp = false) {
    return QJsonDocument({{"event", "rate_tested"},
                          {"update", update},
                          {"updates", 100},
                          {"learning_rate", rate},
                          {"loss", loss},
                          {"smoothed_loss", loss},
                          {"blew_up", blewUp}})
        .toJson(QJsonDocument::Compact);
}

const QByteArray kRates = rateLine(1, 1e-6, 2.3) + '\n' + rateLine(2, 1e-3, 1.2) + '\n' + rateLine(3, 1, 99, true);
const QByteArray kFoundRate =
    json("{'suggested_lr':0.0316,'steepest_at':0.0316,'lowest_at':0.2,'blew_up_at':1,'problems':[],'points':[]}");

// Of two batches, as the engine tells them of so many samples/s.
QByteArray batchLines(int speed) {
    const auto timed = [](int batch, int fast) {
        return QString("{'event':'batch_timed','batch':%1,'per_device':[%2],'samples_per_second':%3}")
            .arg(batch)
            .arg(batch / 2)
            .arg(fast);
    };
    const QString planned =
        "{'event':'batches_planned','largest_batch':5000,'largest_per_device':[2500],'training_samples':5000,"
        "'all_samples_fit':true,'batches_at_most':4}";
    const QString found =
        "{'all_samples_fit':true,'largest_batch':5000,'largest_per_device':[2500],'suggested_batch':32,"
        "'suggested_per_device':[16]}";
    return json(QStringList{planned, timed(16, speed), timed(32, 2 * speed), found}.join('\n').toUtf8());
}

}  // namespace

// What finds a learning rate and a batch from the form: with engines that are told what to say, and with the real one.
class TestTrainFind : public QObject {
    Q_OBJECT
private slots:
    void ratesAreTakenLineByLine() {
        RateFinding found;
        QVERIFY(found.text().isEmpty() && found.updates() == 0);
        for (const QByteArray& each : kRates.split('\n')) found.take(lineOf(each));
        QCOMPARE(found.points().size(), std::size_t{2});  // not that at which it blew up
        QVERIFY(found.tested() == 3 && found.updates() == 100 && found.blewUpAt() == 1.0 && !found.suggested());
        found.take(lineOf(kFoundRate));
        QVERIFY(found.suggested() == 0.0316 && !found.isScaled());
        QVERIFY2(found.text().contains("at a rate of 0.032") && found.text().contains("blows up at 1."),
                 qPrintable(found.text()));
        found.take(lineOf("{'suggested_lr':0.0079,'steepest_at':0.0316,'lowest_at':0.2,'blew_up_at':null}"));
        QVERIFY(found.isScaled() && found.text().contains("0.0079") && found.text().contains("does not blow up"));
        found.take(lineOf("{'event':'rate_tested','update':4,'updates':100,'learning_rate':2,'loss':null}"));
        QVERIFY(std::isnan(found.points().back().loss));
        found.take(lineOf("{'suggested_lr':null,'steepest_at':null,'lowest_at':null,'blew_up_at':2}"));
        QVERIFY(found.text().isEmpty());
    }

    void batchesAreTakenLineByLine() {
        BatchFinding found;
        QVERIFY(found.text().isEmpty() && found.largestText().isEmpty());
        const auto lines = batchLines(1000).split('\n');
        for (const QByteArray& each : lines.first(3)) found.take(lineOf(each));
        QVERIFY(found.most() == 4 && found.speeds().size() == 2 && found.suggested() == 0);
        QVERIFY2(found.largestText().contains("5,000, all training samples"), qPrintable(found.largestText()));
        found.take(lineOf(lines.last()));
        QVERIFY2(found.text().contains("A batch of 32, 16 per device") && found.text().contains("2,000 samples/s"),
                 qPrintable(found.text()));
        QVERIFY(found.textOf("cpu:1").startsWith("cpu:1: 32, at 2,000 samples/s"));
        found.take(lineOf("{'largest_batch':900,'suggested_batch':32,'suggested_per_device':[21,11]}"));
        QVERIFY(found.text().contains("21, 11 per device") && found.largestText().contains("free now is 900"));
    }

    void theCommandLeavesOutWhatDoesNotMatter() {
        const QJsonObject usual{{"dataset", QJsonObject{{"id", "fashion-mnist"}}},
                                {"model", QJsonObject{{"id", "mlp"}}},
                                {"epochs", 5},
                                {"batch", 128},
                                {"title", ""},
                                {"learning_rate", 0.1}};
        auto spec = usual;
        spec["epochs"] = 7;
        spec["batch"] = 64;
        spec["title"] = "mine";
        spec["learning_rate"] = 0.5;
        spec["schedule"] = QJsonObject{{"id", "step"}, {"every", 3}};
        const FindQuestion question{"find-rate", spec, {"--steps", "40"}};
        QCOMPARE(commandOf(question, usual),
                 QString("lockstep find-rate --dataset fashion-mnist --model mlp --batch 64 --steps 40"));
        QVERIFY(argumentsOf(question).contains("--events"));
        QCOMPARE(withoutInput("/dev/stdin: epochs: 0 is no number."), QString("epochs: 0 is no number."));
        QCOMPARE(QJsonDocument::fromJson(inputOf(question)).object(), spec);
    }

    // Points are there while it measures; the suggestion goes into the field, and can be taken back.
    void aRateIsFoundAndUsed() {
        Bench bench("cat > $home/spec; echo '" + kRates + "'; while [ ! -e $home/go ]; do sleep 0.05; done; echo '" +
                    kFoundRate + "'");
        bench.fill(synthetic());
        auto* dialog = bench.open("learning_rate.find");
        QTRY_VERIFY_WITH_TIMEOUT(bench.said(*dialog).contains("3 of 100 updates"), kFindPatience);
        QVERIFY(!bench.button(*dialog, "findUse")->isEnabled() && !bench.button(*dialog, "findAgain")->isEnabled());
        auto* plot = dialog->findChild<PlotView*>();
        QVERIFY2(plot->summary().contains("2 points") && plot->summary().contains("blows up at 1"),
                 qPrintable(plot->summary()));
        QFile spec(bench.path("spec"));
        QVERIFY(spec.open(QIODevice::ReadOnly));
        QCOMPARE(QJsonDocument::fromJson(spec.readAll()).object(), bench.page->spec());

        QVERIFY(!bench.file("go", "").isEmpty());
        auto* use = bench.button(*dialog, "findUse");
        QTRY_VERIFY_WITH_TIMEOUT(use->isEnabled(), kFindPatience);
        QCOMPARE(use->text(), QString("Use 0.032"));
        QVERIFY(bench.said(*dialog).contains("falls most steeply at a rate of 0.032"));
        QVERIFY(plot->summary().contains("suggested: 0.032"));
        bench.button(*dialog, "findCopy")->click();
        QCOMPARE(QApplication::clipboard()->text(),
                 QString("lockstep find-rate --dataset synthetic --model mlp --from 1e-6 --to 10 --steps 100"));
        const auto before = bench.page->spec();
        use->click();
        QTRY_VERIFY(!bench.page->findChild<FindDialog*>());
        QCOMPARE(bench.page->spec()["learning_rate"].toDouble(), 0.032);
        QCOMPARE(bench.find<QLineEdit>("learning_rate")->text(), QString("0.032"));
        bench.page->undoStack()->undo();
        QCOMPARE(bench.page->spec(), before);
    }

    // The form's devices first; the others stand beside them.
    void aBatchIsFoundAndUsed() {
        Bench bench("case \"$(cat)\" in *cpu:4*) echo '" + batchLines(3000) + "';; *cpu:2*) echo '" + batchLines(2000) +
                    "';; *) echo '{\"problems\":[{\"what\":\"No room.\",\"remedy\":\"Make some.\"}]}'; exit 2;; esac");
        auto wanted = synthetic();
        wanted["devices"] = "cpu:4";
        wanted["shares"] = "2,1,1,1";
        bench.fill(wanted);
        auto* dialog = bench.open("batch.find");
        auto* use = bench.button(*dialog, "findUse");
        QTRY_VERIFY_WITH_TIMEOUT(use->isEnabled() && bench.button(*dialog, "findAgain")->isEnabled(), kFindPatience);
        QCOMPARE(dialog->findChild<PlotView*>()->model().series().size(), std::size_t{1});
        dialog->findChild<QCheckBox*>("findFewer")->setChecked(true);
        bench.button(*dialog, "findAgain")->click();
        QTRY_VERIFY_WITH_TIMEOUT(bench.said(*dialog).contains("cpu:1: No room. Make some."), kFindPatience);
        const auto said = bench.said(*dialog);
        QVERIFY2(said.contains("A batch of 32") && said.contains("6,000 samples/s"), qPrintable(said));
        QVERIFY2(said.contains("cpu:2: 32, at 4,000 samples/s"), qPrintable(said));
        const auto* plot = dialog->findChild<PlotView*>();
        QCOMPARE(const_cast<PlotView*>(plot)->model().series().size(), std::size_t{3});
        QVERIFY(plot->summary().contains("largest that fits: 5,000"));
        bench.button(*dialog, "findCopy")->click();
        const auto commands = QApplication::clipboard()->text().split('\n');
        QCOMPARE(commands.size(), 3);
        QVERIFY(commands[0].contains("--devices cpu:4") && commands[0].contains("shares=2,1,1,1"));
        QVERIFY(commands[2].contains("--devices cpu:1") && !commands[2].contains("shares"));
        QCOMPARE(use->text(), QString("Use 32"));
        use->click();
        QCOMPARE(bench.page->spec()["batch"].toInt(), 32);
        bench.page->undoStack()->undo();
        QVERIFY(bench.page->spec()["batch"].toInt() != 32);
    }

    void theProcessEnds_data() {
        QTest::addColumn<QString>("by");
        for (const char* by : {"cancel", "escape", "window"}) QTest::newRow(by) << by;
    }
    void theProcessEnds() {
        QFETCH(QString, by);
        Bench bench("echo $$ > $home/part; mv $home/part $home/id; exec sleep 1000");
        bench.fill(synthetic());
        auto* dialog = bench.open("learning_rate.find");
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(bench.path("id")), kFindPatience);
        QFile file(bench.path("id"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const auto id = static_cast<pid_t>(file.readAll().trimmed().toInt());
        QVERIFY(id > 0 && kill(id, 0) == 0);
        if (by == "cancel") bench.button(*dialog, "findCancel")->click();
        else if (by == "escape") QTest::keyClick(dialog, Qt::Key_Escape);
        else bench.page.reset();
        QTRY_VERIFY_WITH_TIMEOUT(kill(id, 0) != 0, 5000);
        if (by != "cancel") return;
        QTRY_VERIFY(bench.button(*dialog, "findClose")->isVisible() && bench.said(*dialog).contains("Cancelled."));
        QVERIFY(bench.button(*dialog, "findAgain")->isEnabled() && !bench.button(*dialog, "findUse")->isEnabled());
    }

    void anErrorIsShownInWords() {
        Bench bench("echo '{\"problems\":[{\"what\":\"The data is gone.\",\"remedy\":\"Put it back.\"}]}'; exit 2");
        bench.fill(synthetic());
        auto* dialog = bench.open("learning_rate.find");
        QTRY_VERIFY_WITH_TIMEOUT(bench.said(*dialog).contains("The data is gone. Put it back."), kFindPatience);
        QVERIFY(!bench.button(*dialog, "findUse")->isEnabled());
        dialog->reject();
        QTRY_VERIFY(!bench.page->findChild<FindDialog*>());
        QVERIFY(QFile::remove(bench.path("engine")));
        dialog = bench.open("batch.find");
        QTRY_VERIFY_WITH_TIMEOUT(bench.said(*dialog).contains("could not be started"), kFindPatience);
        QVERIFY(bench.said(*dialog).contains("Install lockstep again"));
        QVERIFY(bench.button(*dialog, "findAgain")->isEnabled() && bench.button(*dialog, "findClose")->isVisible());
    }

    // What is varied has no one value.
    void nothingIsFoundForWhatIsVaried() {
        Bench bench("exit 0");
        bench.fill(synthetic());
        const auto* find = bench.find<QToolButton>("learning_rate.find");
        bench.page->sweep().setVaried("learning_rate", true);
        QVERIFY(!find->isVisible() && !find->isEnabled() && bench.find<QToolButton>("batch.find")->isEnabled());
        bench.page->sweep().setVaried("batch", true);
        QVERIFY(!bench.find<QToolButton>("batch.find")->isEnabled());
    }

    void everythingIsNamedAndReached() {
        Bench bench("echo x >> $home/runs; echo '" + kRates + "'; echo '" + kFoundRate + "'");
        bench.fill(synthetic());
        auto* dialog = bench.open("learning_rate.find");
        QTRY_VERIFY_WITH_TIMEOUT(bench.button(*dialog, "findUse")->isEnabled(), kFindPatience);
        QApplication::setActiveWindow(dialog);
        QTRY_COMPARE(dialog->focusWidget(), bench.button(*dialog, "findUse"));
        QSet<QWidget*> reached;
        for (QWidget* at = dialog->focusWidget(); at && !reached.contains(at); at = dialog->focusWidget()) {
            reached << at;
            QTest::keyClick(at, Qt::Key_Tab);
        }
        for (QWidget* widget : dialog->findChildren<QWidget*>()) {
            if (!widget->isVisible() || !widget->isEnabled() || !(widget->focusPolicy() & Qt::TabFocus)) continue;
            const QString what = widget->metaObject()->className() + ' ' + widget->objectName();
            const auto* heard = QAccessible::queryAccessibleInterface(widget);
            const bool isPart = qobject_cast<QAbstractSpinBox*>(widget->parentWidget());
            QVERIFY2(isPart || (heard && !heard->text(QAccessible::Name).isEmpty()), qPrintable(what));
            const bool isReached = std::ranges::any_of(reached, [&](const QWidget* each) {
                return each == widget || widget->isAncestorOf(each) || each->focusProxy() == widget ||
                       widget->focusProxy() == each;
            });
            QVERIFY2(isReached, qPrintable(what + " cannot be reached by Tab"));
        }
        auto* from = dialog->findChild<QLineEdit*>("findFrom");
        from->setFocus();
        const auto before = bench.page->spec();
        QTest::keyClick(from, Qt::Key_Return);  // measures again, uses nothing
        const auto runs = [&] { return QFileInfo(bench.path("runs")).size() / 2; };
        QTRY_COMPARE_WITH_TIMEOUT(runs(), 2, kFindPatience);
        QVERIFY(dialog->isVisible() && bench.page->spec() == before);
    }

    // The engine itself, on a few made-up samples.
    void theEngineFindsBoth() {
        PageBench bench;
        QTRY_VERIFY_WITH_TIMEOUT(bench.hasForm(), kFindPatience);
        auto spec = synthetic();
        spec["dataset"] = QJsonObject{{"id", "synthetic"}, {"samples", 512}};
        spec["batch"] = 32;
        spec["devices"] = "cpu:2x1";
        bench.page->setSpec(spec);
        bench.find<QToolButton>("learning_rate.find")->click();
        auto* dialog = bench.page->findChild<FindDialog*>();
        auto* use = dialog->findChild<QPushButton*>("findUse");
        QTRY_VERIFY_WITH_TIMEOUT(use->isEnabled(), kFindPatience);
        const double found = use->text().section(' ', 1).toDouble();
        QVERIFY2(found > 1e-4 && found < 10, qPrintable(use->text()));
        dialog->findChild<QPushButton*>("findCopy")->click();
        QProcess shell;
        shell.start("/bin/sh", {"-c", "exec " LOCKSTEP_PROGRAM + QApplication::clipboard()->text().mid(8)});
        QVERIFY(shell.waitForFinished(kFindPatience));
        QVERIFY2(shell.exitCode() == 0, shell.readAllStandardError());
        const auto printed = QString::fromUtf8(shell.readAllStandardOutput());
        QVERIFY2(printed.contains(QString("Suggested: --lr %1\n").arg(use->text().section(' ', 1))),
                 qPrintable(printed));
        use->click();
        QCOMPARE(bench.page->spec()["learning_rate"].toDouble(), found);

        // Rates that spoil at once, then one that none can have.
        QTRY_VERIFY(!bench.page->findChild<FindDialog*>());
        bench.find<QToolButton>("learning_rate.find")->click();
        dialog = bench.page->findChild<FindDialog*>();
        const auto says = [&](const char* words) {
            QStringList all;
            for (const auto* label : dialog->findChildren<QLabel*>()) all << label->text();
            return all.join('\n').contains(words);
        };
        const auto measure = [&](const char* from, const char* to) {
            dialog->findChild<QPushButton*>("findCancel")->click();
            QTRY_VERIFY(dialog->findChild<QPushButton*>("findAgain")->isEnabled());
            dialog->findChild<QLineEdit*>("findFrom")->setText(from);
            dialog->findChild<QLineEdit*>("findTo")->setText(to);
            dialog->findChild<QPushButton*>("findAgain")->click();
        };
        measure("1e4", "1e5");
        QTRY_VERIFY_WITH_TIMEOUT(says("the loss blew up at a rate of") && says("Begin with a smaller rate"),
                                 kFindPatience);
        measure("0", "10");
        QTRY_VERIFY_WITH_TIMEOUT(says("--from: 0 is no learning rate"), kFindPatience);
        dialog->reject();

        QTRY_VERIFY(!bench.page->findChild<FindDialog*>());
        bench.find<QToolButton>("batch.find")->click();
        dialog = bench.page->findChild<FindDialog*>();
        use = dialog->findChild<QPushButton*>("findUse");
        QTRY_VERIFY_WITH_TIMEOUT(use->isEnabled(), kFindPatience);
        QVERIFY2(says("The largest that fits is 512, all training samples."), qPrintable(use->text()));
        use->click();
        QVERIFY(bench.page->spec()["batch"].toInt() >= 16);

        spec["dataset"] = QJsonObject{{"id", "image-folder"}, {"path", "/nowhere"}};
        bench.page->setSpec(spec);
        QTRY_VERIFY(!bench.page->findChild<FindDialog*>());
        bench.find<QToolButton>("learning_rate.find")->click();
        dialog = bench.page->findChild<FindDialog*>();
        QTRY_VERIFY_WITH_TIMEOUT(says("/nowhere"), kFindPatience);
    }

private:
    // A page whose engine answers as the real one does, but finds what the script says, in which $home is a folder.
    struct Stage {
        QTemporaryDir stage;
        QString path(const QString& name) const { return stage.filePath(name); }
    };
    class Bench : private Stage, public PageBench {
    public:
        explicit Bench(const QByteArray& script) : PageBench(written(*this, script)) {
            const bool hasCome = QTest::qWaitFor([this] { return hasForm(); }, kFindPatience);
            if (!hasCome) qFatal("the engine does not answer");
        }
        using Stage::path;

        void fill(const QJsonObject& spec) const {
            page->setSpec(spec);
            const auto isSet = [this] {
                const auto* rate = find<QToolButton>("learning_rate.find");
                return rate->isVisible() && rate->isEnabled() && find<QToolButton>("batch.find")->isEnabled();
            };
            if (!QTest::qWaitFor(isSet, kFindPatience)) qFatal("nothing can be found");
        }
        FindDialog* open(const QString& button) const {
            QTest::mouseClick(find<QToolButton>(button), Qt::LeftButton);
            auto* dialog = page->findChild<FindDialog*>();
            if (!dialog || !dialog->isVisible()) qFatal("no dialog has opened");
            return dialog;
        }
        static QPushButton* button(const QDialog& dialog, const char* name) {
            auto* found = dialog.findChild<QPushButton*>(name);
            if (!found) qFatal("the dialog has no %s", name);
            return found;
        }
        static QString said(const QDialog& dialog) {
            QStringList all;
            for (const auto* label : dialog.findChildren<QLabel*>()) {
                if (label->isVisible()) all << label->text();
            }
            return all.join('\n');
        }
        QString file(const QString& name, const QByteArray& bytes) const {
            QFile out(path(name));
            return out.open(QIODevice::WriteOnly) && out.write(bytes) == bytes.size() ? out.fileName() : QString();
        }

    private:
        static QString written(const Stage& stage, const QByteArray& script) {
            QFile engine(stage.path("engine"));
            if (!engine.open(QIODevice::WriteOnly)) qFatal("cannot write an engine");
            engine.write("#!/bin/sh\nhome=" + stage.stage.path().toUtf8() +
                         "\ncase \"$1\" in find-*) ;; *) exec " LOCKSTEP_PROGRAM " \"$@\";; esac\n" + script + '\n');
            engine.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
            return engine.fileName();
        }
    };
};

QTEST_MAIN(TestTrainFind)
#include "tst_train_find.moc"
