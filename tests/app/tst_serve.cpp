#include <QDir>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QtTest>
#include <algorithm>

#include "tests/app/lockstep_program.h"
#include "tests/datasets/image_files.h"

namespace {

const QString kSpec = R"({"dataset":"synthetic","model":"mlp","devices":"cpu:2","batch":64})";

// A server that is talked to as a window would: a line, its answer, the next line.
class Server {
public:
    explicit Server(const LockstepProgram& program, const QStringList& more = {})
        : m_process(program.start(QStringList{"serve"} + more)) {}
    ~Server() {
        if (m_process->state() == QProcess::NotRunning) return;
        m_process->kill();
        m_process->waitForFinished();
    }

    QJsonObject ask(const QByteArray& line) {
        m_process->write(line + '\n');
        return next();
    }
    QJsonObject next() {
        while (!m_process->canReadLine()) {
            if (!m_process->waitForReadyRead(20000)) return {};
        }
        return QJsonDocument::fromJson(m_process->readLine()).object();
    }
    QJsonObject ask(const QString& request) { return ask(request.toUtf8()); }
    Outcome end() { return LockstepProgram::finish(*m_process); }

private:
    std::unique_ptr<QProcess> m_process;
};

QString request(int id, const QString& name, const QString& more = {}) {
    return QString(R"({"id":%1,"request":"%2"%3})").arg(id).arg(name, more.isEmpty() ? more : "," + more);
}

QJsonObject problemOf(const QJsonObject& answer) { return answer["problems"].toArray().at(0).toObject(); }
QString codeOf(const QJsonObject& answer) { return problemOf(answer)["code"].toString(); }

}  // namespace

// `lockstep serve`, which the window asks instead of loading backends and plugins itself.
class TestServe : public QObject {
    Q_OBJECT
private slots:
    void whatThereIs() {
        Server server(m_program);
        const auto devices = server.ask(request(1, "devices"));
        QCOMPARE(devices["id"].toInt(), 1);
        QVERIFY(!devices["devices"].toArray().isEmpty() && devices.contains("missing"));
        const auto datasets = server.ask(request(2, "datasets"));
        QCOMPARE(datasets["id"].toInt(), 2);
        QVERIFY(datasets["datasets"].toArray().size() >= 6);
        const auto models = server.ask(request(3, "models"));
        QVERIFY(models["models"].toArray().size() >= 4);
        const auto settings = server.ask(request(4, "settings"));
        for (const char* key : {"optimizers", "schedules", "augmentation"})
            QVERIFY2(!settings[key].toArray().isEmpty(), key);
        const auto ended = server.end();
        QCOMPARE(ended.status, 0);
        QVERIFY2(ended.out.isEmpty() && ended.err.isEmpty(), qPrintable(ended.out + ended.err));
    }

    void specsAreJudgedAndPlanned() {
        Server server(m_program);
        QVERIFY(server.ask(request(1, "validate", "\"spec\":" + kSpec))["problems"].toArray().isEmpty());
        const auto plan = server.ask(request(2, "plan", "\"spec\":" + kSpec));
        QCOMPARE(plan["parameters"].toInt(), 269322);
        QVERIFY(plan["bytes_per_device"].toDouble() > 269322 * 4 * 2);
        QCOMPARE(plan["devices"].toArray().size(), 2);
        QVERIFY(plan["steps_per_epoch"].toInt() > 0 && !plan["layers"].toArray().isEmpty());
        QCOMPARE(server.end().status, 0);
    }

    // What a precision does not bring is part of the plan.
    void plansSayWhatStaysInFp32() {
        qputenv("DNNL_MAX_CPU_ISA", "AVX2");
        Server server(m_program);
        qunsetenv("DNNL_MAX_CPU_ISA");
        const QString spec =
            R"("spec":{"dataset":"synthetic","model":"fashion-cnn","devices":"cpu:1","precision":"%1"})";
        const auto remark = server.ask(request(1, "plan", spec.arg("bf16")))["precision"].toObject();
        QVERIFY2(!remark["what"].toString().isEmpty(), qPrintable(remark["code"].toString()));
        QVERIFY(!server.ask(request(2, "plan", spec.arg("fp32"))).contains("precision"));
    }

