#include <malloc.h>
#include <poll.h>
#include <rapidcheck.h>
#include <sys/socket.h>

#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "engine/history/trial_query.h"
#include "engine/history/trial_store.h"
#include "engine/session/local_socket.h"
#include "engine/session/replay_log.h"
#include "engine/session/session_client.h"
#include "engine/session/session_server.h"

using namespace lockstep;
using namespace std::chrono_literals;

class tst_Protocol : public QObject {
    Q_OBJECT
private slots:
    void linesRoundTrip();
    void malformedLinesAreProblems_data();
    void malformedLinesAreProblems();
    void theLogTellsWhatItKeeps();
    void theLogKeepsItsLines();
    void theLogKeepsItsLinesOutOfTheHeap();
    void theLogIsBounded();
    void reattachingLosesAndDoublesNothing();
    void aSlowReaderLosesStepsOnlyAndIsTold();
    void controlsReachTheRun();
    void badLinesAreAnsweredAndEndlessOnesCutOff();
    void anEndlessLineEndsTheClientsConnection();
    void theLastEventsReachTheClient();
    void longPathsServeToo();
    void nobodyThereIsAProblem();
};

namespace {

using Json = nlohmann::json;
using Client = std::unique_ptr<SessionClient>;

StepDone step(std::int64_t number) {
    StepDone event;
    event.step = number;
    event.compute = {0.1f, 0.2f};
    return event;
}

TrainEvent eventNumbered(std::int64_t number, std::int64_t last) {
    if (number == last) return RunFinished{"finished", 7, number, 1, 0, 0, 0, 0, 0};
    if (number % 50 == 0) return EvalDone{};
    return step(number);
}

struct Served {
    explicit Served(SessionServer::Handlers handlers = {}, const std::filesystem::path& below = {}) {
        path = folder.path().toStdString() / below / "run-7.sock";
        std::filesystem::create_directories(path.parent_path());
        auto result = SessionServer::listen(path, 7, std::move(handlers));
        if (result.ok()) server = std::move(result).value();
    }
    Client connect() const {
        auto client = SessionClient::connect(path);
        return client.ok() ? std::move(client).value() : nullptr;
    }
    QTemporaryDir folder;
    std::filesystem::path path;
    std::unique_ptr<SessionServer> server;
};

Json next(SessionClient& client) {
    const auto line = client.readLine(5s);
    return line && !line->closed ? Json::parse(line->text) : Json();
}

// The numbers of events up to `last`, and the dropped ranges, as they come.
struct Received {
    std::vector<std::int64_t> numbers;
    std::vector<std::pair<std::int64_t, std::int64_t>> dropped;
};
Received readUpTo(SessionClient& client, std::int64_t last) {
    Received received;
    while (received.numbers.empty() || received.numbers.back() < last) {
        const Json line = next(client);
        if (line.is_null()) break;
        if (line.contains("n")) received.numbers.push_back(line["n"]);
        if (line.contains("dropped")) received.dropped.emplace_back(line["dropped"]["from"], line["dropped"]["to"]);
    }
    return received;
}

}  // namespace

void tst_Protocol::linesRoundTrip() {
    const Hello hello{kProtocolVersion, 7, 3, 120, "running"};
    const auto back = helloFromLine(toLine(hello));
    QVERIFY(back.ok());
    QVERIFY(back.value().trial == 7 && back.value().firstAvailable == 3 && back.value().lastEvent == 120 &&
            back.value().state == "running");
    QCOMPARE(std::get<SubscribeCommand>(commandFromLine(toLine(Command(SubscribeCommand{121}))).value()).from,
             std::int64_t{121});
    for (const char* name : {"pause", "resume", "stop", "stop-after-epoch", "ping"}) {
        QCOMPARE(std::get<ControlCommand>(commandFromLine(toLine(Command(ControlCommand{name}))).value()).name,
                 std::string(name));
    }
    const auto newer = helloFromLine(R"({"hello":"lockstep","version":9,"something":"else"})");
    QCOMPARE(newer.problems().front().code, std::string("session.version"));
}

