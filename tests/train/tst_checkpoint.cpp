#include <QtTest>

#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "engine/core/durable_file.h"
#include "engine/core/error.h"
#include "engine/train/checkpoint.h"
#include "engine/train/safetensors.h"

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

HostTensor tensor(Shape shape, DType dtype, std::uint8_t first) {
    HostTensor out({std::move(shape), dtype});
    for (std::size_t i = 0; i < out.bytes(); ++i) out.data()[i] = static_cast<std::byte>(first + i * 7);
    return out;
}

Checkpoint sample() {
    Checkpoint checkpoint;
    checkpoint.spec.title = "päpstlich \"quoted\"\n";
    checkpoint.spec.seed = 18446744073709551615ull;
    checkpoint.trial = 12;
    checkpoint.step = 34;
    checkpoint.epoch = 2;
    checkpoint.stepInEpoch = 5;
    checkpoint.bestAccuracy = 0.1 + 0.2;
    checkpoint.lowestLoss = 2.0 / 3;
    checkpoint.epochSums = {{"loss_sum", 1.0 / 3}, {"weight", 7}};
    checkpoint.trainSeconds = 1e-17;
    checkpoint.lossScale = 0.25;
    checkpoint.lossScaleUpdates = 1999;
    checkpoint.data = {{60'000, 0xfedcba9876543210}, {10'000, 7}};
    checkpoint.tensors.emplace("conv1/weight", tensor({2, 3, 1, 2}, DType::F32, 1));
    checkpoint.tensors.emplace("empty", tensor({0, 4}, DType::F32, 0));
    checkpoint.tensors.emplace("momentum.conv1/weight", tensor({2, 3, 1, 2}, DType::F64, 2));
    checkpoint.tensors.emplace("odd", tensor({3}, DType::U8, 3));
    return checkpoint;
}

void verifyEqual(const Checkpoint& a, const Checkpoint& b) {
    QVERIFY(a.spec == b.spec);
    QCOMPARE(a.trial, b.trial);
    QCOMPARE(a.step, b.step);
    QCOMPARE(a.epoch, b.epoch);
    QCOMPARE(a.stepInEpoch, b.stepInEpoch);
    QVERIFY(a.bestAccuracy == b.bestAccuracy);
    QVERIFY(a.lowestLoss == b.lowestLoss);
    QVERIFY(a.epochSums == b.epochSums);
    QVERIFY(a.trainSeconds == b.trainSeconds);
    QVERIFY(a.lossScale == b.lossScale);
    QCOMPARE(a.lossScaleUpdates, b.lossScaleUpdates);
    QVERIFY(a.data == b.data);
    QCOMPARE(a.tensors.size(), b.tensors.size());
    for (const auto& [name, each] : a.tensors) {
        const HostTensor& other = b.tensors.at(name);
        QVERIFY(each.type() == other.type());
        QVERIFY(std::memcmp(each.data(), other.data(), each.bytes()) == 0);
    }
}

