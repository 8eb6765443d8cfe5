#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QtTest>

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
    {"datasets", 30},
    {"plugins", 30},
    {"engine/backend/fusion", 30},
    {"engine/backend/cpu", 40},
    {"engine/backend/cuda", 40},
    {"engine/backend/null", 40},
    {"engine/backend/reference", 40},
    {"engine/train", 50},
    {"engine/plugin", 50},
    {"engine/history", 60},
    {"engine/session", 70},
    {"ui", 80},
    {"app", 90},
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
    }
};

QTEST_APPLESS_MAIN(TestLayers)
#include "tst_layers.moc"
