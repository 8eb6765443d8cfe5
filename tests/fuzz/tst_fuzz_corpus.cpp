#include <QtTest>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <vector>

#include "tests/fuzz/allocation_watch.h"
#include "tests/fuzz/fuzz_target.h"

// Replays the corpus of every parser, and each file damaged in ways that are always the same. Crashes that libFuzzer
// found are in the corpus.

using namespace lockstep::fuzz;
namespace fs = std::filesystem;

namespace {

using Bytes = std::vector<std::uint8_t>;

const fs::path kCorpus = fs::path(LOCKSTEP_SOURCE_DIR) / "tests" / "fuzz" / "corpus";
// Damaged copies of a file: cuts, flipped bits, and places of an extreme number.
constexpr std::size_t kMostCuts = 512, kMostFlips = 512, kMostPlaces = 40;

Bytes contentOf(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(in), {});
}

std::vector<fs::path> filesOf(const char* target) {
    std::vector<fs::path> files;
    for (const auto& item : fs::directory_iterator(kCorpus / target)) files.push_back(item.path());
    std::ranges::sort(files);
    return files;
}

const FuzzTarget& targetNamed(const QString& name) {
    return *std::ranges::find_if(fuzzTargets(), [&](const FuzzTarget& each) { return name == each.name; });
}

// Positions from 0 to `end`, all of them if they are few, else spread evenly.
void atPositions(std::size_t end, std::size_t most, const std::function<void(std::size_t)>& act) {
    const std::size_t step = (end + most - 1) / most;
    for (std::size_t at = 0; at < end; at += step) act(at);
}

using Check = std::function<void(const Bytes&)>;

void truncated(const Bytes& whole, const Check& check) {
    atPositions(whole.size(), kMostCuts, [&](std::size_t at) {
        check({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at)});
    });
}

void flipped(const Bytes& whole, const Check& check) {
    atPositions(8 * whole.size(), kMostFlips, [&](std::size_t bit) {
        Bytes damaged = whole;
        damaged[bit / 8] = static_cast<std::uint8_t>(damaged[bit / 8] ^ 1u << bit % 8);
        check(damaged);
    });
}

// Lengths, counts and offsets, whichever bytes hold them: nothing, all, and the largest of either sign and byte order.
void withExtremes(const Bytes& whole, const Check& check) {
    for (const std::size_t width : {1, 2, 4, 8}) {
        Bytes largest(width, 0xff), smallest(width, 0), nothing(width, 0);
        smallest.back() = 0x80;
        largest.back() = 0x7f;
        for (const Bytes& value : {nothing, Bytes(width, 0xff), largest, Bytes(largest.rbegin(), largest.rend()),
                                   smallest, Bytes(smallest.rbegin(), smallest.rend())}) {
            const std::size_t places = whole.size() < width ? 0 : whole.size() - width + 1;
            atPositions(places, kMostPlaces, [&](std::size_t at) {
                Bytes damaged = whole;
                std::ranges::copy(value, damaged.begin() + static_cast<std::ptrdiff_t>(at));
                check(damaged);
            });
        }
    }
}

}  // namespace

class TstFuzzCorpus : public QObject {
    Q_OBJECT

private slots:
    void everyTargetHasACorpus() {
        std::set<std::string> folders, targets;
        for (const auto& folder : fs::directory_iterator(kCorpus)) folders.insert(folder.path().filename().string());
        for (const FuzzTarget& target : fuzzTargets()) targets.insert(target.name);
        QVERIFY(folders == targets);
    }

    // A corpus of nothing but refused files would test the first check of its parser alone.
    void everyParserAcceptsSomething() {
        for (const FuzzTarget& target : fuzzTargets()) {
            const auto files = filesOf(target.name);
            const auto accepted = [&](const fs::path& file) { return target.run(contentOf(file)); };
            QVERIFY2(std::ranges::any_of(files, accepted), target.name);
        }
    }

    void largeAllocationsAreSeen() {
        const AllocationWatch watch;
        void* volatile memory = std::malloc(12'345'678);
        std::free(memory);
        QVERIFY(watch.largest() >= 12'345'678 && watch.largest() < 13'000'000);
    }

    void nothingCrashesOrTakesMoreThanDeclared_data() {
        QTest::addColumn<QString>("target");
        QTest::addColumn<QString>("file");
        for (const FuzzTarget& target : fuzzTargets()) {
            for (const fs::path& file : filesOf(target.name))
                QTest::addRow("%s/%s", target.name, file.filename().c_str())
                    << target.name << QString::fromStdString(file.string());
        }
    }

    void nothingCrashesOrTakesMoreThanDeclared() {
        QFETCH(QString, target);
        QFETCH(QString, file);
        const FuzzTarget& parser = targetNamed(target);
        std::size_t most = 0, allowed = 0;
        const auto check = [&](const Bytes& bytes) {
            const AllocationWatch watch;
            parser.run(bytes);
            if (watch.largest() <= parser.cap(bytes.size())) return;
            most = watch.largest();
            allowed = parser.cap(bytes.size());
        };
        const Bytes whole = contentOf(file.toStdString());
        check(whole);
        truncated(whole, check);
        flipped(whole, check);
        withExtremes(whole, check);
        QVERIFY2(most == 0, qPrintable(QString("%1 bytes at once, %2 declared").arg(most).arg(allowed)));
    }
};

QTEST_APPLESS_MAIN(TstFuzzCorpus)
#include "tst_fuzz_corpus.moc"
