#include <thread>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "engine/backend/cpu/conv_timings.h"
#include "engine/backend/cpu/simd/table.h"
#include "tests/cpu/choosing_backend.h"
#include "tests/support/against_reference.h"

using namespace lockstep;
using namespace lockstep::test;
using cpu::ConvAlgorithm;
using cpu::ConvPass;
using cpu::ConvTimings;
using onednn::Pass;

namespace {

// Winograd's algorithm suits it, with AVX2.
ConvPass window(Pass pass) { return {pass, {.padding = {1, 1}}, {8, 16, 16, 16}, {32, 16, 3, 3}, {8, 32, 16, 16}}; }

constexpr std::array kPasses{Pass::Forward, Pass::BackwardData, Pass::BackwardWeights};

}  // namespace

class TestConvTimings : public QObject {
    Q_OBJECT
private slots:
    void init() { QVERIFY(m_folder.emplace().isValid()); }

    void theRuleHoldsUntilSomethingWasTimed() {
        ConvTimings timings(path(), "a processor");
        for (const Pass pass : kPasses) {
            for (const AlgorithmChoice how : {AlgorithmChoice::ByRule, AlgorithmChoice::AsTimed})
                QCOMPARE(timings.choose(window(pass), {.how = how}), cpu::chooseByRule(window(pass)));
        }
        QVERIFY(files().isEmpty());
    }

    void whatWasTimedIsKept() {
        needsWideRegisters();
        std::vector<ConvAlgorithm> found;
        ConvTimings timings(path(), "a processor");
        for (const Pass pass : kPasses) found.push_back(timings.choose(window(pass), {}));
        QCOMPARE(files().size(), 1);
        const QByteArray text = content();
        QCOMPARE(text.count('\n'), 4);  // the processor, and a line for each pass
        QVERIFY2(text.startsWith("a processor, oneDNN "), text.constData());
        ConvTimings again(path(), "a processor");
        for (std::size_t i = 0; i < kPasses.size(); ++i) {
            QCOMPARE(again.choose(window(kPasses[i]), {.how = AlgorithmChoice::AsTimed}), found[i]);
            QCOMPARE(again.choose(window(kPasses[i]), {.how = AlgorithmChoice::Timed}), found[i]);
        }
        QCOMPARE(content(), text);  // nothing was timed twice
    }

    // Of this processor, this shape and this number of threads alone; a reproducible run's are not looked at.
    void whatWasTimedDecides() {
        needsWideRegisters();
        const ConvPass pass = window(Pass::Forward);
        ConvTimings(path(), "a processor").choose(pass, {});
        rewrite("\twinograd", "\tdirect");
        ConvTimings timings(path(), "a processor");
        QCOMPARE(timings.choose(pass, {.how = AlgorithmChoice::AsTimed}), ConvAlgorithm::Direct);
        QCOMPARE(timings.choose(pass, {}), ConvAlgorithm::Direct);
        QCOMPARE(timings.choose(pass, {.how = AlgorithmChoice::ByRule}), ConvAlgorithm::Winograd);
        QCOMPARE(timings.choose(pass, {.threads = 2, .how = AlgorithmChoice::AsTimed}), ConvAlgorithm::Winograd);
        QCOMPARE(timings.choose(window(Pass::BackwardData), {.how = AlgorithmChoice::AsTimed}),
                 ConvAlgorithm::Winograd);
        QCOMPARE(ConvTimings(path(), "another processor").choose(pass, {.how = AlgorithmChoice::AsTimed}),
                 ConvAlgorithm::Winograd);
    }

    // With those of the run they would be more than there are cores: then all of them wait asleep.
    void whatWasTimedLeavesNoThreadsBehind() {
        needsWideRegisters();
        const auto threads = [] { return QDir("/proc/self/task").entryList(QDir::Dirs | QDir::NoDotAndDotDot).size(); };
        bool isGone = false;
        std::jthread([&] {
            const auto before = threads();
            ConvTimings(path(), "a processor").choose(window(Pass::Forward), {.threads = 2});
            isGone = QTest::qWaitFor([&] { return threads() <= before; });
        }).join();
        QCOMPARE(files().size(), 1);
        QVERIFY(isGone);
    }