    // The form tells each problem once, whichever request meets it.
    void aMissingPathIsOneProblem() {
        Server server(m_program);
        const QByteArray spec = R"("spec":{"dataset":{"id":"image-folder"}})";
        const auto problems = server.ask(request(1, "validate", spec))["problems"].toArray();
        QCOMPARE(problems.size(), 1);
        QCOMPARE(problems.first()["code"].toString(), "spec.no-data-path");
        for (const char* name : {"samples", "plan"})
            QCOMPARE(server.ask(request(2, name, spec))["problems"].toArray(), problems);
    }

    void presetsAndVersionAreTold() {
        Server server(m_program);
        const auto presets = server.ask(request(1, "presets"))["presets"].toArray();
        QVERIFY(!presets.isEmpty());
        for (const auto& each : presets) {
            const auto preset = each.toObject();
            const auto spec = QJsonDocument(preset["spec"].toObject()).toJson(QJsonDocument::Compact);
            QVERIFY(preset["spec"]["epochs"].toInt() > 0);
            // What a preset cannot know: where data lies that no package installs.
            for (const auto& problem : server.ask(request(2, "validate", "\"spec\":" + spec))["problems"].toArray()) {
                const auto code = problem.toObject()["code"].toString();
                QVERIFY2(code == "spec.no-data-path", qPrintable(code));
            }
        }
        const auto version = m_program.run({"--version"}).out.trimmed();
        QCOMPARE("lockstep " + server.ask(request(3, "hello"))["lockstep"].toString(), version);
    }

    // What a form says about a field is what validation holds it to.
    void aTrialsFieldsHaveTheirRanges() {
        Server server(m_program);
        const auto settings = server.ask(request(1, "settings"));
        const auto defaults = settings["defaults"].toObject();
        QVERIFY(settings["trial"].toArray().size() > 10);
        QSet<QString> listed;
        for (const auto& each : settings["trial"].toArray()) {
            const auto field = each.toObject();
            listed << field["name"].toString();
            const auto name = field["name"].toString();
            QCOMPARE(defaults[name], field["fallback"]);
            QVERIFY2(!field["meaning"].toString().isEmpty(), qPrintable(name));
            for (const auto& [bound, beyond] : {std::pair{"low", -1}, {"high", 1}}) {
                if (!field[bound].isDouble() || name == "seed") continue;
                auto spec = QJsonDocument::fromJson(kSpec.toUtf8()).object();
                spec[name] = field[bound].toDouble() + beyond;
                const auto text = QJsonDocument(spec).toJson(QJsonDocument::Compact);
                const auto problem = problemOf(server.ask(request(2, "validate", "\"spec\":" + text)));
                QCOMPARE(problem["field"].toString(), name);
                QCOMPARE(problem["code"].toString(), QString("spec.out-of-range"));
                QCOMPARE(problem["args"][bound[0] == 'l' ? 1 : 2].toString().toDouble(), field[bound].toDouble());
            }
        }
        for (auto it = defaults.begin(); it != defaults.end(); ++it) {
            QVERIFY2(it->isObject() || listed.contains(it.key()), qPrintable(it.key()));
        }
    }

