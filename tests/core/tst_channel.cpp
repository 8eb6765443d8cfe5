#include <QtTest>
#include <thread>

#include "engine/core/channel.h"

using namespace lockstep;

class TestChannel : public QObject {
    Q_OBJECT
private slots:
    void keepsOrderAndBound() {
        Channel<int> channel(2);
        QVERIFY(channel.tryPush(1) && channel.tryPush(2) && !channel.tryPush(3));
        QCOMPARE(channel.pop(), std::optional(1));
        QCOMPARE(channel.pop(), std::optional(2));
        QCOMPARE(channel.tryPop(), std::nullopt);
    }
    void everyItemArrivesOnce() {
        constexpr int kPerWriter = 5000, kWriters = 3;
        Channel<int> channel(4);
        std::vector<int> seen(kPerWriter * kWriters, 0);
        {
            std::vector<std::jthread> writers;
            std::jthread reader([&] {
                while (const auto item = channel.pop()) ++seen[static_cast<std::size_t>(*item)];
            });
            for (int w = 0; w < kWriters; ++w) {
                writers.emplace_back([&, w] {
                    for (int i = 0; i < kPerWriter; ++i) QVERIFY(channel.push(w * kPerWriter + i));
                });
            }
            writers.clear();
            channel.close();
        }
        for (const int count : seen) QCOMPARE(count, 1);
    }
    void closeWakesEverybodyAndKeepsWhatIsLeft() {
        Channel<int> full(1), empty(1);
        QVERIFY(full.push(1));
        bool pushed = true;
        std::optional<int> popped = 7;
        {
            std::jthread writer([&] { pushed = full.push(2); });
            std::jthread reader([&] { popped = empty.pop(); });
            full.close();
            empty.close();
        }
        QVERIFY(!pushed);
        QVERIFY(!popped.has_value());
        QCOMPARE(full.pop(), std::optional(1));
        QCOMPARE(full.pop(), std::nullopt);
        QVERIFY(!full.push(3));
    }
};

QTEST_APPLESS_MAIN(TestChannel)
#include "tst_channel.moc"
