#include <rapidcheck.h>

#include <QtTest>

#include "tests/ui/timeline/timeline_support.h"

using namespace lockstep;
using namespace lockstep::ui;

namespace {

SpanTrack anyTrack(std::vector<Span>& spans) {
    SpanTrack track;
    std::int64_t at = *rc::gen::inRange<std::int64_t>(-500, 500);
    const int count = *rc::gen::inRange(1, 200);
    for (int i = 0; i < count; ++i) {
        at += *rc::gen::inRange<std::int64_t>(0, *rc::gen::arbitrary<bool>() ? 4 : 60);
        const std::int64_t end = at + *rc::gen::inRange<std::int64_t>(0, *rc::gen::arbitrary<bool>() ? 4 : 90);
        const SpanKind kind = *rc::gen::element(SpanKind::WaitReduce, SpanKind::WaitData);
        spans.push_back({at, end, i, static_cast<std::uint32_t>(i), kind});
        track.append(spans.back());
        at = end;
    }
    return track;
}

TimeRange anyRange() {
    const auto begin = *rc::gen::inRange<std::int64_t>(-600, 3000);
    return {begin, begin + *rc::gen::inRange<std::int64_t>(1, 3000)};
}

bool touches(const Span& span, TimeRange range) { return span.end > range.begin && span.begin < range.end; }

}  // namespace

class TestTimelineModel : public QObject {
    Q_OBJECT
private slots:
    void foldedBlocksAreTheSpans() {
        QVERIFY(rc::check([] {
            std::vector<Span> spans;
            const SpanTrack track = anyTrack(spans);
            const TimeRange range = anyRange();
            const auto pixel = *rc::gen::inRange<std::int64_t>(1, 200);
            std::vector<FoldedBlock> blocks;
            track.fold(range, pixel, blocks);
            RC_ASSERT(static_cast<std::int64_t>(blocks.size()) <= 2 * (range.length() / pixel + 2));
            std::uint64_t next = track.firstEndingAfter(range.begin);
            for (const FoldedBlock& block : blocks) {
                RC_ASSERT(block.first == next && block.count > 0);
                KindTimes times{};
                for (std::uint64_t i = block.first; i < block.first + block.count; ++i) {
                    const Span& span = spans[i];
                    RC_ASSERT(block.count == 1 || span.duration() < pixel);
                    times[static_cast<std::size_t>(span.kind)] += span.duration();
                }
                RC_ASSERT(block.busy == times[4] + times[5]);
                RC_ASSERT(block.begin == spans[block.first].begin &&
                          block.end == spans[block.first + block.count - 1].end);
                RC_ASSERT(block.busy == 0 ||
                          times[static_cast<std::size_t>(block.kind)] >= std::max(times[4], times[5]));
                next += block.count;
            }
            for (const Span& span : spans) {  // nothing of the range is left out
                if (touches(span, range) && span.duration() > 0) RC_ASSERT(span.step < static_cast<std::int64_t>(next));
            }
        }));
    }

    void sumsOfARangeAreThoseOfItsSpans() {
        QVERIFY(rc::check([] {
            std::vector<Span> spans;
            SpanTrack track = anyTrack(spans);
            const TimeRange range = anyRange();
            const std::int64_t cut = range.begin - *rc::gen::inRange<std::int64_t>(0, 500);
            track.dropUntil(cut);
            RC_ASSERT(track.size() == 0 || track.first() < SpanTrack::kStride || spans[track.first() - 1].end <= cut);
            KindTimes expected{};
            for (const Span& span : spans) {
                const std::int64_t inside = std::min(span.end, range.end) - std::max(span.begin, range.begin);
                expected[static_cast<std::size_t>(span.kind)] += std::max<std::int64_t>(inside, 0);
            }
            RC_ASSERT(track.times(range) == expected);
        }));
    }

    void panningKeepsTheFolds() {
        QVERIFY(rc::check([] {
            std::vector<Span> spans;
            const SpanTrack track = anyTrack(spans);
            const auto pixel = *rc::gen::inRange<std::int64_t>(1, 100);
            std::vector<FoldedBlock> all, part;
            track.fold({-10000, 100000}, pixel, all);
            const TimeRange range = anyRange();
            track.fold(range, pixel, part);
            for (std::size_t i = 1; i + 1 < part.size(); ++i) {  // the outermost may be cut
                const auto same = [&](const FoldedBlock& each) {
                    return each.first == part[i].first && each.count == part[i].count;
                };
                RC_ASSERT(std::ranges::any_of(all, same));
            }
        }));
    }