    void samplesAreShownBeforeAndAfterAugmentation() {
        Server server(m_program);
        const auto spec = [](const char* augmentation) {
            return QString(R"("count":4,"spec":{"dataset":"synthetic","augmentation":%1})").arg(augmentation);
        };
        const auto plain = server.ask(request(1, "samples", spec("{}")));
        const auto samples = plain["samples"].toArray();
        QCOMPARE(samples.size(), 4);
        QVERIFY(!plain["classes"].toArray().isEmpty() && !plain["train_per_class"].toArray().isEmpty());
        for (const auto& each : samples) {
            const auto sample = each.toObject();
            const auto before = sample["before"].toObject();
            const auto bytes = QByteArray::fromBase64(before["pixels"].toString().toLatin1());
            QCOMPARE(bytes.size(), before["channels"].toInt() * before["height"].toInt() * before["width"].toInt());
            QCOMPARE(sample["after"].toObject(), before);  // without augmentation only the normalisation, taken back
        }
        const auto cut = server.ask(request(2, "samples", spec(R"({"cutout":8})")))["samples"].toArray();
        QCOMPARE(cut[0]["before"], samples[0]["before"]);
        QVERIFY(cut[0]["after"] != cut[0]["before"]);
        QCOMPARE(codeOf(server.ask(request(3, "samples", spec(R"({"cutout":-1})")))), QString("spec.out-of-range"));
        for (const char* change : {R"({"mixup":1})", R"({"cutmix":1})", R"({"jitter_brightness":0.8})"}) {
            const auto other = server.ask(request(4, "samples", spec(change)))["samples"].toArray();
            QCOMPARE(other[0]["before"], samples[0]["before"]);
            QVERIFY(std::ranges::any_of(other, [](const QJsonValue& each) { return each["after"] != each["before"]; }));
        }
    }

