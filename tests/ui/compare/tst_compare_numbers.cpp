#include <QtTest>
#include <cmath>

#include "engine/history/database.h"
#include "tests/ui/compare/compare_desktop.h"
#include "ui/compare/compare_card.h"
#include "ui/compare/compare_view.h"

using namespace lockstep;
using namespace lockstep::ui;
using namespace lockstep::test;

namespace {

using Lines = QList<QStringList>;

// Behind the line of names; no field of these has a comma.
Lines linesOf(const QByteArray& csv) {
    Lines lines;
    for (const QString& line : QString::fromUtf8(csv).split("\r\n", Qt::SkipEmptyParts)) lines << line.split(',');
    if (!lines.isEmpty()) lines.removeFirst();
    return lines;
}

}  // namespace

// What every view shows is what SQL says of the history.
class TestCompareNumbers : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        m_desktop.open();
        QTRY_COMPARE(m_desktop.rows(), 10);
        QTRY_VERIFY(!linesOf(csvOf("importance")).isEmpty());
    }

    void theList() {
        const Lines lines = linesOf(m_desktop.list().csv());
        QCOMPARE(lines.size(), qsizetype(10));
        for (const QStringList& line : lines) {
            const auto best = ask("SELECT best_accuracy FROM trial WHERE id = " + line[0]);
            QCOMPARE(line[1].toDouble(), best.value_or(0));
        }
        QCOMPARE(lines[0][0].toDouble(), *ask("SELECT id FROM trial ORDER BY best_accuracy DESC LIMIT 1"));
    }

    void theObjectiveByTrial() {
        for (const QStringList& line : linesOf(csvOf("progress"))) {
            const auto value = ask("SELECT best_accuracy FROM trial WHERE id = " + line[0]);
            const auto best = ask("SELECT max(best_accuracy) FROM trial WHERE id <= " + line[0]);
            QCOMPARE(line[1].isEmpty(), !value.has_value());
            if (value) QCOMPARE(line[1].toDouble(), *value);
            QCOMPARE(line[2].toDouble(), *best);
        }
    }

    void theHeatMap() {
        int cells = 0;
        for (const QStringList& line : linesOf(csvOf("heat-map"))) {
            const QString where =
                QString(
                    " FROM trial t JOIN trial_param x ON x.trial = t.id AND x.key = 'batch' JOIN trial_param y"
                    " ON y.trial = t.id AND y.key = 'learning_rate' WHERE t.best_accuracy NOT NULL"
                    " AND x.number = %1 AND abs(y.number - %2) < 1e-9")
                    .arg(line[0], line[1]);
            QCOMPARE(line[3].toDouble(), *ask("SELECT count(*)" + where));
            if (const auto mean = ask("SELECT avg(best_accuracy)" + where))
                QVERIFY(std::abs(line[2].toDouble() - *mean) < 1e-12);
            ++cells;
        }
        QVERIFY(cells >= 4);
    }

    void theScatter() {
        const Lines lines = linesOf(csvOf("scatter"));
        QCOMPARE(static_cast<double>(lines.size()), *ask("SELECT count(*) FROM trial WHERE best_accuracy NOT NULL"));
        for (const QStringList& line : lines)
            QCOMPARE(line[2].toDouble(), *ask("SELECT best_accuracy FROM trial WHERE id = " + line[0]));
    }

    void underABrushTheyAllCountTheSame() {
        m_desktop.selection->brush("batch", {.ranges = {{64, 128}}});
        const QString among =
            "SELECT count(*) FROM trial t JOIN trial_param p ON p.trial = t.id AND p.key = 'batch'"
            " WHERE p.number BETWEEN 64 AND 128";
        QCOMPARE(static_cast<double>(m_desktop.rows()), *ask(among));
        const auto counted = *ask(among + " AND t.best_accuracy NOT NULL");
        QCOMPARE(static_cast<double>(linesOf(csvOf("scatter")).size()), counted);
        double inCells = 0;
        for (const QStringList& line : linesOf(csvOf("heat-map"))) inCells += line[3].toDouble();
        QCOMPARE(inCells, counted);
        m_desktop.selection->clearBrushes();
    }

private:
    QByteArray csvOf(const QString& view) const {
        CompareView& of = m_desktop.page->findChild<CompareCard*>(view + "Card")->view();
        of.settle();  // it may be out of sight
        return of.csv();
    }
    std::optional<double> ask(const QString& sql) const {
        const SQLite::Database database(m_desktop.places.history().string());
        SQLite::Statement query(database, sql.toStdString());
        if (!query.executeStep() || query.getColumn(0).isNull()) return std::nullopt;
        return query.getColumn(0).getDouble();
    }

    CompareDesktop m_desktop;
};

QTEST_MAIN(TestCompareNumbers)
#include "tst_compare_numbers.moc"
