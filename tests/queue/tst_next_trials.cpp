#include <rapidcheck.h>

#include <QtTest>
#include <algorithm>

#include "engine/queue/next_trials.h"

using namespace lockstep;

namespace {

QueuedTrial trialOf(std::int64_t id, int cores, std::optional<std::int64_t> group = {}) {
    QueuedTrial trial;
    trial.entry.trial = id;
    trial.demand.cores = cores;
    trial.group = group;
    return trial;
}

Room cores(int count) { return Room({count, {}}); }

std::vector<std::int64_t> started(const std::vector<QueuedTrial>& queue, const std::vector<WaitReason>& reasons) {
    std::vector<std::int64_t> trials;
    for (std::size_t i = 0; i < queue.size(); ++i) {
        if (!queue[i].isRunning && reasons[i] == WaitReason::None) trials.push_back(queue[i].entry.trial);
    }
    return trials;
}

QueuedTrial anyTrial(std::int64_t id) {
    QueuedTrial trial = trialOf(id, *rc::gen::inRange(0, 5));
    trial.isRunning = *rc::gen::inRange(0, 4) == 0;
    trial.entry.held = *rc::gen::inRange(0, 6) == 0;
    trial.awaitsOther = *rc::gen::inRange(0, 6) == 0;
    if (*rc::gen::inRange(0, 2) == 0) trial.group = *rc::gen::inRange(1, 3);
    if (*rc::gen::inRange(0, 3) == 0) trial.demand.cards.insert("cuda:" + std::to_string(*rc::gen::inRange(0, 2)));
    return trial;
}

}  // namespace

class TestNextTrials : public QObject {
    Q_OBJECT
private slots:
    void asManyAsFitInTheirOrder() {
        const std::vector queue{trialOf(1, 1), trialOf(2, 1), trialOf(3, 1)};
        QCOMPARE(started(queue, waitReasons(queue, {}, cores(2))), (std::vector<std::int64_t>{1, 2}));
        QCOMPARE(waitReasons(queue, {}, cores(2)).back(), WaitReason::Machine);
    }

    // What a person started by hand counts, also where that is more than there is.
    void whatRunsOutsideIsNotTakenTwice() {
        const std::vector queue{trialOf(1, 1)};
        Room room = cores(2);
        room.take({2, {}});
        QCOMPARE(waitReasons(queue, {}, room).front(), WaitReason::Machine);
        room.take({2, {}});
        QVERIFY(started(queue, waitReasons(queue, {}, room)).empty());
    }

    // A large one keeps what is free until it fits; small ones behind it may have what it does not need.
    void aLargeTrialDoesNotWaitForEver() {
        std::vector queue{trialOf(1, 1), trialOf(2, 2), trialOf(3, 1)};
        queue[0].isRunning = true;
        QVERIFY(started(queue, waitReasons(queue, {}, cores(2))).empty());
        queue[2].demand = {0, {"cuda:0"}};
        QCOMPARE(started(queue, waitReasons(queue, {}, Room({2, {"cuda:0"}}))), std::vector<std::int64_t>{3});
    }

    // What a person holds or has paused is for a person to let go on.
    void someoneIsNeededWhereThereIsWork() {
        const auto isNeeded = [](const std::vector<QueuedTrial>& queue,
                                 const std::map<std::int64_t, GroupLimit>& groups) {
            return needsKeeper(queue, waitReasons(queue, groups, cores(2)), groups);
        };
        const std::map<std::int64_t, GroupLimit> active{{1, {1, false}}}, paused{{1, {1, true}}};
        QVERIFY(!isNeeded({}, {}) && !isNeeded({}, paused));
        QVERIFY(isNeeded({}, active));  // its trials are to be made
        std::vector queue{trialOf(1, 1, 1)};
        QVERIFY(isNeeded(queue, active) && !isNeeded(queue, paused));
        queue[0].isRunning = true;
        QVERIFY(isNeeded(queue, paused));  // somebody looks how it ends
        queue[0].isRunning = false;
        queue[0].entry.held = true;
        QVERIFY(!isNeeded(queue, active));
        queue.push_back(trialOf(2, 5));  // it waits for room that is not there yet
        QVERIFY(isNeeded(queue, active));
    }

    void aCardIsForOne() {
        std::vector queue{trialOf(1, 0), trialOf(2, 0), trialOf(3, 0)};
        queue[0].demand.cards = queue[1].demand.cards = {"cuda:0"};
        queue[2].demand.cards = {"cuda:1"};
        QCOMPARE(started(queue, waitReasons(queue, {}, Room({2, {"cuda:0", "cuda:1"}}))),
                 (std::vector<std::int64_t>{1, 3}));
    }

