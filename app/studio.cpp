#include <QApplication>
#include <QPainter>
#include <QSettings>
#include <QSvgRenderer>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "app/exit_codes.h"
#include "app/words.h"
#include "engine/session/places.h"
#include "ui/shell/main_window.h"
#include "ui/style/plain_text.h"
#include "ui/style/theme.h"

// lockstep-studio: the window. Composition only.

namespace {

constexpr const char* kHelp =
    "lockstep-studio: choose, train, watch and compare in a window.\n\n"
    "Usage: lockstep-studio [--trial N] [--help] [--version]\n\n"
    "  --trial N   open with the page of trial N\n\n"
    "It starts `lockstep`, which lies beside it, for every run; runs go on without the window. State lives in XDG\n"
    "folders, or in $LOCKSTEP_HOME. On a machine without a display use `lockstep train --preset fashion`.\n";

// The name of the .desktop file and of the icon.
constexpr const char* kAppId = "io.github.lockstep.studio";

bool has(const char* variable) {
    const char* value = std::getenv(variable);
    return value && *value;
}

bool asksFor(int argc, char** argv, const char* option) {
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], option) == 0) return true;
    }
    return false;
}

// The value of --trial; 0: not asked for. Empty: no number.
std::optional<std::int64_t> trialAskedFor(const QStringList& arguments) {
    const auto at = arguments.indexOf("--trial");
    if (at < 0) return 0;
    bool isNumber = false;
    const qlonglong trial = arguments.value(at + 1).toLongLong(&isNumber);
    return isNumber && trial > 0 ? std::optional<std::int64_t>(trial) : std::nullopt;
}

void useSettingsIn(const std::filesystem::path& folder) {
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, QString::fromStdString(folder.string()));
    QCoreApplication::setOrganizationName("lockstep");
    QCoreApplication::setApplicationName("studio");
}

// Drawn here: Qt's plugin for such icons is not on every machine that has Qt.
QIcon windowIcon() {
    QSvgRenderer drawing(QString(":/icons/%1.svg").arg(kAppId));
    QIcon icon;
    for (const int size : {16, 24, 32, 48, 64, 128, 256}) {
        QPixmap picture(size, size);
        picture.fill(Qt::transparent);
        QPainter painter(&picture);
        drawing.render(&painter);
        painter.end();
        icon.addPixmap(picture);
    }
    return icon;
}

}  // namespace

int main(int argc, char** argv) {
    using namespace lockstep;
    if (asksFor(argc, argv, "--help") || asksFor(argc, argv, "-h")) return std::puts(kHelp) < 0 ? kFailed : kDone;
    if (asksFor(argc, argv, "--version")) return std::puts("lockstep-studio " LOCKSTEP_VERSION) < 0 ? kFailed : kDone;
    if (!has("DISPLAY") && !has("WAYLAND_DISPLAY") && !has("QT_QPA_PLATFORM")) {
        std::fputs(
            "lockstep-studio: there is no display here (DISPLAY and WAYLAND_DISPLAY are unset).\n"
            "  Train in the terminal instead: lockstep train --preset fashion\n",
            stderr);
        return kFailed;
    }
    const Words words;
    QApplication application(argc, argv);
    QApplication::setDesktopFileName(kAppId);
    QApplication::setWindowIcon(windowIcon());
    const auto trial = trialAskedFor(application.arguments());
    if (!trial) {
        std::fputs("lockstep-studio: --trial needs the number of a trial, as `lockstep trials` lists them\n", stderr);
        return kBadRequest;
    }
    const auto prepared = preparePlaces(placesFromEnvironment());
    if (!prepared.ok()) {
        std::fputs(words.report(prepared.problems()).c_str(), stderr);
        return kBadRequest;
    }
    const Places& places = prepared.value();
    useSettingsIn(places.config);
    ui::keepLabelsPlain(application);
    ui::applyTheme(application, static_cast<ui::ThemeChoice>(QSettings().value("theme", 0).toInt()));
    const ui::Explain explain = [&words](const Problem& problem) {
        return ui::Explanation{QString::fromStdString(words.what(problem)),
                               QString::fromStdString(words.remedy(problem))};
    };
    ui::MainWindow window(QCoreApplication::applicationDirPath() + "/lockstep", places, explain);
    if (*trial > 0) window.openRun(*trial);
    window.show();
    return QApplication::exec();
}
