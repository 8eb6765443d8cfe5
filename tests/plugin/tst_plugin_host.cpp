#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <fstream>
#include <map>
#include <thread>

#include "engine/core/error.h"
#include "engine/data/sample.h"
#include "engine/plugin/plugin_host.h"
#include "tests/plugin/out_of_tree.h"

using namespace lockstep;
namespace fs = std::filesystem;

class tst_PluginHost : public QObject {
    Q_OBJECT
private slots:
    void everyBadPluginIsReportedAndSkipped();
    void aHangIsCutOff();
    void filesThatAreNoPlugins();
    void aProbeThatCannotRun();
    void twoPluginsOfOneName();
    void aSoundPluginReads();
    void datasetsThatLieAreProblems_data();
    void datasetsThatLieAreProblems();
    void fieldsThatCannotBeAreProblems_data();
    void fieldsThatCannotBeAreProblems();
    void fieldsOfManyTypesAreRead();
    void imagesThatCannotBeReadAreNamed();
    void theTemplateBuildsTheExampleOutOfTree();
    void theTemplateWorksAsItIs();
};

namespace {

const fs::path kFixtures = LOCKSTEP_PLUGIN_FIXTURES;
const std::vector<std::string> kProber = {LOCKSTEP_PLUGIN_PROBER};

fs::path in(const QTemporaryDir& folder) { return folder.path().toStdString(); }

LoadedPlugins loadFixtures(const std::vector<std::string>& names, PluginLog log = {}) {
    QTemporaryDir folder;
    for (const auto& name : names) fs::copy(kFixtures / (name + ".so"), in(folder));
    return loadPlugins({in(folder)}, kProber, std::move(log));
}

std::string codeOf(const PluginReport& report) { return report.problems.empty() ? "" : report.problems.front().code; }

template <class T>
std::string textOf(const Result<T>& result) {
    if (result.ok()) return "";
    const Problem& problem = result.problems().front();
    return problem.code + " " + problem.args.back();
}

ParamValues mode(const DatasetEntry& entry, std::int64_t value) {
    return ParamValues::from(entry.params, {{"mode", value}}, "dataset").value();
}

}  // namespace

void tst_PluginHost::everyBadPluginIsReportedAndSkipped() {
    const std::map<std::string, std::string> expected = {{"old_abi", "plugin.abi"},
                                                         {"new_abi", "plugin.abi"},
                                                         {"aborts", "plugin.crashed"},
                                                         {"short_table", "plugin.wrong-table"},
                                                         {"no_function", "plugin.wrong-table"},
                                                         {"bad_id", "plugin.wrong-table"},
                                                         {"bad_setting", "plugin.wrong-table"},
                                                         {"refuses", "plugin.refused"},
                                                         {"ends", "plugin.babbles"},
                                                         {"no_datasets", "plugin.wrong-table"},
                                                         {"null_pointers", "plugin.wrong-table"},
                                                         {"no_entry", "plugin.no-entry"},
                                                         {"sound", ""},
                                                         {"prints", ""}};
    std::vector<std::string> names;
    for (const auto& [name, code] : expected) names.push_back(name);
    const auto loaded = loadFixtures(names);
    QCOMPARE(loaded.reports.size(), expected.size());
    for (const auto& report : loaded.reports) {
        const auto name = report.file.stem().string();
        QVERIFY2(codeOf(report) == expected.at(name), (name + ": " + codeOf(report)).c_str());
        QVERIFY(report.problems.empty() || report.problems.front().field == report.file.string());
    }
    QCOMPARE(loaded.datasets.size(), std::size_t{2});
}

void tst_PluginHost::aHangIsCutOff() {
    const auto before = std::chrono::steady_clock::now();
    const auto loaded = loadFixtures({"hangs", "sound"});
    QVERIFY(std::chrono::steady_clock::now() - before < std::chrono::seconds(8));
    QCOMPARE(codeOf(loaded.reports.at(0)), std::string("plugin.timed-out"));
    QCOMPARE(loaded.datasets.size(), std::size_t{1});
}