std::string contentOf(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void put(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string withHeader(const std::string& header, std::size_t dataBytes) {
    const std::uint64_t length = header.size();
    std::string out(reinterpret_cast<const char*>(&length), sizeof length);
    return out + header + std::string(dataBytes, 'x');
}

}  // namespace

class TstCheckpoint : public QObject {
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    fs::path file(const char* name = "a.safetensors") const { return fs::path(m_folder.path().toStdString()) / name; }

    void expectProblem(const std::string& code) {
        const auto read = readCheckpoint(file());
        QVERIFY(!read.ok());
        QVERIFY2(read.problems().front().code == code, read.problems().front().code.c_str());
        QCOMPARE(read.problems().front().field, file().string());
    }

    // Writes the sample with other words of the same length in it, and no checksum to notice.
    void replaceUnchecked(const std::string& from, const std::string& to) {
        writeCheckpoint(file(), sample());
        std::string bytes = contentOf(file());
        QCOMPARE(from.size(), to.size());
        QVERIFY(bytes.find(from) != bytes.npos);
        bytes.replace(bytes.find(from), from.size(), to);
        bytes.replace(bytes.find("\"checksum\""), 10, "\"another1\"");
        put(file(), bytes);
    }

private slots:
    void roundTrip() {
        writeCheckpoint(file(), sample());
        const auto read = readCheckpoint(file());
        QVERIFY(read.ok());
        verifyEqual(read.value(), sample());
    }

    void aSecondWriteReplacesTheFirst() {
        writeCheckpoint(file(), sample());
        Checkpoint later = sample();
        later.step = 99;
        writeCheckpoint(file(), later);
        QCOMPARE(readCheckpoint(file()).value().step, 99);
        QCOMPARE(std::distance(fs::directory_iterator(file().parent_path()), fs::directory_iterator()), 1);
    }

    // What any other reader of the format relies on, without ours.
    void theFileIsSafetensors() {
        writeCheckpoint(file(), sample());
        const std::string bytes = contentOf(file());
        std::uint64_t length = 0;
        std::memcpy(&length, bytes.data(), 8);
        QCOMPARE(length % 8, std::uint64_t{0});
        const auto header = nlohmann::json::parse(bytes.substr(8, length));
        QCOMPARE(header["conv1/weight"]["dtype"].get<std::string>(), std::string("F32"));
        QCOMPARE(header["conv1/weight"]["shape"].dump(), std::string("[2,3,1,2]"));
        const auto begin = header["odd"]["data_offsets"][0].get<std::size_t>();
        QVERIFY(std::memcmp(bytes.data() + 8 + length + begin, sample().tensors.at("odd").data(), 3) == 0);
        for (const auto& [key, value] : header["__metadata__"].items()) QVERIFY2(value.is_string(), key.c_str());
    }

    void everyTruncationIsAProblem() {
        writeCheckpoint(file(), sample());
        const std::string whole = contentOf(file());
        for (std::size_t length = 0; length < whole.size(); ++length) {
            put(file(), whole.substr(0, length));
            const auto read = readCheckpoint(file());
            QVERIFY2(!read.ok(), qPrintable(QString::number(length)));
            QCOMPARE(read.problems().front().code, std::string("checkpoint.truncated"));
        }
        put(file(), whole + "x");
        expectProblem("checkpoint.malformed");
    }

    void everyFlippedHeaderByteIsSurvived() {
        writeCheckpoint(file(), sample());
        const std::string whole = contentOf(file());
        for (std::size_t at = 0; at < whole.size(); ++at) {
            for (const char flip : {'\x01', '\x10', '\x80'}) {
                std::string broken = whole;
                broken[at] = static_cast<char>(broken[at] ^ flip);
                put(file(), broken);
                (void)readCheckpoint(file());  // a problem or another value; never an abort or a flood of memory
            }
        }
    }

    void everyFlippedBitOfATensorIsNoticed() {
        writeCheckpoint(file(), sample());
        const std::string whole = contentOf(file());
        std::uint64_t header = 0;
        std::memcpy(&header, whole.data(), sizeof header);
        for (std::size_t at = sizeof header + header; at < whole.size(); ++at) {
            std::string broken = whole;
            broken[at] = static_cast<char>(broken[at] ^ (1 << at % 8));
            put(file(), broken);
            expectProblem("checkpoint.altered");
        }
    }

    void aChangedPositionIsNoticed() {
        writeCheckpoint(file(), sample());
        std::string bytes = contentOf(file());
        const auto at = bytes.find("\\\"step\\\":34");
        QVERIFY(at != bytes.npos);
        bytes[at + 10] = '5';
        put(file(), bytes);
        expectProblem("checkpoint.altered");
    }

    void aFileWithoutAChecksumIsRead() {
        writeCheckpoint(file(), sample());
        std::string bytes = contentOf(file());
        const auto at = bytes.find("\"checksum\"");
        QVERIFY(at != bytes.npos);
        bytes.replace(at, 10, "\"another1\"");
        put(file(), bytes);
        verifyEqual(readCheckpoint(file()).value(), sample());
    }

    // Of an earlier version, or one whose numbers mean something else.
    void aFileWithoutAFingerprintIsRead() {
        Checkpoint without = sample();
        without.data.reset();
        writeCheckpoint(file(), without);
        verifyEqual(readCheckpoint(file()).value(), without);
        replaceUnchecked("\\\"version\\\":1", "\\\"version\\\":2");
        verifyEqual(readCheckpoint(file()).value(), without);
    }

    void aDamagedFingerprintIsNoticed_data() {
        QTest::addColumn<QByteArray>("from");
        QTest::addColumn<QByteArray>("to");
        QTest::newRow("count") << QByteArray(R"(\"samples\":60000)") << QByteArray(R"(\"samples\":-6000)");
        QTest::newRow("no hash") << QByteArray("fedcba9876543210") << QByteArray("fedcba987654321g");
        QTest::newRow("empty") << QByteArray(R"(\"fedcba9876543210\")") << QByteArray(R"(\"\"                )");
        QTest::newRow("a number") << QByteArray(R"(\"fedcba9876543210\")") << QByteArray("12345678901234567890");
        QTest::newRow("no split") << QByteArray(R"(\"train\")") << QByteArray(R"(\"tra1n\")");
        QTest::newRow("no version") << QByteArray(R"(\"version\")") << QByteArray(R"(\"wersion\")");
    }
    void aDamagedFingerprintIsNoticed() {
        QFETCH(QByteArray, from);
        QFETCH(QByteArray, to);
        writeCheckpoint(file(), sample());
        replaceUnchecked(from.toStdString(), to.toStdString());
        expectProblem("checkpoint.malformed");
    }

    void corruptHeaders_data() {
        QTest::addColumn<QByteArray>("header");
        QTest::addColumn<int>("dataBytes");
        const auto row = [](const char* name, const char* header, int bytes) {
            QTest::newRow(name) << QByteArray(header) << bytes;
        };
        row("not json", "{\"a\":", 0);
        row("not an object", "[1,2]", 0);
        row("duplicate tensor",
            R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
            1);
        row("duplicate field", R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1);
        row("unknown type", R"({"a":{"dtype":"F7","shape":[1],"data_offsets":[0,1]}})", 1);
        row("type is a number", R"({"a":{"dtype":7,"shape":[1],"data_offsets":[0,1]}})", 1);
        row("missing offsets", R"({"a":{"dtype":"U8","shape":[1]}})", 1);
        row("one offset", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}})", 1);
        row("negative offset", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[-1,0]}})", 1);
        row("reversed offsets", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})", 1);
        row("fraction", R"({"a":{"dtype":"U8","shape":[1.5],"data_offsets":[0,1]}})", 1);
        row("negative extent", R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1);
        row("shape is text", R"({"a":{"dtype":"U8","shape":"1","data_offsets":[0,1]}})", 1);
        row("too many axes", R"({"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1],"data_offsets":[0,1]}})", 1);
        row("overflow", R"({"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0);
        row("overflow by one", R"({"a":{"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]}})", 0);
        row("wrong size", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4);
        row("gap", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2);
        row("overlap",
            R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
            3);
        row("rest", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 2);
        row("metadata not text", R"({"__metadata__":{"a":1}})", 0);
        row("metadata a list", R"({"__metadata__":[]})", 0);
        row("deep", R"({"a":[[[[[[[[[1]]]]]]]]]})", 0);
    }

    void corruptHeaders() {
        QFETCH(QByteArray, header);
        QFETCH(int, dataBytes);
        put(file(), withHeader(header.toStdString(), static_cast<std::size_t>(dataBytes)));
        expectProblem("checkpoint.malformed");
    }

    void anEnormousHeaderIsRefused() {
        std::string bytes = withHeader("{}", 0);
        bytes[5] = '\x7f';
        put(file(), bytes);
        expectProblem("checkpoint.malformed");
    }

    void aHeaderOfTooManyTensorsIsRefused() {
        std::string header = "{";
        for (int i = 0; i <= 100000; ++i)
            header += (i > 0 ? ",\"" : "\"") + std::to_string(i) +
                      "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
        put(file(), withHeader(header + "}", 0));
        expectProblem("checkpoint.malformed");
        QVERIFY(readTensorFileHeader(file()).problems().front().args[0].find("100000") != std::string::npos);
    }

    void otherFilesAreNamedAsSuch() {
        put(file(), withHeader("{}", 0));
        expectProblem("checkpoint.foreign");
        using Kinds = std::initializer_list<std::pair<const char*, const char*>>;
        for (const auto& [bytes, kind] : Kinds{{"\xff\xd8\xff\xe0 and so on", "a JPEG image"},
                                               {"\x89PNG\r\n\x1a\n and so on", "a PNG image"},
                                               {"PK\x03\x04 and so on", "a ZIP archive, as PyTorch's own files are"},
                                               {"Dear reader", "a text"},
                                               {"caf\xc3\xa9", "a text"},
                                               {"none", "a text"},
                                               {"{\n    \"title\": \"x\"}", "a file of JSON"},
                                               {"\x01\x02\x03\x04\x05\x06", "a file of another kind"}}) {
            put(file(), bytes);
            expectProblem("checkpoint.not-safetensors");
            QCOMPARE(readCheckpoint(file()).problems().front().args, (std::vector<std::string>{kind}));
        }
        fs::remove(file());
        expectProblem("checkpoint.unreadable");
    }

    void oddPositionsAreProblems() {
        for (const char* position : {"", "{}", "[]", R"({"trial":-1})", "null"}) {
            const nlohmann::json header = {
                {"__metadata__",
                 {{"format", "lockstep-checkpoint-1"}, {"spec", toJson(TrialSpec())}, {"position", position}}}};
            put(file(), withHeader(header.dump(), 0));
            expectProblem("checkpoint.malformed");
        }
    }

    void aMissingFolderIsNamed() {
        try {
            writeCheckpoint(file("no/such/folder.safetensors"), sample());
            QFAIL("nothing was thrown");
        } catch (const EngineError& error) {
            QCOMPARE(error.kind(), EngineError::Kind::Io);
            QVERIFY(QString(error.what()).contains("folder.safetensors"));
            QVERIFY(QString(error.what()).contains("No such file"));
        }
    }

    void leftoversOfKilledWritersAreSwept() {
        const fs::path orphan = file(".a.safetensors.tmp-4194303"), foreign = file(".a.safetensors.tmp-mine");
        put(orphan, "half");
        put(foreign, "not ours");
        writeCheckpoint(file(), sample());
        QVERIFY(!fs::exists(orphan));
        QVERIFY(fs::exists(foreign));
        fs::remove(foreign);
    }

    // A link stays, whatever it leads to; what is no file is written into.
    void filesThatAPersonNames() {
        fs::create_directory(file("there"));
        fs::create_symlink("there/text", file("link"));
        fs::create_symlink("link", file("second"));
        writeNamedFile(file("second"), "one");
        QVERIFY(fs::is_symlink(file("second")) && fs::is_symlink(file("link")));
        QCOMPARE(contentOf(file("there/text")), std::string("one"));
        writeNamedFile(file("link"), "two");
        QCOMPARE(contentOf(file("there/text")), std::string("two"));
        QCOMPARE(std::distance(fs::directory_iterator(file("there")), fs::directory_iterator()), std::ptrdiff_t{1});

        const fs::path pipe = file("pipe");
        QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
        const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
        const std::vector<FileText> files{{pipe, "through"}, {file("plain"), "beside"}};
        writeNamedFiles(files);
        char got[8] = {};
        QCOMPARE(::read(reader, got, sizeof got), ssize_t{7});
        ::close(reader);
        QCOMPARE(std::string(got), std::string("through"));
        QVERIFY(fs::is_fifo(pipe));
        QCOMPARE(contentOf(file("plain")), std::string("beside"));
        for (const char* each : {"there", "link", "second", "pipe", "plain"}) fs::remove_all(file(each));
    }

    void aFullDiskLeavesTheOldFile() {
        const fs::path small = file("small");
        fs::create_directory(small);
        if (::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=256k") != 0) QSKIP("mounting a small disk takes root");
        writeCheckpoint(small / "a.safetensors", sample());
        Checkpoint large = sample();
        large.tensors.emplace("large", HostTensor({{1 << 20}, DType::F32}));
        bool thrown = false;
        try {
            writeCheckpoint(small / "a.safetensors", large);
        } catch (const EngineError& error) {
            thrown = QString(error.what()).contains("No space left") && QString(error.what()).contains("a.safetensors");
        }
        const bool kept = readCheckpoint(small / "a.safetensors").ok();
        const auto files = std::distance(fs::directory_iterator(small), fs::directory_iterator());
        ::umount(small.c_str());
        fs::remove(small);
        QVERIFY(thrown);
        QVERIFY(kept);
        QCOMPARE(files, 1);
    }
};

QTEST_APPLESS_MAIN(TstCheckpoint)
#include "tst_checkpoint.moc"
