#include <rapidcheck.h>

#include <QtTest>

#include "engine/plan/memory.h"

using lockstep::Lifetime;
using lockstep::MemoryPlan;
using lockstep::planMemory;

namespace {

constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool meet(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

bool apart(const MemoryPlan& plan, const std::vector<Lifetime>& values, std::size_t a, std::size_t b) {
    return plan.offsets[a] + values[a].bytes <= plan.offsets[b] || plan.offsets[b] + values[b].bytes <= plan.offsets[a];
}

// No plan can do with less than what is alive at once.
std::size_t lowerBound(const std::vector<Lifetime>& values) {
    std::size_t most = 0;
    for (const Lifetime& moment : values) {
        std::size_t alive = 0;
        for (const Lifetime& value : values) {
            if (value.first <= moment.first && moment.first <= value.last) alive += aligned(value.bytes);
        }
        most = std::max(most, alive);
    }
    return most;
}

std::size_t sum(const std::vector<Lifetime>& values) {
    std::size_t bytes = 0;
    for (const Lifetime& value : values) bytes += aligned(value.bytes);
    return bytes;
}

std::vector<Lifetime> arbitraryLifetimes() {
    const auto lifetime = rc::gen::apply(
        [](int first, int length, std::size_t bytes) {
            return Lifetime{first, first + length, bytes};
        },
        rc::gen::inRange(0, 40), rc::gen::inRange(0, 12), rc::gen::inRange<std::size_t>(0, 5000));
    return *rc::gen::container<std::vector<Lifetime>>(lifetime);
}

}  // namespace

class TestMemory : public QObject {
    Q_OBJECT
private slots:
    void livingValuesNeverOverlap() {
        QVERIFY(rc::check("values alive at the same time lie apart", [] {
            const std::vector<Lifetime> values = arbitraryLifetimes();
            const MemoryPlan plan = planMemory(values, kAlignment);
            RC_ASSERT(plan.offsets.size() == values.size());
            for (std::size_t a = 0; a < values.size(); ++a) {
                for (std::size_t b = 0; b < a; ++b) {
                    if (values[a].bytes == 0 || values[b].bytes == 0 || !meet(values[a], values[b])) continue;
                    RC_ASSERT(apart(plan, values, a, b));
                }
            }
        }));
    }

    void placesAreAlignedAndInside() {
        QVERIFY(rc::check("offsets are aligned and within the peak", [] {
            const std::vector<Lifetime> values = arbitraryLifetimes();
            const MemoryPlan plan = planMemory(values, kAlignment);
            for (std::size_t i = 0; i < values.size(); ++i) {
                RC_ASSERT(plan.offsets[i] % kAlignment == 0u);
                RC_ASSERT(plan.offsets[i] + values[i].bytes <= plan.peak);
            }
        }));
    }

    void thePeakIsBounded() {
        QVERIFY(rc::check("at least what is alive at once, at most everything", [] {
            const std::vector<Lifetime> values = arbitraryLifetimes();
            const MemoryPlan plan = planMemory(values, kAlignment);
            RC_ASSERT(plan.peak >= lowerBound(values));
            RC_ASSERT(plan.peak <= sum(values));
        }));
    }

    void nothingNeedsNothing() {
        QCOMPARE(planMemory({}, kAlignment).peak, std::size_t{0});
        const std::vector<Lifetime> empty{{0, 3, 0}, {1, 2, 0}};
        QCOMPARE(planMemory(empty, kAlignment).peak, std::size_t{0});
    }

    void aChainUsesTwoPlaces() {
        const std::vector<Lifetime> chain{{0, 1, 64}, {1, 2, 64}, {2, 3, 64}, {3, 4, 64}};
        QCOMPARE(planMemory(chain, kAlignment).peak, std::size_t{128});
    }

    void endsAreIncluded() {
        const std::vector<Lifetime> touching{{0, 1, 64}, {1, 2, 64}}, following{{0, 1, 64}, {2, 3, 64}};
        QCOMPARE(planMemory(touching, kAlignment).peak, std::size_t{128});
        QCOMPARE(planMemory(following, kAlignment).peak, std::size_t{64});
    }

    // Forward activations are freed in reverse order by the backward pass; only two gradients live beside them.
    void aBackwardPassReusesWhatTheForwardPassLeft() {
        const std::vector<Lifetime> values{{0, 7, 100}, {1, 6, 100}, {2, 5, 100},
                                           {3, 4, 100}, {5, 6, 100}, {6, 7, 100}};
        QCOMPARE(planMemory(values, kAlignment).peak, std::size_t{4 * 128});
    }

    void theTighterGapIsTaken() {
        // At step 1 the gaps between the long-lived are 256 and 64 bytes; the 64-byte value belongs into the second.
        const std::vector<Lifetime> values{{0, 0, 256}, {0, 9, 192}, {0, 0, 64}, {0, 9, 64}, {1, 9, 64}, {1, 9, 256}};
        const MemoryPlan plan = planMemory(values, kAlignment);
        QCOMPARE(plan.peak, std::size_t{256 + 192 + 64 + 64});
    }
};

QTEST_APPLESS_MAIN(TestMemory)
#include "tst_memory.moc"
