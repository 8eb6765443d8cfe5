#include <QtTest>
#include <vector>

#include "engine/core/content_hash.h"

using namespace lockstep;

namespace {

using Bytes = std::vector<std::uint8_t>;

std::uint64_t hashOf(const Bytes& bytes) {
    ContentHash hash;
    hash.add(std::span(bytes));
    return hash.value();
}

Bytes counted(std::size_t size) {
    Bytes bytes;
    for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::uint8_t>(i * 37 + (i >> 8)));
    return bytes;
}

}  // namespace

class TestContentHash : public QObject {
    Q_OBJECT
private slots:
    // Kept in checkpoints and caches: another machine, or a later version, must find the same. By a few lines of
    // Python.
    void theNumbersStay() {
        QCOMPARE(ContentHash().value(), std::uint64_t{0xcbf29ce484222325});
        QCOMPARE(hashOf({}), std::uint64_t{0xf8bb92ce26585846});
        QCOMPARE(hashOf({'a', 'b', 'c'}), std::uint64_t{0x0a6cddb1d05459b8});
        QCOMPARE(hashOf(counted(1000)), std::uint64_t{0xc607e947bb81ada5});
    }

    // Around the sizes where whole words and blocks of words end.
    void everyByteAndEveryLengthCounts() {
        for (const std::size_t size : {1, 7, 8, 9, 63, 64, 65, 72, 127, 128, 200}) {
            const Bytes bytes = counted(size);
            Bytes longer = bytes;
            longer.push_back(0);
            QVERIFY(hashOf(longer) != hashOf(bytes));
            for (std::size_t at = 0; at < size; ++at) {
                for (const int bit : {0, 7}) {
                    Bytes changed = bytes;
                    changed[at] ^= static_cast<std::uint8_t>(1 << bit);
                    QVERIFY(hashOf(changed) != hashOf(bytes));
                }
            }
        }
    }

    void theOrderCounts() {
        const Bytes bytes = counted(256);
        for (const std::size_t distance : {8, 64, 128}) {
            Bytes swapped = bytes;
            std::swap_ranges(swapped.begin(), swapped.begin() + 8,
                             swapped.begin() + static_cast<std::ptrdiff_t>(distance));
            QVERIFY(hashOf(swapped) != hashOf(bytes));
        }
        ContentHash together, apart;
        together.add(std::string_view("abc"));
        apart.add(std::string_view("ab"));
        apart.add(std::string_view("c"));
        QVERIFY(together.value() != apart.value());
    }
};

QTEST_APPLESS_MAIN(TestContentHash)
#include "tst_content_hash.moc"
