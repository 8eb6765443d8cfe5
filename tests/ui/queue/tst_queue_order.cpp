#include <QtTest>
#include <algorithm>
#include <functional>
#include <vector>

#include "ui/queue/queue_actions.h"
#include "ui/queue/queue_order.h"
#include "ui/queue/queue_steps.h"

using namespace lockstep;
using namespace lockstep::ui;

namespace {

using Verb = QueueStep::Verb;

QueueEntry entry(std::int64_t trial, std::int64_t priority = 0) {
    QueueEntry made;
    made.trial = trial;
    made.priority = priority;
    return made;
}

std::vector<QueueEntry> entries(std::int64_t count) {
    std::vector<QueueEntry> all;
    for (std::int64_t i = 1; i <= count; ++i) all.push_back(entry(i));
    return all;
}

QueueRow row(std::int64_t trial, bool isRunning = false, bool held = false) {
    QueueRow made;
    made.line.entry = entry(trial);
    made.line.entry.held = held;
    made.line.isRunning = isRunning;
    made.line.reason = held ? WaitReason::Held : WaitReason::None;
    return made;
}

// What becomes of a list by these steps, by the rules of QueueStore.
std::vector<std::int64_t> after(std::vector<QueueEntry> list, const QueueSteps& steps) {
    for (const QueueStep& step : steps) {
        const auto at = std::ranges::find(list, step.of, &QueueEntry::trial);
        QueueEntry moved = *at;
        if (step.verb == Verb::Priority) {
            at->priority = step.value;
            continue;
        }
        list.erase(at);
        auto before = list.begin();
        if (step.verb == Verb::Before) before = std::ranges::find(list, step.value, &QueueEntry::trial);
        if (step.verb == Verb::Last)
            before = std::ranges::find_if(list, [&](const auto& each) { return each.priority < moved.priority; });
        else moved.priority = before->priority;
        list.insert(before, moved);
        std::ranges::stable_sort(list, std::greater(), &QueueEntry::priority);
    }
    std::vector<std::int64_t> order;
    for (const QueueEntry& each : list) order.push_back(each.trial);
    return order;
}

using Order = std::vector<std::int64_t>;

}  // namespace

// What is moved where, as a person means it who sees a list.
class TestQueueOrder : public QObject {
    Q_OBJECT
private slots:
    void oneMovesAPlaceAtATime() {
        const auto list = entries(4);
        QCOMPARE(after(list, movedUp(list, {3})), (Order{1, 3, 2, 4}));
        QCOMPARE(after(list, movedDown(list, {3})), (Order{1, 2, 4, 3}));
        QCOMPARE(after(list, movedDown(list, {1})), (Order{2, 1, 3, 4}));
        QVERIFY(movedUp(list, {1}).empty() && movedDown(list, {4}).empty());
        QVERIFY(movedUp(list, {}).empty() && movedUp(list, {9}).empty());
        QVERIFY(movedDown(entries(1), {1}).empty());
    }

    // Several stay together, in their order; those that are scattered come together first.
    void severalMoveAsOne() {
        const auto list = entries(5);
        QCOMPARE(after(list, movedUp(list, {3, 4})), (Order{1, 3, 4, 2, 5}));
        QCOMPARE(after(list, movedDown(list, {2, 3})), (Order{1, 4, 2, 3, 5}));
        QCOMPARE(after(list, movedUp(list, {1, 4})), (Order{1, 4, 2, 3, 5}));
        QCOMPARE(after(list, movedDown(list, {2, 5})), (Order{1, 3, 4, 2, 5}));
        QVERIFY(movedUp(list, {1, 2}).empty() && movedDown(list, {4, 5}).empty());
        QVERIFY(movedUp(list, {1, 2, 3, 4, 5}).empty());
    }

    void aDropIsBeforeAnother() {
        const auto list = entries(5);
        QCOMPARE(after(list, movedBefore(list, {4, 5}, 2)), (Order{1, 4, 5, 2, 3}));
        QCOMPARE(after(list, movedBefore(list, {1}, 0)), (Order{2, 3, 4, 5, 1}));
        QVERIFY(movedBefore(list, {1}, 2).empty());
        QVERIFY(movedBefore(list, {5}, 0).empty());
        QCOMPARE(after(list, movedFirst(list, {2, 4})), (Order{2, 4, 1, 3, 5}));
        QVERIFY(movedFirst(list, {1, 2}).empty());
    }