    void reasonsAreTold() {
        std::vector queue{trialOf(1, 1), trialOf(2, 1), trialOf(3, 1, 5), trialOf(4, 1, 6), trialOf(5, 1, 6)};
        queue[0].entry.held = true;
        queue[1].awaitsOther = true;
        const auto reasons = waitReasons(queue, {{5, {1, true}}, {6, {1, false}}}, cores(8));
        QCOMPARE(reasons, (std::vector{WaitReason::Held, WaitReason::AfterOther, WaitReason::GroupPaused,
                                       WaitReason::None, WaitReason::GroupIsBusy}));
    }

    void neverMoreThanThereIs() {
        rc::check([] {
            std::vector<QueuedTrial> queue;
            for (int i = 0; i < *rc::gen::inRange(0, 12); ++i) queue.push_back(anyTrial(i + 1));
            std::map<std::int64_t, GroupLimit> groups{{1, {*rc::gen::inRange(1, 3), false}}};
            Demand all{*rc::gen::inRange(1, 6), {"cuda:0", "cuda:1"}};
            const auto reasons = waitReasons(queue, groups, Room(all));
            int before = 0, after = 0;
            std::int64_t ofGroup = 0, atFirst = 0;
            std::multiset<std::string> cards, runningCards;
            for (std::size_t i = 0; i < queue.size(); ++i) {
                const bool starts = !queue[i].isRunning && reasons[i] == WaitReason::None;
                RC_ASSERT(!starts || (!queue[i].entry.held && !queue[i].awaitsOther));
                if (queue[i].isRunning) before += queue[i].demand.cores;
                if (queue[i].isRunning || starts) after += queue[i].demand.cores;
                if (queue[i].isRunning && queue[i].group == 1) ++atFirst;
                if ((queue[i].isRunning || starts) && queue[i].group == 1) ++ofGroup;
                for (const auto& card : queue[i].demand.cards) {
                    if (queue[i].isRunning) runningCards.insert(card);
                    if (starts) cards.insert(card);
                }
            }
            RC_ASSERT(after <= std::max(before, all.cores));
            RC_ASSERT(ofGroup <= std::max(atFirst, groups[1].parallel));
            for (const auto& card : cards) RC_ASSERT(cards.count(card) == 1 && runningCards.count(card) == 0);
        });
    }

    void whatBecomesOfATrial_data() {
        QTest::addColumn<int>("state");
        QTest::addColumn<int>("tries");
        QTest::addColumn<bool>("mayRetry");
        QTest::addColumn<int>("outlook");
        const auto add = [](const char* name, RunState state, int tries, bool mayRetry, Outlook outlook) {
            QTest::newRow(name) << static_cast<int>(state) << tries << mayRetry << static_cast<int>(outlook);
        };
        add("waits", RunState::Queued, 0, true, Outlook::Start);
        add("finished", RunState::Finished, 1, true, Outlook::Ended);
        add("finished, asked for", RunState::Finished, -1, true, Outlook::Ended);
        add("stopped by a person", RunState::Stopped, 1, true, Outlook::Ended);
        add("stopped, asked for", RunState::Stopped, -1, true, Outlook::Start);
        add("failed once", RunState::Failed, 1, true, Outlook::Start);
        add("failed too often", RunState::Failed, 3, true, Outlook::Failed);
        add("failed for good", RunState::Failed, 1, false, Outlook::Failed);
        add("failed for good, asked for", RunState::Failed, -1, false, Outlook::Start);
        add("killed", RunState::Crashed, 3, true, Outlook::Start);
        add("killed again and again", RunState::Crashed, 13, true, Outlook::Failed);
    }
    void whatBecomesOfATrial() {
        QFETCH(int, state);
        QFETCH(int, tries);
        QFETCH(bool, mayRetry);
        QFETCH(int, outlook);
        QueuedTrial trial = trialOf(1, 1);
        trial.entry.retries = 2;
        trial.entry.tries = std::max(tries, 0);
        trial.attempts = 2;
        if (tries < 0) trial.entry.asked = 2;
        trial.state = static_cast<RunState>(state);
        trial.retries = mayRetry;
        QCOMPARE(static_cast<int>(outlookOf(trial)), outlook);
    }

    void threadsTakeCores() {
        DeviceRequest request;
        request.available = {{"cpu", "a processor", "cpu", 0, permittedCores()},
                             {"cuda:0", "a card", "cuda"},
                             {"cuda:1", "another", "cuda"}};
        QCOMPARE(demandOf("cpu:1x1", request).cores, 1);
        QCOMPARE(demandOf("cpu:1", request).cores, permittedCores());
        QCOMPARE(demandOf("cpu:64", request).cores, permittedCores());
        QCOMPARE(demandOf("cuda:0,0", request), (Demand{0, {"cuda:0"}}));
        QCOMPARE(demandOf("cuda:all", request).cards.size(), std::size_t{2});
        QCOMPARE(demandOf("cuda:7", request), Demand());
        QCOMPARE(wholeMachine(request), (Demand{permittedCores(), {"cuda:0", "cuda:1"}}));
    }
};

QTEST_APPLESS_MAIN(TestNextTrials)
#include "tst_next_trials.moc"
