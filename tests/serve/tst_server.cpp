#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "datasets/catalog.h"
#include "engine/backend/null/null_backend.h"
#include "engine/serve/server.h"
#include "engine/spec/data_known.h"
#include "engine/train/checkpoint.h"
#include "engine/train/trained_on.h"

using namespace lockstep;

namespace {

constexpr const char* kSpec = R"({"dataset":"synthetic","model":"mlp","devices":"null:2","batch":64})";

ToldProblem told(const Problem& problem) { return {problem, "What of " + problem.code, "Remedy"}; }

DatasetSplits splitsOf(const char* json) {
    const TrialSpec spec = trialSpecFromJson(json, "").value();
    for (const DatasetEntry& each : builtinDatasets({})) {
        if (each.id != spec.dataset.id) continue;
        return each.open({}, ParamValues::from(each.params, spec.dataset.params, "dataset").value(), {}).value();
    }
    qFatal("no dataset %s", spec.dataset.id.c_str());
}

class Asker {
public:
    Asker() {
        m_environment.add(makeNullBackend());
        for (const auto& model : builtinModels()) m_environment.add(model);
        for (auto& dataset : builtinDatasets({})) m_environment.add(std::move(dataset));
    }

    std::string line(const std::string& question) { return m_server.reply(question); }

    // Both ends: the request as the window writes it, the reply as it reads it. What it has read says all that was
    // said, and in the same words.
    template <class Request>
    Reply<typename Request::Answer> ask(const Request& request) {
        const auto reply = nlohmann::json::parse(m_server.reply(questionLine(++m_id, request)));
        const auto read = replyFrom<typename Request::Answer>(reply);
        m_asked.insert(std::string(Request::kName));
        const JsonText id{std::to_string(m_id)};
        if (!reply.contains("problems") && nlohmann::json::parse(replyLine(id, read.answer)) != reply)
            qFatal("%s", reply.dump().c_str());
        return read;
    }

    const std::set<std::string>& asked() const { return m_asked; }

private:
    Environment m_environment;
    Server m_server{{"9.8.7",
                     [this]() -> const Environment& { return m_environment; },
                     [] {
                         return std::vector<OfferedPreset>{{"one", {R"({"epochs":3,"title":"A line\nbreak"})"}}};
                     },
                     {told, [](const DeviceFacts& facts) { return "bus " + facts.bus; }}}};
    std::int64_t m_id = 0;
    std::set<std::string> m_asked;
};

}  // namespace

// The server behind `lockstep serve`, without the program around it.
class TestServer : public QObject {
    Q_OBJECT
private slots:
    void bothEndsSpeakEveryMessage() {
        Asker asker;
        QCOMPARE(asker.ask(HelloRequest{}).answer.version, std::string("9.8.7"));
        QCOMPARE(asker.ask(DevicesRequest{}).answer.devices.at(0).info.backend, std::string("null"));
        QVERIFY(asker.ask(DatasetsRequest{}).answer.datasets.size() >= 6);
        QVERIFY(asker.ask(ModelsRequest{}).answer.models.size() >= 20);
        const auto settings = asker.ask(SettingsRequest{}).answer;
        QVERIFY(settings.optimizers.size() > 3 && settings.schedules.size() > 3 && !settings.augmentation.empty());
        QCOMPARE(asker.ask(PresetsRequest{}).answer.presets.at(0).name, std::string("one"));
        QVERIFY(!asker.ask(InspectRequest{"/nowhere"}).ok());
        QVERIFY(asker.ask(ValidateRequest{{kSpec}}).ok());
        const auto plan = asker.ask(PlanRequest{{kSpec}}).answer;
        QCOMPARE(plan.parameters, 269322);
        QCOMPARE(plan.devices.size(), 2u);
        const auto speeds = asker.ask(SpeedsRequest{{kSpec}}).answer.speeds;
        QCOMPARE(speeds.at(0).precision, std::string("fp32"));
        QVERIFY(speeds.at(0).samplesPerSecond > 0);
        const auto samples = asker.ask(SamplesRequest{{kSpec}, 4}).answer;
        QCOMPARE(samples.samples.size(), 4u);
        QCOMPARE(samples.samples[0].before, samples.samples[0].after);  // there is no augmentation
        const auto asked = asker.ask(AskedSamplesRequest{{kSpec}, "", "all", {0, 5}}).answer;
        QCOMPARE(asked.samples.size(), 2u);
        QVERIFY(!asked.classes.empty() && !asked.samples[1].image.pixels.empty());
        std::vector<std::int64_t> many(AskedSamplesRequest::kMost, 3);
        QCOMPARE(asker.ask(AskedSamplesRequest{{kSpec}, "", "all", many}).answer.samples.size(), many.size());
        many.push_back(3);
        QCOMPARE(asker.ask(AskedSamplesRequest{{kSpec}, "", "all", many}).problems.front().code,
                 std::string("serve.too-many-samples"));
        QCOMPARE(asker.ask(ScheduleRequest{{kSpec}, 7, 10}).answer.rates.size(), 7u);
        QCOMPARE(asker.asked().size(), std::variant_size_v<ServeRequest>);
    }