    void othersAreNotTimed() {
        ConvTimings timings(path(), "a processor");
        const ConvPass strided{
            Pass::Forward, {.stride = {2, 2}, .padding = {1, 1}}, {8, 16, 16, 16}, {32, 16, 3, 3}, {8, 32, 8, 8}};
        const ConvPass pixels{Pass::Forward, {}, {8, 16, 16, 16}, {32, 16, 1, 1}, {8, 32, 16, 16}};
        for (const ConvPass& pass : {strided, pixels}) QCOMPARE(timings.choose(pass, {}), cpu::chooseByRule(pass));
        QVERIFY(files().isEmpty());
    }

    // 2^40 samples are not tried out, but a few of them.
    void largeBatchesAreTimedByAPart() {
        needsWideRegisters();
        ConvPass pass = window(Pass::Forward);
        pass.x = {std::int64_t{1} << 40, 16, 16, 16};
        pass.y = {std::int64_t{1} << 40, 32, 16, 16};
        const ConvAlgorithm found = ConvTimings(path(), "a processor").choose(pass, {});
        const QByteArray text = content();
        QCOMPARE(text.count('\n'), 2);
        pass.x = {std::int64_t{1} << 41, 16, 16, 16};
        pass.y = {std::int64_t{1} << 41, 32, 16, 16};
        QCOMPARE(ConvTimings(path(), "a processor").choose(pass, {}), found);
        QCOMPARE(content(), text);
    }

    // The program says what was chosen.
    void aBackendLowersAsTimed() {
        needsWideRegisters();
        const auto algorithms = [&](AlgorithmChoice how) {
            Graph graph;
            const ValueId x = graph.addInput("x", {{8, 16, 16, 16}, DType::F32});
            const ValueId w = graph.addParameter("w", {{32, 16, 3, 3}, DType::F32}, {}, true);
            graph.addOutput("y", graph.append(kConv2d, {x, w}, Attrs::of(Conv2dAttrs{.padding = {1, 1}}), "conv")[0]);
            const Graph lowered = makeCpuBackend(path())->lower(graph, {.threads = 1, .algorithms = how});
            std::string text;
            for (const Node& node : lowered.nodes())
                if (node.op == &kConv2d) text += node.algorithm;
            return text;
        };
        QCOMPARE(algorithms(AlgorithmChoice::AsTimed), std::string("winograd"));
        algorithms(AlgorithmChoice::Timed);
        rewrite("\twinograd", "\tdirect");
        QCOMPARE(algorithms(AlgorithmChoice::AsTimed), std::string("direct"));
        QCOMPARE(algorithms(AlgorithmChoice::ByRule), std::string("winograd"));
    }

    // Whatever is chosen for each pass, the result is the same.
    void anyChoiceIsRight_data() {
        QTest::addColumn<const GraphCase*>("graphCase");
        for (const GraphCase& graphCase : graphCases()) QTest::newRow(graphCase.name.c_str()) << &graphCase;
    }
    void anyChoiceIsRight() {
        QFETCH(const GraphCase*, graphCase);
        for (std::uint64_t seed = 0; seed < 8; ++seed) {
            const std::string found =
                differences(ChoosingBackend(anyChoice(seed)), *graphCase, {.scalars = {.seed = 3}});
            QVERIFY2(found.empty(), ("choice " + std::to_string(seed) + ": " + found).c_str());
        }
    }

private:
    std::filesystem::path path() const { return m_folder->path().toStdString(); }
    QStringList files() const { return QDir(m_folder->path()).entryList(QDir::Files); }
    QByteArray content() const {
        QFile file(m_folder->filePath(files().value(0)));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    void rewrite(const char* from, const char* to) {
        const QByteArray text = content().replace(from, to);
        QFile file(m_folder->filePath(files().value(0)));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }
    static void needsWideRegisters() {
        if (!cpu::haveWideRegisters()) QSKIP("our own algorithms want registers of eight floats: AVX2");
    }

    std::optional<QTemporaryDir> m_folder;
};

QTEST_APPLESS_MAIN(TestConvTimings)
#include "tst_conv_timings.moc"
