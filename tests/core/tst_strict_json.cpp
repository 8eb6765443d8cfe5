#include <QElapsedTimer>
#include <QtTest>

#include "engine/core/strict_json.h"

using namespace lockstep;

namespace {

using Kind = JsonFault::Kind;

std::optional<JsonFault> faultOf(const std::string& text, const JsonLimits& limits = {}) {
    const auto parsed = parseStrictly(text, limits);
    const auto* fault = std::get_if<JsonFault>(&parsed);
    return fault ? std::optional(*fault) : std::nullopt;
}

std::string manyObjects(int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i)
        text +=
            (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
    return text + "}";
}

double secondsFor(const std::string& text, std::size_t members) {
    QElapsedTimer timer;
    timer.start();
    (void)parseStrictly(text, {.depth = 8, .members = members});
    return static_cast<double>(timer.nsecsElapsed()) * 1e-9;
}

}  // namespace

class TestStrictJson : public QObject {
    Q_OBJECT
private slots:
    void whatIsSoundIsReadAsUsual() {
        for (const std::string text :
             {"{}", "[]", "7", "-7", "1.5", "null", "true", "\"a\\u00e9\"", R"({"a":[1,{"b":[]},"c",[[2]]],"d":{}})",
              R"([{"a":1},{"a":2}])", "18446744073709551615"}) {
            const auto parsed = parseStrictly(text, {});
            QVERIFY2(std::holds_alternative<nlohmann::json>(parsed), text.c_str());
            QVERIFY2(std::get<nlohmann::json>(parsed) == nlohmann::json::parse(text), text.c_str());
        }
    }

    void whatDoesNotFitIsNamed() {
        for (const char* text : {"", "{", "{} {}", "[1,]", "{\"a\":}", "1e999", "\"\xff\"", "nul"})
            QVERIFY2(faultOf(text) && faultOf(text)->kind == Kind::Malformed, text);
        QCOMPARE(faultOf("{\"a\": x}")->byte, std::size_t{7});
    }

    void onlyUnsignedNumbersAreBeyondIntegers() {
        for (const char* text : {"9223372036854775808", "18446744073709551615"}) {
            QVERIFY2(isBeyondInteger(nlohmann::json::parse(text)), text);
            QVERIFY2(isBeyondInteger(nlohmann::ordered_json::parse(text)), text);
        }
        for (const char* text : {"9223372036854775807", "-9223372036854775808", "0", "1e300", "\"7\"", "null"})
            QVERIFY2(!isBeyondInteger(nlohmann::json::parse(text)), text);
    }

    void aKeyComesOnce() {
        const auto fault = faultOf(R"({"a":{"x":1},"b":{"c":[{"x":1},{"x":1,"x":2}]}})");
        QVERIFY(fault && fault->kind == Kind::DuplicateKey);
        QCOMPARE(fault->key, std::string("x"));
        QCOMPARE(fault->path, std::string("b.c.x"));
    }

    void theLimitsHold() {
        QVERIFY(!faultOf("[[1]]", {.depth = 2, .members = 1}));
        QVERIFY(faultOf("[[[]]]", {.depth = 2, .members = 1})->kind == Kind::TooDeep);
        QVERIFY(faultOf(std::string(1000000, '['))->kind == Kind::TooDeep);
        QVERIFY(!faultOf(R"({"a":[1,2],"b":2})", {.depth = 8, .members = 2}));
        QVERIFY(faultOf(R"({"a":1,"b":2,"c":3})", {.depth = 8, .members = 2})->kind == Kind::TooMany);
        QVERIFY(faultOf("[1,2,3]", {.depth = 8, .members = 2})->kind == Kind::TooMany);
    }

    // Eight times the text takes 8 times as long; it was 64 times. 30 leaves room for a busy machine.
    void timeGrowsWithTheText() {
        const std::string few = manyObjects(5000), many = manyObjects(40000);
        const auto least = [](const std::string& text) {
            return std::min({secondsFor(text, 1 << 20), secondsFor(text, 1 << 20), secondsFor(text, 1 << 20)});
        };
        const double ratio = least(many) / least(few);
        QVERIFY2(ratio < 30, std::to_string(ratio).c_str());
    }
};

QTEST_APPLESS_MAIN(TestStrictJson)
#include "tst_strict_json.moc"