    // Samples of data that are others by now are not given out for those that were asked about.
    void dataThatChangedAreSaid() {
        Asker asker;
        const char* const kOther = R"({"dataset":{"id":"synthetic","seed":9},"model":"mlp","devices":"null:1"})";
        AskedSamplesRequest request{{kSpec}, "", "test", {0, 5}};
        request.fingerprint = fingerprintText(fingerprintOf(splitsOf(kSpec)).value());
        const auto same = asker.ask(request).answer;
        QVERIFY(same.changed.empty() && same.samples.size() == 2);
        request.fingerprint = fingerprintText(fingerprintOf(splitsOf(kOther)).value());
        const auto changed = asker.ask(request).answer;
        QCOMPARE(changed.changed, std::vector<std::string>{"test"});
        QVERIFY(changed.samples.empty() && !changed.classes.empty());
        request.samples = {1'000'000};  // fewer by now
        QVERIFY(asker.ask(request).ok());
        request.split = "all";
        QCOMPARE(asker.ask(request).answer.changed, (std::vector<std::string>{"training", "test"}));
        request.fingerprint.clear();  // nobody knows
        request.samples = {0};
        QCOMPARE(asker.ask(request).answer.samples.size(), 1u);
    }

    // A sample that is a file is named by it.
    void samplesNameTheirFiles() {
        const QTemporaryDir folder;
        const std::filesystem::path root = std::filesystem::canonical(folder.path().toStdString());
        for (const char* split : {"train", "test"}) {
            for (const char* kind : {"cat", "dog"}) {
                std::filesystem::create_directories(root / split / kind);
                std::ofstream(root / split / kind / "0.txt") << kind << ' ' << split;
            }
        }
        nlohmann::json spec{{"model", "text-encoder"}};
        spec["dataset"] = {{"id", "text-folder"}, {"path", root.string()}};
        Asker asker;
        const auto texts = asker.ask(AskedSamplesRequest{{spec.dump()}, "", "all", {0, 3}}).answer;
        QCOMPARE(texts.samples.size(), 2u);
        QCOMPARE(texts.samples[0].file, (root / "train/cat/0.txt").string());
        QCOMPARE(texts.samples[1].file, (root / "test/dog/0.txt").string());
        const auto made = asker.ask(AskedSamplesRequest{{kSpec}, "", "all", {0}}).answer;
        QVERIFY(made.samples[0].file.empty());
    }

    // Where it is known what the model was trained on, its data need not be there.
    void classesAreThoseOfTheTraining() {
        Asker asker;
        const char* const kGone = R"({"dataset":{"id":"image-folder","path":"/nowhere"},"model":"mlp"})";
        AskedSamplesRequest request{{kGone}, "", "test", {}};
        QVERIFY(!asker.ask(request).ok());
        DatasetInfo trained = splitsOf(kSpec).train->info();
        for (std::string& name : trained.classes) name = "kind " + name;
        const QTemporaryDir folder;
        request.checkpoint = folder.filePath("last.safetensors").toStdString();
        QVERIFY(!asker.ask(request).ok());
        Checkpoint checkpoint;
        checkpoint.trainedOn = trained;
        writeCheckpoint(request.checkpoint, checkpoint);
        QCOMPARE(asker.ask(request).answer.classes, trained.classes);
        trained.classes.front() = "kept";
        request.trainedOn = trainedOnText(trained);
        QCOMPARE(asker.ask(request).answer.classes, trained.classes);
        QVERIFY(std::filesystem::remove(request.checkpoint));

        request.data = request.dataset = "synthetic";
        request.samples = {0};
        const auto asked = asker.ask(request).answer;
        QVERIFY(asked.samples.size() == 1 && asked.classes == trained.classes);
    }

