#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>
#include <fstream>

#include "engine/spec/kept_checkpoints.h"
#include "engine/spec/trial_settings.h"
#include "engine/spec/trial_spec.h"

using namespace lockstep;
namespace fs = std::filesystem;

class TestKeptCheckpoints : public QObject {
    Q_OBJECT
private slots:
    void whatIsKeptIsALine() {
        QCOMPARE(parseKept("last").value().best, std::int64_t{0});
        QCOMPARE(parseKept("best:1").value().best, std::int64_t{1});
        QCOMPARE(parseKept("best:1000000").value().best, std::int64_t{1'000'000});
        for (const char* wrong : {"", "best", "best:0", "best:1000001", "best:-1", "best:+1", "best:01", "best: 1",
                                  "best:1 ", "last:1", "none", "Best:1", "best:99999999999999999999"}) {
            const auto read = parseKept(wrong);
            QVERIFY2(!read.ok(), wrong);
            QCOMPARE(read.problems().front(), (Problem{"keep_checkpoints", "spec.keep-checkpoints", {wrong}}));
        }
    }

    // Specs and histories of before there was the setting mean what they did: last and best.
    void oldSpecsKeepTheirMeaning() {
        const auto old = trialSpecFromJson("{\"epochs\": 3}", "old.json");
        QVERIFY(old.ok());
        QCOMPARE(parseKept(old.value().keepCheckpoints).value(), KeptCheckpoints{1});
        TrialSpec spec;
        QVERIFY(!writeSetting(spec, "keep_checkpoints", settingValue("keep_checkpoints", "best:3")));
        QCOMPARE(trialSpecFromJson(toJson(spec), "").value().keepCheckpoints, std::string("best:3"));
    }

    void namesAreThoseOfFiles() {
        QCOMPARE(checkpointName(kLast), std::string("last.safetensors"));
        QCOMPARE(checkpointName(epochRole(12)), std::string("epoch-12.safetensors"));
        QCOMPARE(*checkpointNamed("epoch-12.safetensors"), (CheckpointFile{"epoch-12", 12}));
        QCOMPARE(*checkpointNamed("best.safetensors"), (CheckpointFile{"best", 0}));
        for (const char* other : {"epoch-0.safetensors", "epoch-03.safetensors", "epoch-.safetensors", "epoch-1",
                                  "weights.safetensors", ".last.safetensors", "last.safetensors.tmp-3", ""})
            QVERIFY2(!checkpointNamed(other), other);
        QCOMPARE(*checkpointAsked("7"), (CheckpointFile{"epoch-7", 7}));
        QCOMPARE(*checkpointAsked("last"), (CheckpointFile{"last", 0}));
        for (const char* other : {"", "0", "-1", "epoch-7", "x"}) QVERIFY2(!checkpointAsked(other), other);
    }

    void aFileSaysHowFarItGoes() {
        QTemporaryDir home;
        const fs::path file = fs::path(home.path().toStdString()) / "last.safetensors";
        const auto stepIn = [&](const std::string& header, std::uint64_t length) {
            std::ofstream out(file, std::ios::binary);
            out.write(reinterpret_cast<const char*>(&length), sizeof length);
            out << header << "tensors";
            out.close();
            return checkpointStep(file);
        };
        QVERIFY(!checkpointStep(file));
        const std::string header = "{\"__metadata__\":{\"position\":\"{\\\"step\\\":1234}\"}}";
        QCOMPARE(stepIn(header, header.size()), std::optional<std::int64_t>(1234));
        for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{9}, std::uint64_t{1} << 40})
            QVERIFY(!stepIn(header, length));
        for (const std::string other : {"{}", "[]", "{\"__metadata__\":3}", "{\"__metadata__\":{\"position\":7}}",
                                        "{\"__metadata__\":{\"position\":\"{\\\"step\\\":-1}\"}}"})
            QVERIFY2(!stepIn(other, other.size()), other.c_str());
    }

    void aFolderIsListedInOrder() {
        QTemporaryDir home;
        const fs::path folder = home.path().toStdString();
        QVERIFY(checkpointsIn(folder / "none").empty());
        for (const char* name : {"epoch-10.safetensors", "epoch-9.safetensors", "best.safetensors", "last.safetensors",
                                 "notes.txt", ".last.safetensors.tmp-1"})
            std::ofstream(folder / name) << "x";
        fs::create_directory(folder / "epoch-3.safetensors");
        std::vector<std::string> roles;
        for (const auto& each : checkpointsIn(folder)) roles.push_back(each.role);
        QCOMPARE(roles, (std::vector<std::string>{"last", "best", "epoch-9", "epoch-10"}));
        QVERIFY(!checkpointsFreedAt(folder));
        std::ofstream(folder / kFreedMark) << "2026-11-24T12:00:00Z\n";
        QCOMPARE(*checkpointsFreedAt(folder), std::string("2026-11-24T12:00:00Z"));
        std::ofstream(folder / kFreedMark) << std::string(1'000'000, 'y');
        QCOMPARE(checkpointsFreedAt(folder)->size(), std::size_t{32});
    }
};

QTEST_APPLESS_MAIN(TestKeptCheckpoints)
#include "tst_kept_checkpoints.moc"
