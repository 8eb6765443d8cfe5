#include <rapidcheck.h>

#include <QtTest>
#include <cmath>
#include <cstring>
#include <set>

#include "engine/data/held_out.h"
#include "engine/data/normalisation.h"
#include "engine/data/sample.h"

using namespace lockstep;

namespace {

// Images of one pixel, which is the sample's own number, and the number as its label.
class NumberedPixels final : public Dataset {
public:
    explicit NumberedPixels(std::int64_t count) {
        m_info.id = "numbered";
        m_info.count = count;
        m_info.fields = imageFields({1, 1, 1});
        m_info.classes = {"one", "other"};
        m_info.mean = {0.5f};
        m_info.deviation = {0.25f};
    }
    const DatasetInfo& info() const override { return m_info; }
    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override {
        const auto label = static_cast<std::int32_t>(index);
        into[0][0] = static_cast<std::byte>(index % 256);
        std::memcpy(into[1].data(), &label, sizeof label);
    }

private:
    DatasetInfo m_info;
};

std::vector<std::int32_t> numbersIn(const Dataset& data) {
    std::vector<std::int32_t> numbers;
    Sample sample(data);
    for (std::int64_t i = 0; i < data.info().count; ++i) numbers.push_back(sample.read(i).label());
    return numbers;
}

}  // namespace

class TestHeldOut : public QObject {
    Q_OBJECT
private slots:
    void everySampleIsInOneOfTheTwo() {
        rc::check([] {
            const std::int64_t count = *rc::gen::inRange(2, 400);
            const double share = *rc::gen::inRange(1, 90) / 100.0;
            const auto parts =
                holdOut(std::make_shared<NumberedPixels>(count), share, *rc::gen::arbitrary<std::uint64_t>());
            const auto train = numbersIn(*parts.train), validation = numbersIn(*parts.validation);
            const auto wanted =
                std::clamp<std::int64_t>(std::llround(share * static_cast<double>(count)), 1, count - 1);
            RC_ASSERT(static_cast<std::int64_t>(validation.size()) == wanted);
            RC_ASSERT(std::ranges::is_sorted(train) && std::ranges::is_sorted(validation));
            std::set<std::int32_t> all(train.begin(), train.end());
            all.insert(validation.begin(), validation.end());
            RC_ASSERT(static_cast<std::int64_t>(all.size()) == count && train.size() + validation.size() == all.size());
        });
    }

    // The same for all who compare, another for another seed, and a larger share has the smaller one's samples.
    void theSeedAndTheShareDecide() {
        const auto data = std::make_shared<NumberedPixels>(1000);
        const auto one = numbersIn(*holdOut(data, 0.1, 1).validation);
        QVERIFY(numbersIn(*holdOut(data, 0.1, 1).validation) == one);
        QVERIFY(numbersIn(*holdOut(data, 0.1, 2).validation) != one);
        const auto more = numbersIn(*holdOut(data, 0.2, 1).validation);
        QVERIFY(std::ranges::includes(more, one));
    }

    // By what is left to train on, and nothing else.
    void bothAreNormalisedByTheTrainingSamples() {
        const auto parts = holdOut(std::make_shared<NumberedPixels>(200), 0.25, 3);
        double sum = 0, squares = 0;
        const auto left = numbersIn(*parts.train);
        for (const std::int32_t each : left) {
            sum += each / 255.0;
            squares += each / 255.0 * each / 255.0;
        }
        const double mean = sum / static_cast<double>(left.size());
        const double deviation = std::sqrt(squares / static_cast<double>(left.size()) - mean * mean);
        for (const auto& part : {parts.train, parts.validation}) {
            QVERIFY(std::abs(static_cast<double>(part->info().mean[0]) - mean) < 1e-6);
            QVERIFY(std::abs(static_cast<double>(part->info().deviation[0]) - deviation) < 1e-6);
        }
    }

    void imagesInARowAndOnesThatAreReadMeasureTheSame() {
        const NumberedPixels data(7000);
        std::vector<std::uint8_t> pixels;
        for (int i = 0; i < 7000; ++i) pixels.push_back(static_cast<std::uint8_t>(i % 256));
        DatasetInfo read = data.info(), inARow = data.info();
        measureNormalisation(read, data);
        measureNormalisation(inARow, pixels);
        QVERIFY(read.mean == inARow.mean && read.deviation == inARow.deviation);
        std::vector<std::uint8_t> grey(100, 9);
        measureNormalisation(inARow, grey);
        QCOMPARE(inARow.deviation[0], 1.0f);
    }
};

QTEST_APPLESS_MAIN(TestHeldOut)
#include "tst_held_out.moc"