void tst_PluginHost::filesThatAreNoPlugins() {
    QTemporaryDir folder;
    put(in(folder) / "text.so", "this is no library");
    put(in(folder) / "empty.so", "");
    fs::create_directory(in(folder) / "folder.so");
    std::ifstream whole(kFixtures / "sound.so", std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(whole), {}};
    put(in(folder) / "half.so", bytes.substr(0, bytes.size() / 2));
    fs::create_symlink(in(folder) / "nowhere", in(folder) / "dangling.so");
    put(in(folder) / "ignored.txt", "");
    const auto loaded = loadPlugins({in(folder), in(folder) / "absent"}, kProber);
    QCOMPARE(loaded.reports.size(), std::size_t{5});
    for (const auto& report : loaded.reports) {
        const bool told = codeOf(report) == "plugin.not-loadable" || codeOf(report) == "plugin.crashed";
        QVERIFY2(told, (report.file.string() + " " + codeOf(report)).c_str());
    }
    QVERIFY(loaded.datasets.empty());
}

void tst_PluginHost::aProbeThatCannotRun() {
    for (const auto& command : {std::vector<std::string>{}, std::vector<std::string>{"/no/such/program"}}) {
        const auto loaded = loadPlugins({kFixtures / "one"}, command);
        QCOMPARE(codeOf(loaded.reports.at(0)), std::string("plugin.no-probe"));
    }
    QCOMPARE(codeOf(loadPlugins({kFixtures / "one"}, {"yes"}).reports.at(0)), std::string("plugin.babbles"));
    QCOMPARE(codeOf(loadPlugins({kFixtures / "one"}, {"false"}).reports.at(0)), std::string("plugin.babbles"));
}

void tst_PluginHost::twoPluginsOfOneName() {
    QTemporaryDir folder;
    fs::copy(kFixtures / "sound.so", in(folder) / "a.so");
    fs::copy(kFixtures / "sound.so", in(folder) / "b.so");
    const auto loaded = loadPlugins({in(folder), in(folder)}, kProber);
    QCOMPARE(loaded.reports.size(), std::size_t{2});
    QCOMPARE(codeOf(loaded.reports.at(0)), std::string());
    QCOMPARE(codeOf(loaded.reports.at(1)), std::string("plugin.duplicate"));
    QCOMPARE(loaded.datasets.size(), std::size_t{1});
}

void tst_PluginHost::aSoundPluginReads() {
    std::atomic<int> logged{0};
    const auto loaded = loadFixtures({"sound"}, [&](const std::string& plugin, int level, const std::string& text) {
        logged += plugin == "sound" && level == 1 && text == "opened";
    });
    const DatasetEntry& entry = loaded.datasets.at(0);
    QCOMPARE(entry.id, std::string("sound"));
    QCOMPARE(entry.params.size(), std::size_t{1});
    QVERIFY(!ParamValues::from(entry.params, {{"mode", std::int64_t{100}}}, "dataset").ok());
    QCOMPARE(entry.recognise("/tmp"), 0);
    const auto splits = entry.open("/tmp", mode(entry, 0), {});
    QVERIFY2(splits.ok(), textOf(splits).c_str());
    QCOMPARE(logged.load(), 2);
    const auto& data = *splits.value().train;
    QCOMPARE(data.info().count, std::int64_t{30});
    QVERIFY((data.info().image() == ImageShape{1, 4, 5}));
    QVERIFY(qAbs(data.info().mean.at(0) - 14.5 / 255) < 1e-6);
    QVERIFY(qAbs(data.info().deviation.at(0) - std::sqrt((30. * 30 - 1) / 12) / 255) < 1e-6);
    std::vector<std::jthread> threads;
    std::atomic<int> right{0};
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            Sample sample(data);
            for (std::int64_t i = 0; i < 30; ++i) {
                right +=
                    sample.read(i).label() == i % 3 &&
                    std::ranges::equal(sample.image(), std::vector<std::uint8_t>(20, static_cast<std::uint8_t>(i)));
            }
        });
    }
    threads.clear();
    QCOMPARE(right.load(), 120);
    const auto report = entry.inspect("/tmp", mode(entry, 0), {});
    QVERIFY((report.value().trainPerClass == std::vector<std::int64_t>{10, 10, 10}));
}

void tst_PluginHost::datasetsThatLieAreProblems_data() {
    QTest::addColumn<int>("how");
    QTest::addColumn<QString>("words");
    QTest::newRow("refuses the path") << 1 << "the file /tmp is not for me";
    QTest::newRow("endless message") << 2 << QString(1023, 'x');
    QTest::newRow("no samples") << 4 << "it has no samples";
    QTest::newRow("no classes") << 5 << "its classes are missing";
    QTest::newRow("wrong labels") << 6 << "sample 0: its label 3 is not among the classes";
    QTest::newRow("unwritten label") << 10 << "sample 0: its label -1 is not among the classes";
    QTest::newRow("other test split") << 7 << "its test samples differ from its training samples in fields or classes";
    QTest::newRow("bad disk") << 9 << "sample 17: sector 17";
}

