#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QtTest>
#include <cstdlib>

#include "engine/core/error.h"
#include "engine/session/lease.h"
#include "engine/session/places.h"

using namespace lockstep;

class tst_Lease : public QObject {
    Q_OBJECT
private slots:
    void oneHolderAtATime();
    void aKilledHolderIsFree();
    void anImpossibleFileThrows();
    void placesFollowTheEnvironment();
    void preparedPlacesArePrivate();
    void unusableHomesAreNamed();
};

namespace {

std::filesystem::path in(const QTemporaryDir& folder) { return folder.path().toStdString(); }

}  // namespace

void tst_Lease::oneHolderAtATime() {
    QTemporaryDir folder;
    const auto file = in(folder) / "lease";
    QVERIFY(!Lease::isHeld(file));
    auto first = Lease::tryAcquire(file);
    QVERIFY(first.has_value());
    QVERIFY(Lease::isHeld(file));
    QVERIFY(!Lease::tryAcquire(file).has_value());
    auto moved = std::move(*first);
    first.reset();
    QVERIFY(Lease::isHeld(file));
    { const auto gone = std::move(moved); }
    QVERIFY(!Lease::isHeld(file));
    QVERIFY(Lease::tryAcquire(file).has_value());
}

void tst_Lease::aKilledHolderIsFree() {
    QTemporaryDir folder;
    const auto file = in(folder) / "lease";
    int ready[2];
    QVERIFY(pipe(ready) == 0);
    const pid_t child = fork();
    if (child == 0) {
        const auto lease = Lease::tryAcquire(file);
        [[maybe_unused]] const auto said = write(ready[1], lease ? "y" : "n", 1);
        for (;;) pause();
    }
    char answer = 0;
    QVERIFY(read(ready[0], &answer, 1) == 1);
    QCOMPARE(answer, 'y');
    QVERIFY(Lease::isHeld(file));
    QVERIFY(!Lease::tryAcquire(file).has_value());
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    QVERIFY(!Lease::isHeld(file));
    QVERIFY(Lease::tryAcquire(file).has_value());
}

void tst_Lease::anImpossibleFileThrows() {
    QTemporaryDir folder;
    QVERIFY_EXCEPTION_THROWN(Lease::tryAcquire(in(folder) / "no" / "folder"), EngineError);
    QVERIFY(!Lease::isHeld(in(folder) / "no" / "folder"));
}

void tst_Lease::placesFollowTheEnvironment() {
    for (const char* name : {"LOCKSTEP_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"})
        unsetenv(name);
    setenv("HOME", "/home/me", 1);
    auto places = placesFromEnvironment();
    QCOMPARE(places.history().string(), std::string("/home/me/.local/share/lockstep/history.sqlite"));
    QCOMPARE(places.cache.string(), std::string("/home/me/.cache/lockstep"));
    QCOMPARE(places.socket(3).string(), std::string("/home/me/.local/share/lockstep/sockets/run-3.sock"));
    setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
    setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
    places = placesFromEnvironment();
    QCOMPARE(places.runtime.string(), std::string("/run/user/7/lockstep"));
    QCOMPARE(places.cache.string(), std::string("/home/me/.cache/lockstep"));
    setenv("LOCKSTEP_HOME", "/scratch/x/../y", 1);
    places = placesFromEnvironment();
    for (const auto& each : {places.data, places.cache, places.runtime, places.config})
        QVERIFY(each.string().starts_with("/scratch/y"));
    unsetenv("LOCKSTEP_HOME");
}

void tst_Lease::preparedPlacesArePrivate() {
    QTemporaryDir folder;
    const auto base = in(folder) / "new";
    const Places places{base, base / "cache", base / "sockets", base / "config"};
    QVERIFY(preparePlaces(places).ok());
    struct stat info {};
    QVERIFY(stat(places.runtime.c_str(), &info) == 0);
    QCOMPARE(info.st_mode & 0777, mode_t{0700});
    QVERIFY(std::filesystem::is_directory(places.runs()));
}

void tst_Lease::unusableHomesAreNamed() {
    const std::filesystem::path base = "/proc/lockstep";
    const auto refused = preparePlaces({base, base / "cache", base / "sockets", base / "config"});
    QVERIFY(!refused.ok());
    QCOMPARE(refused.problems().front().code, std::string("home.unwritable"));
    QCOMPARE(refused.problems().front().field, std::string("/proc/lockstep"));
    QVERIFY(!refused.problems().front().args.front().empty());
}

QTEST_APPLESS_MAIN(tst_Lease)
#include "tst_lease.moc"