    void schedulesAreDrawn() {
        Server server(m_program);
        const auto curve = server.ask(request(1, "schedule", R"("points":5,"steps_per_epoch":10,"spec":{"epochs":4,
            "learning_rate":0.5,"schedule":{"id":"step","every":2,"gamma":0.1}})")
                                          .replace('\n', ' '));
        QCOMPARE(curve["epochs"].toArray(), (QJsonArray{0, 0.9, 1.9, 2.9, 3.9}));
        const auto rates = curve["rates"].toArray();
        QCOMPARE(rates.size(), 5);
        for (int i = 0; i < 5; ++i) QCOMPARE(rates[i].toDouble(), i < 3 ? 0.5 : 0.05);
        QCOMPARE(codeOf(server.ask(request(2, "schedule", R"("spec":{"schedule":"spiral"})"))),
                 QString("spec.unknown-schedule"));
    }

    void everyProblemOfASpecIsSaid() {
        Server server(m_program);
        const auto answer = server.ask(request(1, "validate", R"("spec":{"batch":"many","epoch":1,"seed":-1})"));
        QCOMPARE(answer["problems"].toArray().size(), 3);
    }

    void aFolderIsInspected() {
        QDir().mkpath(m_program.path("idx"));
        for (const char* split : {"train", "t10k"}) {  // two images of 8x8 pixels each
            m_program.write(QString("idx/%1-images-idx3-ubyte").arg(split),
                            QByteArray("\0\0\x8\x3\0\0\0\2\0\0\0\x8\0\0\0\x8", 16) + QByteArray(2 * 64, 'x'));
            m_program.write(QString("idx/%1-labels-idx1-ubyte").arg(split), QByteArray("\0\0\x8\x1\0\0\0\2\0\1", 10));
        }
        Server server(m_program);
        const auto path = QString("\"path\":\"%1\"");
        const auto report = server.ask(request(1, "inspect", path.arg(m_program.path("idx"))));
        QCOMPARE(report["fields"][0]["name"].toString(), QString("image"));
        QCOMPARE(report["fields"][0]["shape"].toArray(), (QJsonArray{1, 8, 8}));
        QCOMPARE(report["train_per_class"].toArray().size(), 2);
        QVERIFY(!codeOf(server.ask(request(2, "inspect", path.arg("/nowhere")))).isEmpty());
        QCOMPARE(server.end().status, 0);
    }

    void whatIsWrongIsSaid_data() {
        QTest::addColumn<QByteArray>("line");
        QTest::addColumn<QString>("code");
        const auto row = [](const char* name, const QByteArray& line, const char* code) {
            QTest::newRow(name) << line << QString(code);
        };
        const auto spec = [](const char* name, const char* text) {
            return request(7, name, QString("\"spec\":%1").arg(text)).toUtf8();
        };
        row("empty", "", "serve.malformed");
        row("not JSON", "not json", "serve.malformed");
        row("cut", R"({"id":1,"request":"devices")", "serve.malformed");
        row("two in a line", R"({"request":"devices"}{"request":"devices"})", "serve.malformed");
        row("an array", R"([{"request":"devices"}])", "serve.malformed");
        row("binary", QByteArray("\xff\xfe\0\x01", 4), "serve.malformed");
        row("too deep", QByteArray(500000, '['), "serve.malformed");
        row("request of another kind", R"({"id":7,"request":7})", "serve.bad-field");
        row("path of another kind", R"({"id":7,"request":"inspect","path":{}})", "serve.bad-field");
        row("too long", request(7, QString(3 << 20, 'x')).toUtf8(), "serve.too-long");
        row("no request", "{}", "serve.unknown-request");
        row("unknown request", R"({"id":7,"request":"tea"})", "serve.unknown-request");
        row("no spec", R"({"id":7,"request":"plan"})", "spec.wrong-type");
        row("unknown key", spec("validate", R"({"epoch":1})"), "spec.unknown-key");
        row("unknown model", spec("validate", R"({"dataset":"synthetic","model":"mpl"})"), "spec.unknown-model");
        row("unknown dataset", spec("validate", R"({"dataset":"minst","model":"mlp"})"), "spec.unknown-dataset");
        row("unknown model planned", spec("plan", R"({"dataset":"synthetic","model":"mpl"})"), "spec.unknown-model");
        row("unknown dataset planned", spec("plan", R"({"dataset":"minst","model":"mlp"})"), "spec.unknown-dataset");
        row("a network that does not fit",
            spec("plan", R"({"dataset":{"id":"synthetic","width":4,"height":4},"model":"lenet5"})"), "");
    }

    // Every line is answered by its problem, with words, and the next line as if nothing had been.
    void whatIsWrongIsSaid() {
        QFETCH(QByteArray, line);
        QFETCH(QString, code);
        const auto answer = m_server->ask(line);
        if (!code.isEmpty()) QCOMPARE(codeOf(answer), code);
        for (const char* key : {"what", "remedy"}) QVERIFY2(!problemOf(answer)[key].toString().isEmpty(), key);
        if (line.startsWith(R"({"id":7,)") && line.size() < 1000) QCOMPARE(answer["id"].toInt(), 7);
        QCOMPARE(m_server->ask(request(8, "settings"))["id"].toInt(), 8);
    }

    void howFarItReadsIsToldToWhomeverWantsIt() {
        const auto bytes = lockstep::test::jpeg(1500, 1500);
        for (int i = 0; i < 200; ++i) {
            const QString name = QString("photos/%1/%2.jpg").arg(i % 2 ? "cat" : "dog").arg(i);
            QDir().mkpath(QFileInfo(m_program.path(name)).path());
            m_program.write(name, {reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size())});
        }
        const auto question = request(5, "inspect", QString(R"("path":"%1")").arg(m_program.path("photos")));
        Server server(m_program, {"--progress"});
        auto answer = server.ask(question);
        int told = 0;
        for (; answer.contains("reading"); answer = server.next(), ++told) {
            QCOMPARE(answer["id"].toInt(), 5);
            QCOMPARE(answer["of"].toInt(), 200);
            QVERIFY(answer["reading"].toInt() <= 200);
        }
        QVERIFY(told > 0 && answer.contains("train_per_class"));
        QVERIFY(m_server->ask(question).contains("train_per_class"));
    }

    void theEndOfTheInputIsTheEnd() {
        const auto nothing = m_program.run({"serve"});
        QVERIFY(nothing.status == 0 && nothing.out.isEmpty() && nothing.err.isEmpty());
        const auto withoutNewline = m_program.run({"serve"}, R"({"id":1,"request":"settings"})");
        QCOMPARE(withoutNewline.status, 0);
        QCOMPARE(withoutNewline.last()["id"].toInt(), 1);
        QCOMPARE(m_server->end().status, 0);
    }

private:
    LockstepProgram m_program;
    std::unique_ptr<Server> m_server = std::make_unique<Server>(m_program);
};

QTEST_APPLESS_MAIN(TestServe)
#include "tst_serve.moc"
