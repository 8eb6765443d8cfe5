#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QtTest>
#include <algorithm>

// Arrows point down; Qt starts at ui; devices start at backend. Each folder's tier; a file may include its own folder
// and folders of strictly lower tiers.
namespace {

const QMap<QString, int> kTiers{
    {"engine/core", 0},
    {"engine/graph", 10},
    {"engine/data", 10},
    {"engine/ops", 20},
    {"engine/collective", 20},
    {"engine/autodiff", 25},
    {"engine/backend", 25},
    {"engine/spec", 27},
    {"engine/model", 30},
    {"engine/plan", 30},
    {"engine/search", 30},
    {"datasets", 30},
    {"plugins", 30},
    {"engine/backend/fusion", 30},
    {"engine/backend/cpu", 40},
    {"engine/backend/cuda", 40},
    {"engine/backend/null", 40},
    {"engine/backend/reference", 40},
    {"engine/train", 50},
    {"engine/plugin", 50},
    {"engine/serve", 55},
    {"engine/history", 60},
    {"engine/report", 65},
    {"engine/session", 70},
    {"engine/trials", 75},
    {"engine/queue", 76},
    {"ui/style", 80},
    {"ui/plot", 81},
    {"ui/history", 82},
    {"ui/train", 84},
    {"ui/run", 84},
    {"ui/trials", 84},
    {"ui/timeline", 84},
    {"ui/evaluate", 84},
    {"ui/queue", 84},
    {"ui/compare", 84},
    {"ui/shell", 86},
    {"app", 90},
};

// What may not be reached through headers either, however many lie between. Prefixes of paths.
struct Wall {
    QString from;
    QStringList hidden;
    QStringList but{};  // headers behind the wall that are seen all the same
};
const QVector<Wall> kWalls{
    {"ui/",
     {"engine/graph/", "engine/data/", "engine/ops/", "engine/collective/", "engine/autodiff/", "engine/backend/",
      "engine/model/", "engine/plan/", "engine/train/", "engine/plugin/", "datasets/"}},
    // Of the loader, operations know what a recipe's numbers mean, which it writes and devices follow.
    {"engine/ops/", {"engine/data/"}, {"engine/data/image_recipe.h", "engine/data/colour_jitter.h"}},
    {"engine/history/", {"engine/graph/", "engine/plan/", "engine/train/"}},
    {"engine/queue/", {"engine/graph/", "engine/plan/", "engine/train/", "engine/backend/"}},
};

// The longest folder of kTiers that holds the path; empty: none.
QString folderOf(const QString& path) {
    QString best;
    for (auto it = kTiers.begin(); it != kTiers.end(); ++it) {
        if (path.startsWith(it.key() + '/') && it.key().size() > best.size()) best = it.key();
    }
    return best;
}

QStringList sourcesBelow(const QString& folder) {
    QStringList files;
    QDirIterator it(QStringLiteral(LOCKSTEP_SOURCE_DIR) + '/' + folder, {"*.h", "*.cpp", "*.cu", "*.cuh"}, QDir::Files,
                    QDirIterator::Subdirectories);
    while (it.hasNext()) files << it.next().mid(static_cast<int>(QString(LOCKSTEP_SOURCE_DIR).size()) + 1);
    return files;
}

struct Include {
    QString name;
    bool quoted;
};

QVector<Include> includesOf(const QString& file) {
    QFile in(QStringLiteral(LOCKSTEP_SOURCE_DIR) + '/' + file);
    if (!in.open(QIODevice::ReadOnly)) return {};
    static const QRegularExpression line(R"(^\s*#\s*include\s*(["<])([^">]+)[">])",
                                         QRegularExpression::MultilineOption);
    QVector<Include> found;
    auto matches = line.globalMatch(QString::fromUtf8(in.readAll()));
    while (matches.hasNext()) {
        const auto match = matches.next();
        found.append({match.captured(2), match.captured(1) == "\""});
    }
    return found;
}

QString wrongArrow(const QString& file, const QString& included) {
    const QString from = folderOf(file), to = folderOf(included);
    if (to.isEmpty() || from == to || kTiers[to] < kTiers[from]) return {};
    return QString("%1 includes %2: %3 (tier %4) may not know %5 (tier %6)")
        .arg(file, included, from)
        .arg(kTiers[from])
        .arg(to)
        .arg(kTiers[to]);
}

// Quoted includes by file.
using Includes = QHash<QString, QStringList>;

// What the file reaches and may not, each as the way there: "ui/a.cpp -> engine/b.h -> engine/graph/graph.h". What
// lies behind a complaint is not followed.
QStringList breaches(const QString& file, const Wall& wall, const Includes& includes) {
    QStringList found;
    QSet<QString> seen{file};
    QVector<QStringList> ways{{file}};
    while (!ways.isEmpty()) {
        const QStringList way = ways.takeLast();
        for (const QString& next : includes.value(way.last())) {
            if (seen.contains(next)) continue;
            seen << next;
            const bool hidden = !wall.but.contains(next) && std::ranges::any_of(wall.hidden, [&](const QString& each) {
                return next.startsWith(each);
            });
            if (hidden) found << (way + QStringList{next}).join(" -> ");
            else ways << way + QStringList{next};
        }
    }
    return found;
}