void tst_PluginHost::datasetsThatLieAreProblems() {
    QFETCH(int, how);
    QFETCH(QString, words);
    static const auto loaded = loadFixtures({"sound"});
    const auto& entry = loaded.datasets.at(0);
    QCOMPARE(textOf(entry.open("/tmp", mode(entry, how), {})), "plugin.dataset " + words.toStdString());
}

void tst_PluginHost::fieldsThatCannotBeAreProblems_data() {
    QTest::addColumn<int>("how");
    QTest::addColumn<QString>("code");
    QTest::addColumn<QString>("args");
    const auto row = [](const char* name, int how, const char* code, const char* args) {
        QTest::newRow(name) << how << code << args;
    };
    row("enormous image", 3, "plugin.field-shape", "image 3 1x1073741824x1073741824");
    row("an extent of 0", 21, "plugin.field-shape", "image 3 1x0x5");
    row("unknown type", 22, "plugin.field-type", "x 9");
    row("negative type", 23, "plugin.field-type", "x -1");
    row("one name twice", 24, "plugin.field-name", "image");
    row("no label", 25, "plugin.missing-field", "label");
    row("the engine's name", 26, "plugin.field-name", "ids");
    row("no name", 27, "plugin.field-name", "");
    row("a name with a blank", 28, "plugin.field-name", "a b");
    row("no extents", 29, "plugin.field-shape", "x 0 no extents");
    row("too many extents", 30, "plugin.field-shape", "x 6 1x1x1x1x1");
    row("more than 64 bits", 31, "plugin.field-shape", "x 5 1073741824x1073741824x1073741824x1073741824x1073741824");
    row("just too large", 32, "plugin.field-shape", "x 1 8388609");
    row("negative extents", 33, "plugin.field-shape", "x 2 -2x-2");
    row("image of floats", 34, "plugin.field-type", "image f32");
    row("flat image", 35, "plugin.field-shape", "image 2 4x5");
    row("too many channels", 36, "plugin.field-shape", "image 3 17x4x5");
    row("long label", 37, "plugin.field-type", "label i64");
    row("two labels", 38, "plugin.field-shape", "label 1 2");
    row("another struct", 39, "plugin.wrong-table", "");
    row("too many", 40, "plugin.too-many-fields", "17");
    row("none", 41, "plugin.missing-field", "label");
}

void tst_PluginHost::fieldsThatCannotBeAreProblems() {
    QFETCH(int, how);
    QFETCH(QString, code);
    QFETCH(QString, args);
    static const auto loaded = loadFixtures({"sound"});
    const auto& entry = loaded.datasets.at(0);
    for (const auto& problems : {entry.open("/tmp", mode(entry, how), {}).problems(),
                                 entry.inspect("/tmp", mode(entry, how), {}).problems()}) {
        QCOMPARE(problems.size(), std::size_t{1});
        const Problem& problem = problems.front();
        QCOMPARE(problem.field, std::string("/tmp"));
        QCOMPARE(QString::fromStdString(problem.code), code);
        QString told;
        for (std::size_t i = 1; i < problem.args.size(); ++i)
            told += (i > 1 ? " " : "") + QString::fromStdString(problem.args[i]);
        QCOMPARE(told, args);
    }
}

void tst_PluginHost::fieldsOfManyTypesAreRead() {
    const auto loaded = loadFixtures({"sound"});
    const auto& entry = loaded.datasets.at(0);
    const auto splits = entry.open("/tmp", mode(entry, 20), {});
    QVERIFY2(splits.ok(), textOf(splits).c_str());
    const auto& data = *splits.value().train;
    QCOMPARE(text(data.info().fields), std::string("tokens i32[3], label i32[1], weight f64[1x2]"));
    QVERIFY(data.info().mean.empty());
    Sample sample(data);
    sample.read(7);
    QVERIFY(std::ranges::equal(sample.field<std::int32_t>("tokens"), std::vector{70, 71, 72}));
    QVERIFY(std::ranges::equal(sample.field<double>("weight"), std::vector{3.5, 4.5}));
    QCOMPARE(sample.label(), 1);
    QCOMPARE(entry.inspect("/tmp", mode(entry, 20), {}).value().fields, data.info().fields);
}