    void overlappingSpansLieInSlots() {
        QVERIFY(rc::check([] {
            MadeTrace trace(1);
            const int count = *rc::gen::inRange(1, 60);
            for (int i = 0; i < count; ++i) {
                const auto begin = *rc::gen::inRange<std::int64_t>(0, 300);
                trace.add(0, 1, "all-reduce 0", i, begin, begin + *rc::gen::inRange<std::int64_t>(1, 20));
            }
            std::size_t deepest = 0;
            const auto spans = trace.spans;
            for (const auto& each : spans) {
                const auto depth = std::ranges::count_if(spans, [&](const auto& other) {
                    return other.span.beginNs <= each.span.beginNs && other.span.endNs > each.span.beginNs;
                });
                deepest = std::max(deepest, static_cast<std::size_t>(depth));
            }
            RC_PRE(deepest <= 16u);
            TimelineModel model;
            trace.appendTo(model);
            RC_ASSERT(model.lanes().size() >= deepest);
            RC_ASSERT(model.size() == spans.size());
            for (const auto& lane : model.lanes()) {
                const SpanTrack& track = lane->spans;
                for (std::uint64_t i = 1; i < track.end(); ++i) RC_ASSERT(track.at(i - 1).end <= track.at(i).begin);
            }
            std::int64_t busy = 0;
            for (std::int64_t t = 0; t < 320; ++t) {
                busy +=
                    std::ranges::any_of(spans, [&](const auto& s) { return s.span.beginNs <= t && t < s.span.endNs; });
            }
            RC_ASSERT(model.statistics(model.range()).front().reducing == busy);
        }));
    }

    void aBucketKeepsItsSlot() {
        MadeTrace trace(1);
        trace.names.push_back("all-reduce 1");
        for (int step = 0; step < 5; ++step) {
            const std::int64_t at = 100 * step, early = step % 2;
            trace.add(0, 1, "all-reduce 0", step, at + 10, at + 50 + early);
            trace.add(0, 1, "all-reduce 1", step, at + 20, at + 51 - early);
        }
        TimelineModel model;
        trace.appendTo(model);
        QCOMPARE(model.lanes().size(), 2u);
        for (const auto& lane : model.lanes()) {
            for (std::uint64_t i = 0; i < 5; ++i) QCOMPARE(lane->spans.at(i).name, lane->spans.at(0).name);
        }
    }

    void namesTellKinds_data() {
        QTest::addColumn<QString>("lane");
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("kind");
        QTest::addRow("layer") << "compute"
                               << "conv2d block3/conv1" << int(SpanKind::Compute);
        QTest::addRow("copy") << "compute"
                              << "copy-in image" << int(SpanKind::Compute);
        QTest::addRow("update") << "compute"
                                << "update 0" << int(SpanKind::Update);
        QTest::addRow("gate") << "compute"
                              << "gate" << int(SpanKind::Update);
        QTest::addRow("norm") << "compute"
                              << "square-sum 3" << int(SpanKind::Update);
        QTest::addRow("waiting") << "compute"
                                 << "wait for all-reduce 2" << int(SpanKind::WaitReduce);
        QTest::addRow("bucket") << "all-reduce"
                                << "all-reduce 2" << int(SpanKind::Reduce);
        QTest::addRow("batch") << "load"
                               << "read" << int(SpanKind::Load);
    }
    void namesTellKinds() {
        QFETCH(QString, lane);
        QFETCH(QString, name);
        QTEST(int(kindOf(lane.toStdString(), name.toStdString())), "kind");
    }