Includes allIncludes() {
    Includes all;
    for (const char* root : {"engine", "datasets", "ui", "app", "plugins"}) {
        for (const QString& file : sourcesBelow(QString(root))) {
            for (const Include& include : includesOf(file)) {
                if (include.quoted) all[file] << include.name;
            }
        }
    }
    return all;
}

}  // namespace

class TestLayers : public QObject {
    Q_OBJECT
private slots:
    void arrowsPointDown() {
        QStringList wrong;
        int seen = 0;
        for (const char* root : {"engine", "datasets", "ui", "app"}) {
            for (const QString& file : sourcesBelow(QString(root))) {
                QVERIFY2(!folderOf(file).isEmpty(), qPrintable(file + " lies in no folder of the house"));
                for (const Include& include : includesOf(file)) {
                    ++seen;
                    const QString complaint = wrongArrow(file, include.name);
                    if (!complaint.isEmpty()) wrong << complaint;
                }
            }
        }
        QVERIFY(seen > 100);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
    }

    void nothingIsReachedThroughAWall() {
        const Includes all = allIncludes();
        QStringList wrong;
        for (const Wall& wall : kWalls) {
            int seen = 0;
            for (auto it = all.begin(); it != all.end(); ++it) {
                if (!it.key().startsWith(wall.from)) continue;
                ++seen;
                wrong << breaches(it.key(), wall, all);
            }
            QVERIFY2(seen > 5, qPrintable(wall.from));
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
    }

    void qtStartsAtUi() {
        static const QRegularExpression qt("^(Q[A-Z]|Qt)");
        for (const char* root : {"engine", "datasets", "plugins"}) {
            for (const QString& file : sourcesBelow(QString(root))) {
                for (const Include& include : includesOf(file)) {
                    QVERIFY2(!qt.match(include.name).hasMatch(), qPrintable(file + " includes " + include.name));
                }
            }
        }
    }

    void librariesStayInTheirFolder_data() {
        QTest::addColumn<QString>("pattern");
        QTest::addColumn<QStringList>("homes");
        QTest::newRow("oneDNN") << "dnnl" << QStringList{"engine/backend/cpu"};
        QTest::newRow("CUDA") << "^(cuda|cudnn|cublas|nccl)" << QStringList{"engine/backend/cuda"};
        QTest::newRow("SQLite") << "(SQLiteCpp|sqlite3)" << QStringList{"engine/history"};
    }
    void librariesStayInTheirFolder() {
        QFETCH(QString, pattern);
        QFETCH(QStringList, homes);
        const QRegularExpression library(pattern);
        for (const char* root : {"engine", "datasets", "ui", "app"}) {
            for (const QString& file : sourcesBelow(QString(root))) {
                for (const Include& include : includesOf(file)) {
                    if (include.quoted && !folderOf(include.name).isEmpty()) continue;
                    if (!library.match(include.name).hasMatch()) continue;
                    QVERIFY2(homes.contains(folderOf(file)), qPrintable(file + " includes " + include.name));
                }
            }
        }
    }

    // The checker itself must be able to complain.
    void anUpwardArrowIsSeen() {
        QVERIFY(!wrongArrow("engine/core/shape.cpp", "engine/graph/graph.h").isEmpty());
        QVERIFY(!wrongArrow("engine/backend/cpu/x.cpp", "engine/backend/null/null_backend.h").isEmpty());
        QVERIFY(wrongArrow("engine/train/x.cpp", "engine/plan/program.h").isEmpty());
        QVERIFY(!wrongArrow("ui/trials/x.cpp", "ui/run/run_feed.h").isEmpty());
        QVERIFY(!wrongArrow("ui/history/x.cpp", "ui/shell/main_window.h").isEmpty());
        QVERIFY(wrongArrow("ui/shell/x.cpp", "ui/run/run_feed.h").isEmpty());
    }

    void aWallIsSeenFromFarAway() {
        const Wall wall{"ui/", {"engine/graph/"}, {"engine/graph/dtype.h"}};
        const Includes includes{
            {"ui/run/a.cpp", {"ui/run/a.h", "engine/spec/run_state.h"}},
            {"ui/run/a.h", {"engine/spec/devices.h"}},
            {"engine/spec/devices.h", {"engine/graph/dtype.h", "engine/graph/graph.h", "ui/run/a.h"}},
            {"engine/graph/dtype.h", {"engine/graph/attrs.h"}}};
        auto found = breaches("ui/run/a.cpp", wall, includes);
        found.sort();
        QCOMPARE(found, QStringList({"ui/run/a.cpp -> ui/run/a.h -> engine/spec/devices.h -> engine/graph/dtype.h -> "
                                     "engine/graph/attrs.h",
                                     "ui/run/a.cpp -> ui/run/a.h -> engine/spec/devices.h -> engine/graph/graph.h"}));
        QVERIFY(breaches("engine/spec/run_state.h", wall, includes).isEmpty());
    }
};

QTEST_APPLESS_MAIN(TestLayers)
#include "tst_layers.moc"
