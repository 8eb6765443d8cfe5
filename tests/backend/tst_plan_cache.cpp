#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "engine/backend/plan_cache.h"

using namespace lockstep;

class TestPlanCache : public QObject {
    Q_OBJECT
private slots:
    void plansAreFoundAgain() {
        const auto file = path("plans");
        {
            PlanCache cache(file, "card library 1");
            QVERIFY(!cache.find("shape"));
            cache.add("shape", "slow");
            cache.add("other", "plan {\"engine\": 3}");
            cache.add("shape", "fast");
            QCOMPARE(*cache.find("shape"), std::string("fast"));
        }
        const PlanCache again(file, "card library 1");
        QCOMPARE(*again.find("shape"), std::string("fast"));
        QCOMPARE(*again.find("other"), std::string("plan {\"engine\": 3}"));
    }

    void plansOfAnotherCardOrLibraryAreNotTaken() {
        const auto file = path("foreign");
        PlanCache(file, "card library 1").add("shape", "plan");
        PlanCache other(file, "card library 2");
        QVERIFY(!other.find("shape"));
        other.add("shape", "new");
        QVERIFY(!PlanCache(file, "card library 1").find("shape"));
        QCOMPARE(*PlanCache(file, "card library 2").find("shape"), std::string("new"));
    }

    // What was cut off, or is no plan at all, is timed anew.
    void aTornOrForeignFileIsNoError() {
        const auto file = path("torn");
        write(file, "card library 1\nwhole\tplan\nno tab here\ntorn\tpla");
        PlanCache cache(file, "card library 1");
        QCOMPARE(*cache.find("whole"), std::string("plan"));
        QVERIFY(!cache.find("torn"));
        QVERIFY(!cache.find("no tab here"));
        cache.add("torn", "plan");
        QCOMPARE(*PlanCache(file, "card library 1").find("torn"), std::string("plan"));
        write(path("empty"), "");
        QVERIFY(!PlanCache(path("empty"), "card library 1").find("whole"));
    }

    void aFolderThatCannotBeWrittenCostsTimeAlone() {
        PlanCache cache("/proc/nowhere/plans", "card library 1");
        cache.add("shape", "plan");
        QCOMPARE(*cache.find("shape"), std::string("plan"));
    }

    void whatWouldNotBeReadBackIsNotWritten() {
        const auto file = path("lines");
        PlanCache cache(file, "card library 1");
        cache.add("shape", "two\nlines");
        cache.add("good", "plan");
        const PlanCache again(file, "card library 1");
        QVERIFY(!again.find("shape"));
        QCOMPARE(*again.find("good"), std::string("plan"));
    }

    void eachKindOfCardHasItsOwn() {
        PlanCaches caches(path("kinds"));
        caches.of("NVIDIA H200 cuDNN 91900").add("shape", "plan");
        QVERIFY(!caches.of("NVIDIA A100 cuDNN 91900").find("shape"));
        QVERIFY(QFile::exists(QString::fromStdString((path("kinds") / "NVIDIA-H200-cuDNN-91900.plans").string())));
    }

private:
    std::filesystem::path path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    static void write(const std::filesystem::path& file, const QByteArray& text) {
        QFile out(QString::fromStdString(file.string()));
        QVERIFY(out.open(QIODevice::WriteOnly));
        out.write(text);
    }

    QTemporaryDir m_folder;
};

QTEST_APPLESS_MAIN(TestPlanCache)
#include "tst_plan_cache.moc"