    void aStepIsSplitByKind() {
        MadeTrace trace(2);
        for (int rank : {1, 0}) {
            for (int step = 0; step < 3; ++step) trace.addStep(rank, step, 1000 + 100 * step);
        }
        TimelineModel model;
        trace.appendTo(model);
        QCOMPARE(model.ranks(), (std::vector<int>{0, 1}));
        QCOMPARE(model.lanes().size(), 10u);
        QCOMPARE(model.range(), (TimeRange{1000, 1290}));
        const auto rank = model.statistics({1100, 1200}).at(1);
        QCOMPARE(rank.rank, 1);
        QCOMPARE(rank.compute, 40);
        QCOMPARE(rank.waitReduce, 20);
        QCOMPARE(rank.update, 10);
        QCOMPARE(rank.reducing, 30);
        QCOMPARE(rank.hidden(), 10);
        QCOMPARE(rank.waitData, 30);  // up to 1120 for its own batch, from 1190 on for the next
        QCOMPARE(rank.other(), 0);
    }

    void onlyItsOwnBatchIsWaitedFor() {
        MadeTrace trace(1);
        trace.addStep(0, 0, 0);
        trace.add(0, 2, "read", 7, 95, 110);  // read ahead
        trace.add(0, 0, "conv2d first", 1, 120, 150);
        TimelineModel model;
        trace.appendTo(model);
        QCOMPARE(model.statistics(model.range()).front().waitData, 0);
    }

    void theOldestLeave() {
        MadeTrace trace(2);
        TimelineModel model(2000);
        for (int step = 0; step < 1000; ++step) {
            for (int rank : {0, 1}) trace.addStep(rank, step, 100 * step);
            if (step % 10 == 9) trace.appendTo(model);
            QVERIFY(model.size() <= 2000 + SpanTrack::kStride * model.lanes().size());
        }
        QVERIFY(model.size() > 1000);
        QCOMPARE(model.range().end, 99990);
        QVERIFY(model.range().begin > 50000);
        QCOMPARE(model.origin(), 0);
        QVERIFY(model.stepAt(0)->step > 500 && model.stepAt(99990)->step == 999);
        for (const auto& rank : model.statistics({99000, 100000})) QCOMPARE(rank.compute, 400);
    }

    void stepsAreMarkedSparsely() {
        MadeTrace trace(1);
        for (int step = 0; step < 1000; ++step) trace.addStep(0, step, 100 * step);
        TimelineModel model;
        trace.appendTo(model);
        const auto marks = model.steps(model.range(), 12);
        QVERIFY(marks.size() <= 12 && marks.size() >= 5);
        for (const auto& mark : marks) QCOMPARE((mark.step + 1) % 100, 0);
        QCOMPARE(model.steps({150, 460}, 50).size(), 3u);
        QCOMPARE(model.stepAt(350)->step, 3);
        QCOMPARE(*model.rangeOfStep(3), (TimeRange{320, 420}));
        QVERIFY(!model.rangeOfStep(1000));
    }

    void whatIsDrawnIsHit() {
        MadeTrace trace(1);
        for (int step = 0; step < 100; ++step) trace.addStep(0, step, 1000 * step);
        TimelineModel model;
        trace.appendTo(model);
        const auto& compute = *model.lanes().at(1);
        QCOMPARE(compute.row, Row::Compute);
        const auto one = model.hit(compute, 3030, 1);
        QVERIFY(one && one->block.count == 1);
        QCOMPARE(model.name(one->longest.name), "conv2d first");
        QCOMPARE(one->longest.step, 3);
        QVERIFY(!model.hit(compute, 3500, 1));
        const auto many = model.hit(compute, 5500, 10000);
        QVERIFY(many && many->block.count == 20);
        QCOMPARE(many->longest.duration(), 30);
    }

    void damagedTracesAreSurvived() {
        MadeTrace trace(1);
        trace.spans.push_back({99, {0, 0, 0, 10}});
        trace.spans.push_back({0, {99, 0, 0, 10}});
        trace.spans.push_back({0, {0, 0, 10, 0}});
        for (int i = 0; i < 1000; ++i) trace.add(0, 0, "conv2d first", 0, 0, 1000 + i);
        TimelineModel model;
        trace.appendTo(model);
        QVERIFY(model.lanes().size() <= 64);
        model.clear();
        QVERIFY(model.empty() && model.statistics({0, 10}).empty());
    }
};

QTEST_GUILESS_MAIN(TestTimelineModel)
#include "tst_timeline_model.moc"
