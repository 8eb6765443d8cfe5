#include <QtTest>

#include "engine/spec/devices.h"

using namespace lockstep;

namespace {

DeviceRequest fourCoresTwoCards() {
    return {{{"cpu", "Four cores", "cpu", 0, 4},
             {"reference", "Plain loops", "reference", 0, 4},
             {"cuda:0", "Card", "cuda", 0, 0},
             {"cuda:1", "Card", "cuda", 0, 0}},
            {{"metal", {"metal.so", "backend.no-driver", {"no driver"}}}}};
}

// "cpu:0/2 cpu:1/2": ids with their threads, a star where virtual.
std::string summary(const char* text) {
    const auto result = parseDevices(text, fourCoresTwoCards());
    std::string out;
    if (!result.ok()) {
        for (const auto& problem : result.problems()) out += (out.empty() ? "" : " ") + problem.code;
        return out;
    }
    for (const auto& device : result.value()) {
        out +=
            (out.empty() ? "" : " ") + device.id + "/" + std::to_string(device.threads) + (device.isVirtual ? "*" : "");
    }
    return out;
}

}  // namespace

class TestDevices : public QObject {
    Q_OBJECT
private slots:
    void texts_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char* text, const char* expected) { QTest::newRow(text) << text << expected; };
        row("cpu", "cpu:0/4");
        row("cpu:1", "cpu:0/4");
        row("cpu:2", "cpu:0/2 cpu:1/2");
        row("cpu:3", "cpu:0/1 cpu:1/1 cpu:2/1");
        row("cpu:2x1", "cpu:0/1 cpu:1/1");
        row("cpu:1x3", "cpu:0/3");
        row("cpu:5", "cpu:0/1* cpu:1/1* cpu:2/1* cpu:3/1* cpu:4/1*");
        row("cpu:2x4", "cpu:0/4* cpu:1/4*");
        row("reference:2", "reference:0/2 reference:1/2");
        row("cuda", "cuda:0/1");
        row("cuda:0,1", "cuda:0/1 cuda:1/1");
        row("cuda:all", "cuda:0/1 cuda:1/1");
        row("auto", "cuda:0/1 cuda:1/1");
        row("cuda:0,0", "cuda:0/1* cuda:0/1*");
        row("cuda:1", "cuda:1/1");
        row("cuda:2", "devices.no-such-card");
        row("cuda:", "devices.syntax");
        row("cuda:0,", "devices.syntax");
        row("cuda:a", "devices.syntax");
        row("cpu:0", "devices.syntax");
        row("cpu:", "devices.syntax");
        row("cpu:-1", "devices.syntax");
        row("cpu:2x", "devices.syntax");
        row("cpu:2x0", "devices.syntax");
        row("cpu:x2", "devices.syntax");
        row("cpu:2 ", "devices.syntax");
        row("cpu:1.5", "devices.syntax");
        row("cpu:1000", "devices.too-many");
        row("cpu:99999999999999999999", "devices.too-many");
        row("cpu:2x99999999999999999999", "devices.too-many");
        row("cpu:1x5", "devices.too-many-threads");
        row("cpu:2x999", "devices.too-many-threads");
        row("cpu:1,cuda:0", "devices.mixed");
        row("tpu:1", "devices.unknown-backend");
        row("", "devices.unknown-backend");
        row("metal:1", "devices.unavailable backend.no-driver");
    }
    void texts() {
        QFETCH(QString, text);
        QFETCH(QString, expected);
        QCOMPARE(QString::fromStdString(summary(text.toUtf8().constData())), expected);
    }

    void withoutCardsAutoIsTheProcessor() {
        DeviceRequest request = fourCoresTwoCards();
        QCOMPARE(namedDevices("auto", request), std::string("cuda:all"));
        QCOMPARE(withDeviceCount("auto", 1, request).value(), std::string("cuda:0"));
        std::erase_if(request.available, [](const DeviceInfo& each) { return each.backend == "cuda"; });
        QCOMPARE(namedDevices("auto", request), std::string("cpu:1"));
        QCOMPARE(namedDevices("cpu:3", request), std::string("cpu:3"));
        QCOMPARE(parseDevices("auto", request).value().front().threads, 4);
        QCOMPARE(withDeviceCount("auto", 2, request).value(), std::string("cpu:2"));
    }

    void problemsNameFieldAndValue() {
        QVERIFY(parseDevices("cpu:2x999", fourCoresTwoCards()).problems().front() ==
                (Problem{"devices", "devices.too-many-threads", {"999", "4"}}));
        const auto result = parseDevices("cuda:7", fourCoresTwoCards());
        QVERIFY(result.problems().front() ==
                (Problem{"devices", "devices.no-such-card", {"cuda:7", "cuda:0, cuda:1"}}));
    }

    void thisProcessMayUseACore() { QVERIFY(permittedCores() >= 1); }
};

QTEST_APPLESS_MAIN(TestDevices)
#include "tst_devices.moc"
