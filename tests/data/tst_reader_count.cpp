#include <QtTest>

#include "engine/data/reader_count.h"

using namespace lockstep;

namespace {

// A taker that needs so many seconds for a batch of 100, of readers that each make one in so many seconds; with `cores`
// of them at most at a time.
struct World {
    double takes = 0.1, makes = 0.1;
    int cores = 64;

    void run(ReaderCount& count, int batches = 400) const {
        for (int i = 0; i < batches; ++i) {
            const double made = makes / std::min(count.count(), cores), interval = std::max(takes, made);
            count.add(100, interval, interval - takes);
        }
    }
};

int settled(int most, const World& world) {
    ReaderCount count(most);
    world.run(count);
    return count.count();
}

}  // namespace

// How many reader threads a loader is worth.
class TestReaderCount : public QObject {
    Q_OBJECT
private slots:
    void oneIsEnoughForSlowTakers() { QCOMPARE(settled(16, {.takes = 0.1, .makes = 0.05}), 1); }
    void thereAreMoreAsLongAsTheyAreWaitedFor() {
        QCOMPARE(settled(16, {.takes = 0.1, .makes = 0.35}), 4);
        QCOMPARE(settled(16, {.takes = 0.1, .makes = 1.55}), 16);
    }
    void neverMoreThanAllowed() {
        QCOMPARE(settled(6, {.takes = 0.1, .makes = 5}), 6);
        QCOMPARE(settled(1, {.takes = 0.1, .makes = 5}), 1);
        QCOMPARE(settled(0, {.takes = 0.1, .makes = 5}), 1);
    }
    void thoseThatHelpNothingGoAgain() { QCOMPARE(settled(16, {.takes = 0.1, .makes = 1, .cores = 2}), 2); }
    void whatBeginsToBeSlowIsNoticedLater() {
        ReaderCount count(8);
        World{.takes = 0.1, .makes = 0.05}.run(count);
        QCOMPARE(count.count(), 1);
        World{.takes = 0.1, .makes = 0.15}.run(count);
        QCOMPARE(count.count(), 2);
    }
};

QTEST_GUILESS_MAIN(TestReaderCount)
#include "tst_reader_count.moc"