void tst_Protocol::malformedLinesAreProblems_data() {
    QTest::addColumn<QByteArray>("line");
    const char* lines[] = {"",
                           "{",
                           "[]",
                           "null",
                           "pause",
                           R"({"command":7})",
                           R"({"command":"dance"})",
                           R"({"command":"subscribe","from":0})",
                           R"({"command":"subscribe","from":"1"})",
                           R"({"command":"subscribe","from":1.5})",
                           R"({"command":"subscribe","from":99999999999999999999})",
                           "{\"command\":\"\xff\xfe\"}",
                           R"({"hello":"other"})"};
    for (const char* line : lines) QTest::newRow(line) << QByteArray(line);
    QTest::newRow("deep") << QByteArray(50'000, '[');
}

void tst_Protocol::malformedLinesAreProblems() {
    QFETCH(QByteArray, line);
    QVERIFY(!commandFromLine(line.toStdString()).ok());
    QVERIFY(!helloFromLine(line.toStdString()).ok());
}

void tst_Protocol::theLogTellsWhatItKeeps() {
    ReplayLog log(3);
    QVERIFY(!log.next(1));
    for (std::int64_t number = 11; number <= 20; ++number)
        log.add(number, number != 13 && number != 16, std::to_string(number));
    QCOMPARE(log.last(), std::int64_t{20});
    QCOMPARE(log.firstComplete(), std::int64_t{18});
    std::vector<std::int64_t> kept;
    for (std::int64_t from = 1; log.next(from); from = kept.back() + 1) kept.push_back(log.next(from)->number);
    QVERIFY((kept == std::vector<std::int64_t>{13, 16, 18, 19, 20}));
}

// Whatever their lengths, up to those of runs on hundreds of devices.
void tst_Protocol::theLogKeepsItsLines() {
    const auto lineOf = [](std::int64_t number) {
        const std::size_t length = number % 50 == 0 ? 300'000 : static_cast<std::size_t>(number * 7919 % 9000);
        return std::string(length, static_cast<char>('a' + number % 26));
    };
    ReplayLog log(100);
    for (std::int64_t number = 1; number <= 1000; ++number) {
        log.add(number, true, lineOf(number));
        for (const std::int64_t from : {std::max<std::int64_t>(number - 99, 1), number}) {
            QCOMPARE(log.next(from)->number, from);
            QVERIFY(log.next(from)->text == lineOf(from));
        }
    }
    QCOMPARE(log.firstComplete(), std::int64_t{901});
    QVERIFY(!log.next(1001));
}

// They would keep it from being tidied: see LineRing. As `lockstep` does, large blocks are set apart.
void tst_Protocol::theLogKeepsItsLinesOutOfTheHeap() {
#ifdef LOCKSTEP_SANITIZED
    QSKIP("the sanitizers have heaps of their own");
#endif
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    ReplayLog log(8192);
    const std::string line(300, 'x');
    malloc_trim(0);
    const auto before = static_cast<qint64>(mallinfo2().arena);
    for (std::int64_t number = 1; number <= 20'000; ++number) log.add(number, number % 20 != 0, line);
    const qint64 grown = static_cast<qint64>(mallinfo2().arena) - before;
    QVERIFY2(grown < 64 << 10, qPrintable(QString::number(grown)));
}

void tst_Protocol::theLogIsBounded() {
    ReplayLog log(3, 2);
    for (std::int64_t number = 1; number <= 9; ++number) log.add(number, number > 6, "");  // six states, three steps
    QCOMPARE(log.firstComplete(), std::int64_t{5});
    QCOMPARE(log.next(1)->number, std::int64_t{5});
    log.add(10, true, "");
    QCOMPARE(log.firstComplete(), std::int64_t{8});
    log.add(11, false, "");  // a state of long ago goes, which was no longer complete
    QCOMPARE(log.firstComplete(), std::int64_t{8});
    QCOMPARE(log.next(1)->number, std::int64_t{6});
}

// The history up to some event, the rest from the server, at any moment of a run that goes on.
void tst_Protocol::reattachingLosesAndDoublesNothing() {
    Served served;
    const std::filesystem::path file = std::filesystem::path(served.folder.path().toStdString()) / "history.sqlite";
    auto store = std::move(TrialStore::open(file)).value();
    const auto trial = store->createTrial({}, file.parent_path() / "runs");
    const auto sink = store->sinkFor(trial, store->beginAttempt(trial, 0));
    constexpr std::int64_t kLast = 6000;
    std::jthread producer([&] {
        for (std::int64_t number = 1; number <= kLast; ++number) {
            sink->post(number, eventNumbered(number, kLast));
            served.server->post(number, eventNumbered(number, kLast));
            if (number % 8 == 0) std::this_thread::sleep_for(1ms);
        }
    });
    std::vector<std::jthread> readers;
    std::atomic<int> whole{0};
    constexpr int kReaders = 12;
    for (int i = 0; i < kReaders; ++i) {
        readers.emplace_back([&, i] {
            std::this_thread::sleep_for(i * 60ms);
            auto query = std::move(TrialQuery::open(file)).value();
            std::vector<std::int64_t> numbers;
            for (const auto& each : query->events(trial, 1)) numbers.push_back(each.number);
            const auto client = served.connect();
            if (!client || !client->send(SubscribeCommand{numbers.empty() ? 1 : numbers.back() + 1}).ok()) return;
            const auto rest = readUpTo(*client, kLast);
            numbers.insert(numbers.end(), rest.numbers.begin(), rest.numbers.end());
            bool exact = rest.dropped.empty() && numbers.size() == kLast;
            for (std::size_t at = 0; exact && at < numbers.size(); ++at)
                exact = numbers[at] == static_cast<std::int64_t>(at) + 1;
            whole += exact;
        });
    }
    readers.clear();
    QCOMPARE(whole.load(), kReaders);

    // And from every place, once it is over.
    QVERIFY(rc::check([&] {
        const auto from = *rc::gen::inRange<std::int64_t>(1, kLast + 1);
        const auto client = served.connect();
        RC_ASSERT(client != nullptr);
        RC_ASSERT(client->send(SubscribeCommand{from}).ok());
        const auto rest = readUpTo(*client, kLast);
        RC_ASSERT(rest.dropped.empty());
        RC_ASSERT(rest.numbers.size() == static_cast<std::size_t>(kLast - from + 1));
        RC_ASSERT(rest.numbers.front() == from);
    }));
}

void tst_Protocol::aSlowReaderLosesStepsOnlyAndIsTold() {
    Served served;
    const auto client = served.connect();
    QVERIFY(client->send(SubscribeCommand{1}).ok());
    constexpr std::int64_t kLast = 40'000;
    const auto before = std::chrono::steady_clock::now();
    for (std::int64_t number = 1; number <= kLast; ++number) served.server->post(number, eventNumbered(number, kLast));
    QVERIFY2(std::chrono::steady_clock::now() - before < 60s,
             "a slow reader held up the run");  // else it takes forever
    const auto received = readUpTo(*client, kLast);
    std::set<std::int64_t> seen(received.numbers.begin(), received.numbers.end());
    QCOMPARE(seen.size(), received.numbers.size());
    QVERIFY(std::is_sorted(received.numbers.begin(), received.numbers.end()));
    QVERIFY(!received.dropped.empty());
    for (const auto& [from, to] : received.dropped) {
        for (auto number = from; number <= to; ++number) {
            QVERIFY2(isStepEvent(eventNumbered(number, kLast)), "a state event was dropped");
            QVERIFY2(seen.insert(number).second, "told as dropped, and yet sent");
        }
    }
    QCOMPARE(seen.size(), static_cast<std::size_t>(kLast));
}

void tst_Protocol::controlsReachTheRun() {
    std::mutex mutex;
    std::vector<std::string> heard;
    Served served({[&](const ControlCommand& command) -> std::optional<Problem> {
        const std::lock_guard lock(mutex);
        heard.emplace_back(command.name + (command.devices > 0 ? std::to_string(command.devices) : ""));
        if (command.name == "balance") return Problem{"devices", "run.cannot-scale", {"x"}};
        return std::nullopt;
    }});
    served.server->post(1, StateChanged{"running", 0});
    const auto client = served.connect();
    QCOMPARE(client->hello().trial, std::int64_t{7});
    QCOMPARE(client->hello().lastEvent, std::int64_t{1});
    QCOMPARE(client->hello().state, std::string("running"));
    for (const char* name : {"pause", "ping", "resume", "stop"}) {
        QVERIFY(client->send(ControlCommand{name}).ok());
        QCOMPARE(next(*client).value("ok", ""), std::string(name));
    }
    QVERIFY(client->send(ControlCommand{"scale-to", 3}).ok());
    QCOMPARE(next(*client).value("ok", ""), std::string("scale-to"));
    QVERIFY(client->send(ControlCommand{"balance"}).ok());
    const auto refused = next(*client)["error"];
    QCOMPARE(refused.value("code", ""), std::string("run.cannot-scale"));
    QCOMPARE(refused["args"][0].get<std::string>(), std::string("x"));
    for (const int devices : {0, -1, 257}) {
        QVERIFY(client->send(ControlCommand{"scale-to", devices}).ok());
        QCOMPARE(next(*client)["error"].value("code", ""), std::string("session.malformed"));
    }
    const std::lock_guard lock(mutex);
    QVERIFY((heard == std::vector<std::string>{"pause", "resume", "stop", "scale-to3", "balance"}));
}

void tst_Protocol::badLinesAreAnsweredAndEndlessOnesCutOff() {
    Served served;
    const auto client = served.connect();
    QVERIFY(client->send(ControlCommand{"dance"}).ok());
    QCOMPARE(next(*client)["error"]["code"].get<std::string>(), std::string("session.unknown-command"));
    QVERIFY(client->send(ControlCommand{"ping"}).ok());  // and the connection stands
    QCOMPARE(next(*client).value("ok", ""), std::string("ping"));
    (void)client->send(ControlCommand{std::string(200'000, 'x')});
    std::optional<SessionClient::Line> line;
    do line = client->readLine(5s);
    while (line && !line->closed);
    QVERIFY(line && line->closed);
    QVERIFY(served.connect() != nullptr);  // others are served as before
}

void tst_Protocol::theLastEventsReachTheClient() {
    Served served;
    const auto client = served.connect();
    QVERIFY(client->send(SubscribeCommand{}).ok());
    QVERIFY(client->send(ControlCommand{"ping"}).ok());
    QCOMPARE(next(*client).value("ok", ""), std::string("ping"));  // the subscription has been taken
    for (std::int64_t number = 1; number <= 2000; ++number) served.server->post(number, eventNumbered(number, 2000));
    std::jthread closing([&] { served.server.reset(); });
    QCOMPARE(readUpTo(*client, 2000).numbers.size(), std::size_t{2000});
    closing.join();
    QVERIFY(client->readLine(5s)->closed);
    QVERIFY(!std::filesystem::exists(served.path));
}

void tst_Protocol::anEndlessLineEndsTheClientsConnection() {
    QTemporaryDir folder;
    const std::filesystem::path path = std::filesystem::path(folder.path().toStdString()) / "run-1.sock";
    Descriptor listening;
    QCOMPARE(listenLocal(path, listening), 0);
    std::thread server([&] {
        pollfd waiting{listening.get(), POLLIN, 0};
        poll(&waiting, 1, -1);
        const Descriptor socket(accept(listening.get(), nullptr, nullptr));
        const std::string text = toLine(Hello{kProtocolVersion, 1, 1, 0, "running"}) + "\n" + std::string(4 << 20, 'x');
        for (std::size_t sent = 0; sent < text.size();) {
            const ssize_t now = send(socket.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
            if (now < 0) break;
            sent += static_cast<std::size_t>(now);
        }
        char unread;
        recv(socket.get(), &unread, 1, 0);  // until the client has gone
    });
    {
        auto client = SessionClient::connect(path);
        QVERIFY(client.ok());
        const auto line = client.value()->readLine(60s);
        QVERIFY(line && line->closed);
    }
    server.join();
}

void tst_Protocol::longPathsServeToo() {
    Served served({}, std::string(90, 'a') + "/" + std::string(90, 'b'));
    QVERIFY(served.path.string().size() > 180);
    QVERIFY(served.server != nullptr);
    const auto client = served.connect();
    QVERIFY(client != nullptr);
    QVERIFY(client->send(ControlCommand{"ping"}).ok());
    QCOMPARE(next(*client).value("ok", ""), std::string("ping"));
}

void tst_Protocol::nobodyThereIsAProblem() {
    QTemporaryDir folder;
    const std::filesystem::path path = std::filesystem::path(folder.path().toStdString()) / "run-1.sock";
    QCOMPARE(SessionClient::connect(path).problems().front().code, std::string("session.not-running"));
    {
        Served served;  // a socket file that its server left behind
        std::filesystem::rename(served.path, path);
    }
    QCOMPARE(SessionClient::connect(path).problems().front().code, std::string("session.not-running"));
    QVERIFY(SessionServer::listen(path, 1, {}).ok());
    const auto refused = SessionServer::listen(path.parent_path() / "no" / "folder.sock", 1, {});
    QCOMPARE(refused.problems().front().code, std::string("session.no-socket"));
}

QTEST_APPLESS_MAIN(tst_Protocol)
#include "tst_protocol.moc"
