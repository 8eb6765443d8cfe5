#include <QtTest>
#include <thread>

#include "engine/core/trace.h"

using namespace lockstep;

class TestTrace : public QObject {
    Q_OBJECT
private slots:
    void keepsTheNewest() {
        TraceLane lane(0, "compute", 8);
        for (int i = 0; i < 20; ++i) lane.add({static_cast<std::uint32_t>(i), i, i, i + 1});
        const auto spans = lane.read();
        QCOMPARE(spans.size(), std::size_t{8});
        QCOMPARE(spans.front().step, 12);
        QCOMPARE(spans.back().step, 19);
    }
    // A torn span would mix numbers of two steps.
    void readersNeverSeeHalfASpan() {
        TraceLane lane(0, "compute", 16);
        std::atomic<bool> done{false};
        std::jthread writer([&] {
            for (std::int64_t i = 0; i < 300000; ++i) lane.add({static_cast<std::uint32_t>(i), i, 2 * i, 3 * i});
            done = true;
        });
        std::size_t seen = 0;
        for (bool finished = false; !finished;) {
            finished = done;  // read once more after the writer's end
            std::int64_t last = -1;
            for (const TraceSpan& span : lane.read()) {
                QCOMPARE(span.name, static_cast<std::uint32_t>(span.step));
                QCOMPARE(span.beginNs, 2 * span.step);
                QCOMPARE(span.endNs, 3 * span.step);
                QVERIFY(span.step > last);
                last = span.step;
                ++seen;
            }
        }
        QVERIFY(seen >= 16);
    }
    void namesAndLanes() {
        TraceBoard board;
        board.addLane(1, "all-reduce");
        QCOMPARE(board.nameId("conv"), 0u);
        QCOMPARE(board.nameId("relu"), 1u);
        QCOMPARE(board.nameId("conv"), 0u);
        QCOMPARE(board.lanes().size(), std::size_t{1});
        QCOMPARE(board.lanes().front()->rank(), 1);
    }
};

QTEST_APPLESS_MAIN(TestTrace)
#include "tst_trace.moc"
