#include <QtTest>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/report/trial_series.h"

using namespace lockstep;

namespace {

template <class T>
T at(const std::string& bytes, std::size_t place) {
    T value{};
    std::memcpy(&value, bytes.data() + place, sizeof value);
    return value;
}

// The records of a file whose checks hold; empty: some do not.
std::vector<std::string> recordsIn(const std::string& file) {
    const auto masked = [](const std::string& bytes) { return std::rotr(crc32c(bytes), 15) + 0xa282ead8u; };
    std::vector<std::string> records;
    for (std::size_t place = 0; place < file.size();) {
        const auto length = static_cast<std::size_t>(at<std::uint64_t>(file, place));
        if (at<std::uint32_t>(file, place + 8) != masked(file.substr(place, 8))) return {};
        records.push_back(file.substr(place + 12, length));
        if (at<std::uint32_t>(file, place + 12 + length) != masked(records.back())) return {};
        place += 16 + length;
    }
    return records;
}

}  // namespace

class TestTensorboardFile : public QObject {
    Q_OBJECT
private slots:
    // RFC 3720, appendix B.4.
    void checksumsAreCastagnolis() {
        QCOMPARE(crc32c("123456789"), 0xe3069283u);
        QCOMPARE(crc32c(std::string(32, '\0')), 0x8a9136aau);
        QCOMPARE(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
    }

    void recordsCarryEvents() {
        const std::vector<TensorboardScalar> scalars{{"train/loss", 300, 1000.5, 0.25}};
        const auto records = recordsIn(tensorboardFile(1000, scalars));
        QCOMPARE(records.size(), std::size_t{2});
        QVERIFY(records[0].find("brain.Event:2") != std::string::npos);
        // wall_time, step 300 as a varint, then summary { value { tag, simple_value } }
        QCOMPARE(records[1][0], '\x09');
        QCOMPARE(at<double>(records[1], 1), 1000.5);
        QCOMPARE(records[1].substr(9, 3), std::string("\x10\xac\x02"));
        const std::string value = std::string("\x0a\x0atrain/loss\x15", 13);
        const auto place = records[1].find(value);
        QVERIFY(place != std::string::npos);
        QCOMPARE(at<float>(records[1], place + value.size()), 0.25f);
    }

    // Series have steps of their own; of two evaluations at one step the later counts.
    void stepsAreMerged() {
        const std::vector<TrialSeries> series{
            {"loss", findMetric("loss"), {{2, 1, 0.5}, {7, 3, 0.25}}},
            {"test_loss", findMetric("test_loss"), {{1, 0.5, 4}, {7, 3.5, 3}, {7, 9, 2}}},
            {"accuracy", findMetric("accuracy"), {}}};
        QCOMPARE(seriesCsv(series),
                 std::string("step,seconds,loss,test_loss,accuracy\n1,0.5,,4,\n2,1,0.5,,\n7,9,0.25,2,\n"));
        QCOMPARE(seriesCsv({}), std::string("step,seconds\n"));
    }

    void tablesHaveARowForEachStep() {
        const std::vector<TrialSeries> series{{"loss", findMetric("loss"), {{1, 0.5, 2}, {2, 1, 1.5}}},
                                              {"test_accuracy", findMetric("test_accuracy"), {{2, 1.25, 0.75}}},
                                              {"compute.0", findMetric("compute"), {{1, 0.5, std::nan("")}}},
                                              {"train_loss", findMetric("train_loss"), {{2, 1.25, 3}}}};
        QCOMPARE(seriesCsv(series),
                 std::string("step,seconds,loss,test_accuracy,compute.0,train_loss\n1,0.5,2,,,\n2,1.25,1.5,0.75,,3\n"));
        const auto scalars = scalarsOf(series, 100);
        QCOMPARE(scalars.size(), std::size_t{5});
        QCOMPARE(scalars.front().tag, std::string("train/loss"));
        QCOMPARE(scalars[3].tag, std::string("test/accuracy"));
        QCOMPARE(scalars.back().tag, std::string("epoch/loss"));
        QCOMPARE(scalars.back().time, 101.25);
        QCOMPARE(scalars[1].tag, std::string("compute/rank 0"));
    }
};

QTEST_APPLESS_MAIN(TestTensorboardFile)
#include "tst_tensorboard_file.moc"
