#include <QtTest>

#include <fstream>

#include "engine/core/error.h"
#include "engine/session/trace_recorder.h"

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

void addSpans(TraceLane& lane, std::uint32_t name, std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) lane.add({name, i, 10 * i, 10 * i + 5});
}

std::string contents(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

}  // namespace

class TestTraceFile : public QObject {
    Q_OBJECT
private slots:
    void init() {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_folder = fs::path(m_temporary->path().toStdString()) / "trace";
    }

    void aReaderSeesEverySpanOnce() {
        TraceBoard board;
        TraceLane& compute = board.addLane(0, "compute");
        TraceWriter writer(m_folder, 3, board);
        TraceReader reader(m_folder, 3);
        QVERIFY(reader.read().empty());
        const std::uint32_t conv = board.nameId("conv");
        addSpans(compute, conv, 0, 5);
        writer.flush();
        TraceLane& reduce = board.addLane(1, "all-reduce");
        addSpans(reduce, board.nameId("bucket 0"), 100, 2);
        addSpans(compute, conv, 5, 1);
        QCOMPARE(reader.read().size(), std::size_t{5});
        writer.flush();
        const auto spans = reader.read();
        QCOMPARE(spans.size(), std::size_t{3});
        QCOMPARE(spans[0].lane, 0u);
        QCOMPARE(spans[0].span.step, 5);
        QCOMPARE(spans[2].span.beginNs, 1010);
        QCOMPARE(reader.names().at(spans[2].span.name), std::string("bucket 0"));
        QCOMPARE(reader.lanes().at(spans[2].lane).rank, 1);
        QCOMPARE(reader.lanes().at(spans[2].lane).name, std::string("all-reduce"));
        QVERIFY(reader.read().empty());
    }

    void oldSegmentsGoAndReadersFollow() {
        TraceBoard board;
        TraceLane& lane = board.addLane(0, "compute");
        const std::uint32_t name = board.nameId("conv");
        TraceWriter writer(m_folder, 1, board, 1000);
        TraceReader follower(m_folder, 1);
        std::vector<std::int64_t> seen;
        for (std::int64_t i = 0; i < 100; ++i) {
            addSpans(lane, name, 10 * i, 10);
            writer.flush();
            for (const auto& each : follower.read()) seen.push_back(each.span.step);
        }
        QCOMPARE(seen.size(), std::size_t{1000});
        for (std::size_t i = 0; i < seen.size(); ++i) QCOMPARE(seen[i], static_cast<std::int64_t>(i));
        QCOMPARE(std::distance(fs::directory_iterator(m_folder), fs::directory_iterator()), std::ptrdiff_t{2});
        TraceReader late(m_folder, 1);
        const auto newest = late.read();
        QVERIFY(newest.size() >= 30 && newest.size() < 100);
        QCOMPARE(newest.back().span.step, 999);
        QCOMPARE(late.names().at(newest.back().span.name), std::string("conv"));
    }

    void anotherAttemptStartsAfresh() {
        TraceBoard board;
        addSpans(board.addLane(0, "compute"), board.nameId("conv"), 0, 5);
        TraceWriter(m_folder, 1, board).flush();
        TraceWriter(m_folder, 2, board).flush();
        QVERIFY(TraceReader(m_folder, 1).read().empty());
        QCOMPARE(TraceReader(m_folder, 2).read().size(), std::size_t{5});
    }

    // Cut anywhere, and damaged anywhere: what was whole is read, nothing else, nothing fails.
    void truncatedAndCorruptFilesAreReadAsFarAsTheyGo() {
        TraceBoard board;
        addSpans(board.addLane(0, "compute"), board.nameId("conv"), 0, 5);
        TraceWriter(m_folder, 1, board).flush();
        const fs::path file = m_folder / "1-1.trace";
        const std::string whole = contents(file);
        for (std::size_t length = 0; length < whole.size(); ++length) {
            std::ofstream(file, std::ios::binary | std::ios::trunc) << whole.substr(0, length);
            TraceReader reader(m_folder, 1);
            QVERIFY(reader.read().empty());
            std::ofstream(file, std::ios::binary | std::ios::app) << whole.substr(length);
            QCOMPARE(reader.read().size(), std::size_t{5});  // the rest came later
        }
        for (std::size_t at = 0; at < whole.size(); ++at) {
            std::string damaged = whole;
            damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
            std::ofstream(file, std::ios::binary | std::ios::trunc) << damaged;
            TraceReader reader(m_folder, 1);
            for (const auto& each : reader.read()) {
                QVERIFY(each.lane < reader.lanes().size() && each.span.name < reader.names().size());
                QVERIFY(each.span.endNs >= each.span.beginNs);
            }
        }
    }

    void aRecorderWritesOnItsOwnAndAtTheEnd() {
        TraceBoard board;
        TraceLane& lane = board.addLane(0, "compute");
        const std::uint32_t name = board.nameId("conv");
        TraceReader reader(m_folder, 1);
        std::size_t seen = 0;
        {
            const TraceRecorder recorder(m_folder, 1, board,
                                         [](const Problem& problem) { qFatal("%s", problem.code.c_str()); });
            addSpans(lane, name, 0, 5);
            QTRY_COMPARE((seen += reader.read().size()), std::size_t{5});
            addSpans(lane, name, 5, 2);
        }
        QCOMPARE(seen + reader.read().size(), std::size_t{7});
    }

    void troubleIsToldOnce() {
        std::ofstream(m_folder) << "a file in the way";
        fs::permissions(m_folder.parent_path(), fs::perms::owner_all);
        TraceBoard board;
        std::vector<Problem> problems;
        const fs::path inTheWay = m_folder / "deeper";
        {
            const TraceRecorder recorder(inTheWay, 1, board,
                                         [&](const Problem& problem) { problems.push_back(problem); });
        }
        QCOMPARE(problems.size(), std::size_t{1});
        QCOMPARE(problems[0].code, std::string("trace.unwritable"));
        QVERIFY(problems[0].field.find("trace") != std::string::npos);
    }

private:
    std::unique_ptr<QTemporaryDir> m_temporary;
    fs::path m_folder;
};

QTEST_APPLESS_MAIN(TestTraceFile)
#include "tst_trace_file.moc"