    // A list is by priority first: whoever moves past another one takes what that has.
    void prioritiesFollow() {
        const std::vector<QueueEntry> list{entry(1, 5), entry(2, 5), entry(3), entry(4)};
        QCOMPARE(after(list, movedUp(list, {3})), (Order{1, 3, 2, 4}));
        QCOMPARE(after(list, movedDown(list, {2})), (Order{1, 3, 2, 4}));
        QCOMPARE(after(list, movedBefore(list, {1}, 0)), (Order{2, 3, 4, 1}));
        QCOMPARE(after(list, movedLast(list, {1})), (Order{2, 1, 3, 4}));  // of its own priority
        QVERIFY(movedLast(list, {2}).empty() && movedLast(list, {2, 4}).empty());
        QCOMPARE(raisedBy(list, {2, 3}, 1), (QueueSteps{{Verb::Priority, 2, 6}, {Verb::Priority, 3, 1}}));
    }

    void actionsFollowTheSelection() {
        const std::vector<QueueRow> rows{row(7, true), row(1), row(2, false, true), row(3)};
        const auto of = [&](const ChosenTrials& chosen) { return actionsFor(rows, chosen); };
        QVERIFY(!of({}).cancel && !of({}).open && !of({}).hold);
        const auto running = of({7});
        QVERIFY(running.open && running.cancel);
        QVERIFY(!running.hold && !running.release && !running.up && !running.first && !running.priority);
        QVERIFY(of({1}).hold && !of({1}).release && of({1}).down && !of({1}).up && of({1}).priority);
        QVERIFY(!of({2}).hold && of({2}).release && of({2}).up);
        QVERIFY(of({1, 2}).hold && of({1, 2}).release && !of({1, 2}).open && !of({1, 2}).first);
        QCOMPARE(heldOf(rows, {7, 1, 2, 3}, true), (QueueSteps{{Verb::Hold, 1}, {Verb::Hold, 3}}));
        QCOMPARE(cancelledOf(rows, {3, 7}), (QueueSteps{{Verb::Cancel, 7}, {Verb::Cancel, 3}}));
    }

    // 3 comes after 2, which comes after 1; 7 runs.
    void whoMayBeWaitedFor() {
        std::vector<QueueRow> rows{row(7, true), row(1), row(2), row(3), row(4)};
        rows[2].line.entry.after = 1;
        rows[3].line.entry.after = 2;
        const auto others = [&](const ChosenTrials& chosen) {
            Order trials;
            for (const QueueRow* each : awaitable(rows, chosen)) trials.push_back(each->line.entry.trial);
            return trials;
        };
        QCOMPARE(others({1}), (Order{7, 4}));
        QCOMPARE(others({3}), (Order{7, 1, 2, 4}));
        QCOMPARE(others({2, 4}), (Order{7, 1}));
        QCOMPARE(others({7}), Order{});  // it has begun
        QVERIFY(actionsFor(rows, {4}).after && !actionsFor(rows, {7}).after && !actionsFor(rows, {}).after);
        QVERIFY(actionsFor(rows, {3}).notAfter && !actionsFor(rows, {4}).notAfter);
        QCOMPARE(afterOf(rows, {7, 2, 4}, 1), (QueueSteps{{Verb::After, 4, 1}}));  // 2 does already
        QCOMPARE(afterOf(rows, {2, 4}, 0), (QueueSteps{{Verb::After, 2, 0}}));
        rows[1].line.entry.after = 3;  // a circle, which nobody made here
        QCOMPARE(others({4}), Order{7});
    }

    // As `lockstep queue --help` and `lockstep sweeps --help` have it.
    void everyStepIsACommand() {
        QCOMPARE(commandsOf({{Verb::Hold, 7}, {Verb::Before, 5, 3}}),
                 QString("lockstep queue hold 7\nlockstep queue before 5 3"));
        QCOMPARE(commandsOf({{Verb::Priority, 5, -1}}), QString("lockstep queue priority 5 -1"));
        QCOMPARE(commandsOf({{Verb::After, 5, 3}, {Verb::After, 6, 0}}),
                 QString("lockstep queue after 5 3\nlockstep queue after 6 0"));
        QCOMPARE(commandsOf({{Verb::ExtendSweep, 2, 40}}), QString("lockstep sweeps 2 --trials 40"));
        QCOMPARE(commandsOf({{Verb::ContinueSweep, 2}}), QString("lockstep sweeps 2 --continue"));
        QCOMPARE(commandsOf({QueueStep{}}), QString("lockstep queue keep"));
    }
};

QTEST_APPLESS_MAIN(TestQueueOrder)
#include "tst_queue_order.moc"
