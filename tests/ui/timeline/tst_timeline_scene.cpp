#include <rapidcheck.h>

#include <QtTest>

#include "tests/ui/timeline/timeline_support.h"
#include "ui/timeline/timeline_scene.h"
#include "ui/timeline/timeline_text.h"

using namespace lockstep;
using namespace lockstep::ui;

class TestTimelineScene : public QObject {
    Q_OBJECT
private slots:
    void zoomKeepsTheTimeUnderTheCursor() {
        QVERIFY(rc::check([] {
            TimelineViewport viewport;
            viewport.setWidth(*rc::gen::inRange(100, 3000));
            viewport.setData({5'000'000, 5'000'000 + *rc::gen::inRange<std::int64_t>(100'000, 1'000'000'000'000)});
            viewport.fit();
            const double x = *rc::gen::inRange(5, 96) * 0.01 * viewport.width();
            for (int i = 0; i < 20; ++i) {
                const std::int64_t before = viewport.timeAt(x);
                viewport.zoomAt(x, 0.8);
                RC_ASSERT(viewport.range().length() >= TimelineViewport::kShortest);
                RC_ASSERT(std::abs(viewport.timeAt(x) - before) <= 2);
            }
        }));
    }

    void theViewStaysNearItsData() {
        QVERIFY(rc::check([] {
            TimelineViewport viewport;
            viewport.setWidth(1000);
            viewport.setData({0, 1'000'000});
            for (int i = 0; i < 30; ++i) {
                switch (*rc::gen::inRange(0, 5)) {
                    case 0: viewport.zoomAt(*rc::gen::inRange(0, 1000), *rc::gen::inRange(1, 400) * 0.01); break;
                    case 1: viewport.panBy(*rc::gen::inRange(-5000, 5000)); break;
                    case 2: viewport.goToBegin(); break;
                    case 3: viewport.goToEnd(); break;
                    case 4: viewport.show({*rc::gen::inRange(-100, 2'000'000), 2'100'000}); break;
                }
                RC_ASSERT(viewport.range().begin < 1'000'000 && viewport.range().end > 0);
                RC_ASSERT(viewport.range().length() <= 1'040'001);
            }
        }));
    }

    void followingKeepsTheNewestInView() {
        TimelineViewport viewport;
        viewport.setWidth(1000);
        viewport.setData({0, 10'000'000});
        viewport.show({0, 1'000'000});
        viewport.setFollowing(true);
        const std::int64_t length = viewport.range().length();
        for (std::int64_t end = 10'000'000; end < 20'000'000; end += 333'333) {
            viewport.setData({0, end});
            QVERIFY(viewport.following() && viewport.range().end >= end && viewport.range().end < end + length / 10);
            QCOMPARE(viewport.range().length(), length);
        }
        viewport.panBy(-10);
        QVERIFY(!viewport.following());
        const TimeRange kept = viewport.range();
        viewport.setData({0, 30'000'000});
        QCOMPARE(viewport.range(), kept);
    }

    void whatIsFittedStaysWhole() {
        TimelineViewport viewport;
        viewport.setWidth(1000);
        viewport.setData({0, 10'000'000});
        viewport.fit();
        viewport.setData({0, 50'000'000});
        QVERIFY(viewport.range().begin <= 0 && viewport.range().end >= 50'000'000);
        viewport.zoomAt(500, 0.5);
        const TimeRange kept = viewport.range();
        viewport.setData({0, 70'000'000});
        QCOMPARE(viewport.range(), kept);
    }

    void ticksAreRound() {
        QVERIFY(rc::check([] {
            const auto begin = *rc::gen::inRange<std::int64_t>(-1'000'000, 1'000'000'000'000);
            const TimeRange range{begin, begin + *rc::gen::inRange<std::int64_t>(10, 1'000'000'000'000)};
            const auto most = *rc::gen::inRange<std::size_t>(2, 30);
            std::int64_t spacing = 0;
            const auto ticks = axisTicks(range, 77, most, spacing);
            RC_ASSERT(ticks.size() <= most);
            RC_ASSERT(static_cast<std::int64_t>(ticks.size() + 1) * spacing >= range.length());
            for (const std::int64_t tick : ticks) {
                RC_ASSERT((tick - 77) % spacing == 0 && tick >= range.begin && tick < range.end);
            }
        }));
    }

    void aMillionSpansCostNoMoreThanThePixels() {
        MadeTrace trace(4);
        TimelineModel model;
        for (int step = 0; step < 42'000; ++step) {
            for (int rank = 0; rank < 4; ++rank) trace.addStep(rank, step, 100'000 + 100 * step);
        }
        trace.appendTo(model);
        QVERIFY(model.size() > 850'000 && model.added() > 1'000'000);
        TimelineViewport viewport;
        viewport.setWidth(1500);
        viewport.setData(model.range());
        viewport.fit();
        std::size_t most = 0;
        for (int zoom = 0; zoom < 60; ++zoom) {
            const TimelineScene scene = layOut(model, viewport, 800, 0);
            most = std::max(most, scene.rects.size());
            QVERIFY(scene.rects.size() <= model.lanes().size() * 2 * (1500 + 2));
            QVERIFY(scene.marks.size() <= 24 && scene.ticks.size() <= 14);
            for (const auto& rect : scene.rects) {
                QVERIFY(rect.width >= 1 && rect.x >= TimelineScene::kGutter);
                QVERIFY(rect.x + rect.width <= TimelineScene::kGutter + 1500 + 1.5);
                QVERIFY(rect.density > 0 && rect.density <= 1);
            }
            viewport.zoomAt(700, 0.85);
        }
        QVERIFY(most > 1500);
    }

    void rowsBelowTheEdgeAreNotLaidOut() {
        MadeTrace trace(64);
        for (int rank = 0; rank < 64; ++rank) trace.addStep(rank, 0, 0);
        TimelineModel model;
        trace.appendTo(model);
        TimelineViewport viewport;
        viewport.setWidth(1000);
        viewport.setData(model.range());
        const TimelineScene scene = layOut(model, viewport, 300, 0);
        QVERIFY(scene.contentHeight > 5000);
        QVERIFY(scene.rects.size() < 40);
        const TimelineScene scrolled = layOut(model, viewport, 300, scene.contentHeight - 300);
        QVERIFY(!scrolled.rects.empty() && scrolled.rects.back().lane->rank == 63);
        QCOMPARE(scrolled.laneAt(10), nullptr);
        QCOMPARE(scrolled.laneAt(scrolled.rows.back().y + 1)->row, Row::Wait);
    }

    void durationsAndAxis() {
        QCOMPARE(durationText(350), "350 ns");
        QCOMPARE(durationText(12'300), "12.3 µs");
        QCOMPARE(durationText(4'560'000), "4.56 ms");
        QCOMPARE(durationText(1'230'000'000), "1.23 s");
        QCOMPARE(durationText(125'000'000'000), "2 min 5 s");
        QCOMPARE(axisText(1'250'000'000, 50'000'000), "1.25 s");
        QCOMPARE(axisText(640'000, 20'000), "640 µs");
        QCOMPARE(axisText(0, 1'000'000'000), "0 s");
        QCOMPARE(axisText(1'500'000, 500'000), "1.5 ms");
    }

    void theFactsAsSentences() {
        MadeTrace trace(1);
        for (int step = 0; step < 10; ++step) trace.addStep(0, step, 100 * step);
        TimelineModel model;
        QCOMPARE(rangeText(model, {0, 100}).size(), 1);
        trace.appendTo(model);
        const QStringList text = rangeText(model, {100, 300});
        QCOMPARE(text.size(), 2);
        QCOMPARE(text[0], "200 ns, from 100 ns to 300 ns, steps 1 to 3.");
        QVERIFY2(text[1].startsWith("Rank 0, of all this time: computing 40.00 %, updating weights 10.00 %, "
                                    "waiting for all-reduce 20.00 %, waiting for data 30.00 %, other 0.00 %. An "
                                    "all-reduce was under way 30.00 % of the "
                                    "time; 33.33 % of that hid behind computing. Longest: conv2d first 30.00 %, dense"),
                 qPrintable(text[1]));
        const auto hit = model.hit(*model.lanes().at(1), 130, 1);
        QCOMPARE(hitText(model, *hit),
                 QStringList({"conv2d first", "computing", "30 ns, at 120 ns", "Rank 0, step 2"}));
    }
};

QTEST_GUILESS_MAIN(TestTimelineScene)
#include "tst_timeline_scene.moc"