    // Each kind of field as the form gets it.
    void settingsKeepTheirKindsAndBounds() {
        Asker asker;
        const auto trial = asker.ask(SettingsRequest{}).answer.trial;
        const auto field = [&](const char* name) {
            return *std::ranges::find(trial, std::string(name), &ParamField::name);
        };
        QCOMPARE(std::get<std::int64_t>(field("batch").fallback), 128);
        QVERIFY(field("batch").low == 1.0 && field("batch").high.has_value());
        QVERIFY(std::holds_alternative<double>(field("learning_rate").fallback));
        QVERIFY(std::holds_alternative<std::string>(field("mode").fallback) && field("mode").choices.size() > 1);
        QVERIFY(!field("title").low && field("title").choices.empty());
        const auto augmentation = asker.ask(SettingsRequest{}).answer.augmentation;
        QVERIFY(std::ranges::any_of(augmentation,
                                    [](const auto& each) { return std::holds_alternative<bool>(each.fallback); }));
    }

    void problemsArriveWithTheirParts() {
        Asker asker;
        const auto reply =
            asker.ask(ValidateRequest{{R"({"dataset":"synthetic","model":"mpl","devices":"null:1","batch":-1})"}});
        QCOMPARE(reply.problems.size(), 2u);
        QCOMPARE(reply.problems, [&] {
            std::vector<Problem> same;
            for (const auto& each : reply.answer.problems) same.push_back(each.problem);
            return same;
        }());
        QCOMPARE(reply.answer.problems[0].what, "What of " + reply.problems[0].code);
        QCOMPARE(asker.ask(PlanRequest{{R"({"dataset":"minst","model":"mlp"})"}}).problems.front().args.front(),
                 std::string("minst"));
    }

    void repliesOfAnotherKindAreRefused_data() {
        QTest::addColumn<QByteArray>("reply");
        QTest::newRow("text for a number") << QByteArray(R"({"parameters":"many"})");
        QTest::newRow("a number beyond its type") << QByteArray(R"({"bytes_per_device":-1})");
        QTest::newRow("an object for a list") << QByteArray(R"({"layers":{}})");
        QTest::newRow("rows that are none") << QByteArray(R"({"layers":[7]})");
        QTest::newRow("problems that are none") << QByteArray(R"({"problems":"none"})");
    }
    void repliesOfAnotherKindAreRefused() {
        QFETCH(QByteArray, reply);
        const auto read = replyFrom<PlanAnswer>(nlohmann::json::parse(reply.toStdString()));
        QCOMPARE(read.problems.size(), 1u);
        QCOMPARE(read.problems.front().code, std::string("serve.bad-reply"));
    }

    void anIdComesBackAsItWent() {
        Asker asker;
        for (const char* id : {"7", "\"seven\"", "[7,{\"a\":null}]", "null"}) {
            const auto reply = nlohmann::json::parse(asker.line(std::string(R"({"request":"hello","id":)") + id + '}'));
            QCOMPARE(QString::fromStdString(reply["id"].dump()), QString(id));
        }
        QVERIFY(!nlohmann::json::parse(asker.line(R"({"request":"hello"})")).contains("id"));
        QCOMPARE(nlohmann::json::parse(asker.line(R"({"id":1,"request":"tea"})"))["id"].get<int>(), 1);
    }

    // Whatever a spec holds stays within its line.
    void repliesAreOneLine() {
        Asker asker;
        for (const char* name : {"presets", "settings", "devices", "models"}) {
            const auto line = asker.line(std::string(R"({"request":")") + name + "\"}");
            QVERIFY(line.find('\n') == std::string::npos);
        }
        QVERIFY(!asker.ask(PlanRequest{{"{\"title\":\"a\\nb\",\"model\":\"x\\u0000\"}"}}).ok());
    }
};

QTEST_APPLESS_MAIN(TestServer)
#include "tst_server.moc"
