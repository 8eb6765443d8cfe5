#include <QtTest>

#include <cstdio>
#include <memory>

using namespace std::chrono_literals;

namespace {

constexpr int kAtOnce = 2;
constexpr auto kLimit = 100s;

// A test program with one published bug in it: killed as soon as one of its checks has failed.
struct Mutant {
    QString bug, meaning, place, test, program;
    QStringList functions;
    QProcess process;
    QTimer limit;
    QString output, caughtBy, survived;
};

using Mutants = std::vector<std::unique_ptr<Mutant>>;

Mutants readMutants() {
    QFile file(QStringLiteral(LOCKSTEP_MUTANTS));
    Mutants mutants;
    if (!file.open(QIODevice::ReadOnly)) return mutants;
    for (const auto& value : QJsonDocument::fromJson(file.readAll()).array()) {
        const QJsonObject each = value.toObject();
        auto mutant = std::make_unique<Mutant>();
        mutant->bug = each["bug"].toString();
        mutant->meaning = each["meaning"].toString();
        mutant->place = each["place"].toString();
        mutant->test = each["test"].toString();
        mutant->program = each["program"].toString();
        for (const auto& function : each["functions"].toArray()) {
            if (!function.toString().isEmpty()) mutant->functions << function.toString();
        }
        mutants.push_back(std::move(mutant));
    }
    return mutants;
}

// Qt Test's line of a failed check: "FAIL!  : Class::function(row) message". A crash has such a line, too.
QString failedFunction(const QString& output) {
    static const QRegularExpression line("^FAIL!\\s+: \\w+::(\\w+)\\((?!.*fatal (error|signal)).*$",
                                         QRegularExpression::MultilineOption);
    return line.match(output).captured(1);
}

// Runs all, some at once.
class Hunt {
public:
    explicit Hunt(Mutants& mutants) : m_mutants(mutants) {}

    void run() {
        for (int i = 0; i < kAtOnce; ++i) startNext();
        if (m_running > 0) m_loop.exec();
    }

private:
    void startNext() {
        if (m_next < m_mutants.size()) return start(*m_mutants[m_next++]);
        if (m_running == 0) m_loop.quit();
    }

    void start(Mutant& mutant) {
        ++m_running;
        mutant.process.setProcessChannelMode(QProcess::MergedChannels);
        QObject::connect(&mutant.process, &QProcess::readyRead, &m_loop, [&mutant] { look(mutant); });
        QObject::connect(&mutant.process, &QProcess::finished, &m_loop, [this, &mutant] { end(mutant); });
        QObject::connect(&mutant.limit, &QTimer::timeout, &m_loop, [&mutant] {
            mutant.survived = "took too long";
            mutant.process.kill();
        });
        mutant.limit.setSingleShot(true);
        mutant.limit.start(kLimit);
        mutant.process.start(mutant.program, QStringList{mutant.test} + mutant.functions);
        if (!mutant.process.waitForStarted()) end(mutant);
    }

    static void look(Mutant& mutant) {
        mutant.output += QString::fromUtf8(mutant.process.readAll());
        if (mutant.caughtBy.isEmpty()) mutant.caughtBy = failedFunction(mutant.output);
        if (!mutant.caughtBy.isEmpty()) mutant.process.kill();
    }

    void end(Mutant& mutant) {
        look(mutant);
        mutant.limit.stop();
        if (mutant.caughtBy.isEmpty() && mutant.survived.isEmpty()) {
            const bool crashed = mutant.process.exitStatus() == QProcess::CrashExit;
            mutant.survived = mutant.process.error() == QProcess::FailedToStart ? "did not start"
                              : crashed                                         ? "crashed before a check failed"
                                                                                : "was not noticed";
        }
        --m_running;
        startNext();
    }

    Mutants& m_mutants;
    QEventLoop m_loop;
    std::size_t m_next = 0;
    int m_running = 0;
};

void print(const Mutants& mutants) {
    const auto cell = [](const QString& text, int width) { return text.leftJustified(width).toUtf8(); };
    const auto row = [&](const QString& bug, const QString& meaning, const QString& place, const QString& by) {
        std::printf("%s  %s  %s  %s\n", cell(bug, 38).constData(), cell(meaning, 64).constData(),
                    cell(place, 45).constData(), by.toUtf8().constData());
    };
    row("published bug", "what it was", "in our component", "caught by");
    for (const auto& each : mutants) {
        row(each->bug, each->meaning, each->place,
            each->caughtBy.isEmpty() ? "NOBODY: it " + each->survived : each->test + ": " + each->caughtBy);
    }
    std::fflush(stdout);
}

}  // namespace

// Bugs that others published (CMakeLists.txt), in our components: the tests of our invariants, none of them written for
// one, catch them all. That these tests pass without the bugs, they show by themselves.
class TstMutants : public QObject {
    Q_OBJECT

private slots:
    void everyPublishedBugIsCaught() {
        Mutants mutants = readMutants();
        QVERIFY(mutants.size() >= 20);
        Hunt(mutants).run();
        print(mutants);
        for (const auto& each : mutants) {
            QVERIFY2(!each->caughtBy.isEmpty(),
                     qPrintable(QString("%1 %2:\n%3").arg(each->bug, each->survived, each->output)));
        }
    }
};

QTEST_GUILESS_MAIN(TstMutants)
#include "tst_mutants.moc"