void tst_PluginHost::imagesThatCannotBeReadAreNamed() {
    const auto loaded = loadFixtures({"sound"});
    const auto& entry = loaded.datasets.at(0);
    const auto splits = entry.open("/tmp", mode(entry, 0), {});
    std::vector<std::byte> tooSmall(19), label(4);
    const std::array<std::span<std::byte>, 2> room{tooSmall, label};
    try {
        splits.value().train->read(0, room);
        QFAIL("it was written beyond the end");
    } catch (const EngineError& error) {
        QCOMPARE(error.where(), std::string("dataset sound"));
    }
}

void tst_PluginHost::theTemplateBuildsTheExampleOutOfTree() {
    QTemporaryDir folder;
    const auto output =
        buildOutOfTree(in(folder), "pnm_folder", fs::path(LOCKSTEP_SOURCE_DIR) / "plugins/examples/pnm_folder");
    QVERIFY2(output.isEmpty(), output);
    const auto loaded = loadPlugins({in(folder) / "build"}, kProber);
    QCOMPARE(loaded.reports.size(), std::size_t{1});
    QVERIFY2(loaded.reports[0].problems.empty(), codeOf(loaded.reports[0]).c_str());
    const auto& entry = loaded.datasets.at(0);
    QCOMPARE(entry.id, std::string("pnm-folder"));

    const fs::path images = in(folder) / "images";
    writeImages(images, 10);
    QCOMPARE(entry.recognise(images), 90);
    QCOMPARE(entry.recognise(in(folder) / "build"), 0);
    const auto held = entry.open(images, ParamValues(entry.params), {});
    QVERIFY2(held.ok(), textOf(held).c_str());
    QCOMPARE(held.value().train->info().count, std::int64_t{16});
    QCOMPARE(held.value().test->info().count, std::int64_t{4});
    QVERIFY((held.value().train->info().classes == std::vector<std::string>{"bright", "dark"}));
    QVERIFY((held.value().train->info().image() == ImageShape{3, 2, 3}));
    Sample sample(*held.value().test);
    QCOMPARE(sample.read(0).label(), 0);
    QCOMPARE(sample.image().front(), std::uint8_t{200});
    QCOMPARE(sample.read(3).label(), 1);
    QCOMPARE(sample.image().back(), std::uint8_t{15});

    const fs::path divided = in(folder) / "divided";
    writeImages(divided / "train", 3);
    writeImages(divided / "test", 2);
    QCOMPARE(entry.open(divided, ParamValues(entry.params), {}).value().train->info().count, std::int64_t{6});

    put(images / "dark" / "half.ppm", "P6 3 2 255\n" + std::string(17, 'x'));
    const auto cut = textOf(entry.open(images, ParamValues(entry.params), {}));
    QVERIFY2(cut.ends_with("half.ppm: its length does not fit its size in pixels"), cut.c_str());
    put(images / "dark" / "half.ppm", "P5 3 2 255\n" + std::string(6, 'x'));
    QVERIFY(
        textOf(entry.open(images, ParamValues(entry.params), {})).ends_with("differ from those of the first image"));
    put(images / "dark" / "half.ppm", "P6 99999999999999999999 2 255\n");
    QVERIFY(textOf(entry.open(images, ParamValues(entry.params), {})).ends_with("its width is not between 1 and 8192"));
    QVERIFY(!entry.open(in(folder) / "absent", ParamValues(entry.params), {}).ok());
}

void tst_PluginHost::theTemplateWorksAsItIs() {
    QTemporaryDir folder;
    const auto output = buildOutOfTree(in(folder), "my_dataset", {});
    QVERIFY2(output.isEmpty(), output);
    const auto loaded = loadPlugins({in(folder) / "build"}, kProber);
    QVERIFY2(codeOf(loaded.reports.at(0)).empty(), codeOf(loaded.reports.at(0)).c_str());
    const auto& entry = loaded.datasets.at(0);
    QVERIFY((entry.inspect("stripes", ParamValues(entry.params), {}).value().trainPerClass ==
             std::vector<std::int64_t>{256, 256}));
}

QTEST_APPLESS_MAIN(tst_PluginHost)
#include "tst_plugin_host.moc"
