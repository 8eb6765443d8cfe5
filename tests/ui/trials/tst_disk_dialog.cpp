#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QSpinBox>
#include <QTableWidget>
#include <QtTest>
#include <fstream>

#include "engine/spec/kept_checkpoints.h"
#include "tests/history/history_support.h"
#include "tests/ui/trials/trials_desktop.h"
#include "ui/style/theme.h"
#include "ui/trials/disk_dialog.h"

using namespace lockstep;
using namespace lockstep::ui;
using test::Desktop;
namespace fs = std::filesystem;

namespace {

constexpr int kPatience = 30'000;

// A trial with checkpoints of these sizes, in kilobytes, as last, best.
void addTrial(const Desktop& desktop, std::vector<int> kilobytes, RunState state = RunState::Finished) {
    const auto store = test::openStore(desktop.places.history());
    TrialSpec spec;
    spec.title = "trial of " + std::to_string(kilobytes.size());
    const auto trial = store->createTrial(spec, desktop.places.runs());
    store->setState(trial, state);
    const fs::path folder = desktop.places.run(trial) / "checkpoints";
    fs::create_directories(folder);
    const char* roles[] = {"last", "best"};
    for (std::size_t i = 0; i < kilobytes.size(); ++i)
        std::ofstream(folder / checkpointName(roles[i]))
            << std::string(static_cast<std::size_t>(kilobytes[i]) * 1024, 'x');
}

std::vector<std::string> rolesOf(const Desktop& desktop, std::int64_t trial) {
    std::vector<std::string> roles;
    for (const auto& each : checkpointsIn(desktop.places.run(trial) / "checkpoints")) roles.push_back(each.role);
    return roles;
}

// The dialog as its page opens it.
struct Opened {
    explicit Opened(Desktop& desktop) {
        for (auto* each : desktop.page->commands())
            if (each->objectName() == "trials.disk") each->trigger();
        dialog = desktop.page->findChild<DiskDialog*>();
    }
    QString line(const QString& start) const {
        for (const auto* label : dialog->findChildren<QLabel*>())
            if (!label->isHidden() && label->text().startsWith(start)) return label->text();
        return {};
    }
    QPushButton* button(const QString& start) const { return withText<QPushButton>(start); }
    QCheckBox* box(const QString& start) const { return withText<QCheckBox>(start); }
    QLineEdit& trials() const {
        for (auto* each : dialog->findChildren<QLineEdit*>())
            if (each->accessibleName() == "Numbers of trials") return *each;
        qFatal("no field");
    }
    QComboBox& keep() const { return *dialog->findChild<QComboBox*>(); }
    QTableWidget& table() const { return *dialog->findChild<QTableWidget*>(); }
    DiskDialog* dialog;

private:
    template <class Button>
    Button* withText(const QString& start) const {
        for (auto* each : dialog->findChildren<Button*>())
            if (each->text().startsWith(start)) return each;
        return nullptr;
    }
};

}  // namespace

class TestDiskDialog : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { applyTheme(*qApp, ThemeChoice::Light); }

    void choicesAreARequest() {
        DiskChoices choices;
        QCOMPARE(*requestOf(choices).value().keep, (StaysKept{true, 0}));
        choices.keep = DiskChoices::Keep::Best;
        choices.best = 3;
        QCOMPARE(*requestOf(choices).value().keep, (StaysKept{true, 3}));
        choices.keep = DiskChoices::Keep::None;
        QCOMPARE(*requestOf(choices).value().keep, (StaysKept{false, 0}));
        choices.freesCheckpoints = false;
        QVERIFY(!requestOf(choices).value().asksForAnything());
        choices.onlyOlder = true;
        choices.days = 2;
        choices.onlyThese = true;
        choices.trials = " 3, 5 ,7-9";
        QCOMPARE(requestOf(choices).value().olderThan, std::int64_t{172'800});
        QCOMPARE(requestOf(choices).value().trials, (std::vector<TrialRange>{{3, 3}, {5, 5}, {7, 9}}));
        choices.trials = "three";
        QCOMPARE(requestOf(choices).problems().front().code, std::string("disk.trials"));
        choices.onlyThese = false;
        QVERIFY(requestOf(choices).ok());
    }

    // Whoever frees an orphan that holds a trial is told so.
    void whatIsLostIsSaid() {
        FreePlan plan;
        plan.bytes = 2048;
        plan.items.push_back({FreeItem::Kind::Orphan, 7, {}, true});
        QVERIFY(disk_text::plan(plan).contains("1 of the orphaned folders holds a trial"));
        QVERIFY(!disk_text::plan(plan).contains("stay in the history"));
        plan.items.push_back({FreeItem::Kind::Trial, 1, {}, false});
        QVERIFY(disk_text::plan(plan).startsWith("Frees 2.0 KiB of 1 trial, 1 orphaned run folder, for good"));
        QVERIFY(disk_text::plan(plan).contains("The trials stay in the history"));
    }

    void whatStaysAtRungsIsSaid() {
        FreePlan plan;
        QCOMPARE(disk_text::spared(plan), QString());
        plan.atRungs = {{2, {3, 5, 4}, 6}};
        QCOMPARE(disk_text::spared(plan),
                 QString("Sweep 2 may let trials go on from its rungs, whose newest checkpoints stay: 3-5."));
        plan.spared = {9};
        QVERIFY(disk_text::spared(plan).startsWith("1 trial runs, is paused or queued, and is left alone. Sweep 2"));
    }

    void numbersBecomeRanges() {
        QCOMPARE(rangesOf({}), QString());
        QCOMPARE(rangesOf({4}), QString("4"));
        QCOMPARE(rangesOf({9, 3, 5, 8, 7}), QString("3,5,7-9"));
        QCOMPARE(rangesOf({1, 2}), QString("1-2"));
    }

    void thePageSaysWhatTheHistoryWeighs() {
        Desktop desktop;
        addTrial(desktop, {100, 200});
        addTrial(desktop, {3'000});
        desktop.open();
        QTRY_VERIFY_WITH_TIMEOUT(desktop.says("in 2 trials;"), kPatience);
        auto& model = *desktop.table().model();
        const auto weight = [&](int row) { return model.index(row, kWeightColumn).data().toString(); };
        QCOMPARE(desktop.cell(0, kIdColumn), QString("2"));
        QVERIFY2(weight(0).startsWith("2.9") || weight(0).startsWith("3.0"), qPrintable(weight(0)));
        model.sort(kWeightColumn, Qt::AscendingOrder);
        QCOMPARE(desktop.cell(0, kIdColumn), QString("1"));
        QVERIFY(model.index(0, kWeightColumn).data(TrialTableModel::PlainRole).toULongLong() >= 300 * 1024);
    }

    void whatWouldGoFollowsTheChoices() {
        Desktop desktop;
        addTrial(desktop, {100, 200});
        addTrial(desktop, {1'000, 2'000});
        addTrial(desktop, {50}, RunState::Queued);
        desktop.open();
        QTRY_COMPARE_WITH_TIMEOUT(desktop.rows(), 3, kPatience);
        const Opened opened(desktop);
        QTRY_COMPARE_WITH_TIMEOUT(opened.table().rowCount(), 3, kPatience);
        QCOMPARE(opened.table().item(0, 0)->text(), QString("2"));  // the heaviest
        QTRY_VERIFY_WITH_TIMEOUT(opened.line("Frees 2.1 MiB of 2 trials").contains("cannot be undone"), kPatience);
        QTRY_COMPARE(opened.line("1 trial runs"), QString("1 trial runs, is paused or queued, and is left alone."));
        QCOMPARE(opened.button("Free 2.1 MiB")->isEnabled(), true);
        QCOMPARE(opened.table().item(0, 6)->text(), QString("2.0 MiB"));
        opened.keep().setCurrentIndex(2);              // none
        QVERIFY(!opened.button("Free")->isEnabled());  // until what is told is what was chosen
        QTRY_VERIFY_WITH_TIMEOUT(!opened.line("Frees 3.2 MiB of 2 trials").isEmpty(), kPatience);
        opened.keep().setCurrentIndex(1);  // the newest and the best
        QTRY_VERIFY_WITH_TIMEOUT(!opened.line("By these choices there is nothing").isEmpty(), kPatience);
        QVERIFY(!opened.button("Free")->isEnabled());
        opened.keep().setCurrentIndex(0);
        opened.box("Only these")->setChecked(true);
        opened.trials().setText("1");
        QTRY_VERIFY_WITH_TIMEOUT(!opened.line("Frees 200.0 KiB of 1 trial").isEmpty(), kPatience);
        opened.trials().setText("x");
        QVERIFY(!opened.line("disk.trials").isEmpty());
        QVERIFY(!opened.button("Free")->isEnabled());
        QVERIFY(fs::exists(desktop.places.run(1) / "checkpoints/best.safetensors"));  // nothing has gone yet
    }

    void itFreesAndLooksAgain() {
        Desktop desktop;
        addTrial(desktop, {100, 2'000});
        desktop.open();
        QTRY_COMPARE_WITH_TIMEOUT(desktop.rows(), 1, kPatience);
        const Opened opened(desktop);
        QTRY_VERIFY_WITH_TIMEOUT(opened.button("Free 2.0 MiB") && opened.button("Free 2.0 MiB")->isEnabled(),
                                 kPatience);
        QTest::mouseClick(opened.button("Free 2.0 MiB"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(opened.line("Freed"), QString("Freed 2.0 MiB."), kPatience);
        QCOMPARE(rolesOf(desktop, 1), (std::vector<std::string>{"last"}));
        QTRY_VERIFY_WITH_TIMEOUT(!opened.line("By these choices").isEmpty(), kPatience);
        QVERIFY(!opened.button("Free")->isEnabled());
        QTRY_VERIFY_WITH_TIMEOUT(opened.table().item(0, 3)->text().endsWith("KiB"), kPatience);
        QCOMPARE(desktop.rows(), 1);  // the trial stays
    }

    // It begins to run between the look and the press.
    void aTrialThatRunsByThenIsSpared() {
        Desktop desktop;
        addTrial(desktop, {100, 2'000});
        desktop.open();
        QTRY_COMPARE_WITH_TIMEOUT(desktop.rows(), 1, kPatience);
        const Opened opened(desktop);
        QTRY_VERIFY_WITH_TIMEOUT(opened.button("Free 2.0 MiB") && opened.button("Free 2.0 MiB")->isEnabled(),
                                 kPatience);
        const auto lease = Lease::tryAcquire(desktop.places.lease(1));
        QTest::mouseClick(opened.button("Free 2.0 MiB"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(opened.line("Freed").contains("Left alone, having begun to run"), kPatience);
        QCOMPARE(rolesOf(desktop, 1), (std::vector<std::string>{"last", "best"}));
    }

    // A person who does not see the screen, or has no mouse.
    void everythingHasANameAndIsReached() {
        Desktop desktop;
        addTrial(desktop, {100, 200});
        desktop.open();
        const Opened opened(desktop);
        for (auto* each : opened.dialog->findChildren<QWidget*>()) {
            const bool isControl = qobject_cast<QComboBox*>(each) || qobject_cast<QAbstractSpinBox*>(each) ||
                                   qobject_cast<QTableWidget*>(each) ||
                                   (qobject_cast<QLineEdit*>(each) && !qobject_cast<QAbstractSpinBox*>(each->parent()));
            if (isControl) QVERIFY2(!each->accessibleName().isEmpty(), each->metaObject()->className());
        }
        QVERIFY(opened.button("Close")->isDefault());  // Enter frees nothing
        QVERIFY(!opened.button("Free")->isDefault() && !opened.button("Free")->autoDefault());
        QTest::keyClick(opened.dialog, Qt::Key_Escape);
        QTRY_VERIFY(!desktop.page->findChild<DiskDialog*>());
    }
};

QTEST_MAIN(TestDiskDialog)
#include "tst_disk_dialog.moc"
