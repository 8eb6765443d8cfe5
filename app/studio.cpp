#include <QApplication>
#include <QCommandLineParser>
#include <QPainter>
#include <QSettings>
#include <QSvgRenderer>
#include <cstdio>
#include <cstdlib>

#include "app/exit_codes.h"
#include "app/words.h"
#include "engine/session/places.h"
#include "ui/shell/main_window.h"
#include "ui/style/plain_text.h"
#include "ui/style/theme.h"

// lockstep-studio: the window. Composition only.

namespace {

// The name of the .desktop file and of the icon.
constexpr const char* kAppId = "io.github.lockstep.studio";

bool has(const char* variable) {
    const char* value = std::getenv(variable);
    return value && *value;
}

// What the program takes. Its own --help and --version, so that they do without a display.
class Arguments {
    Q_DECLARE_TR_FUNCTIONS(Arguments)

public:
    Arguments() {
        m_parser.setApplicationDescription(tr(
            "lockstep-studio: choose, train, watch and compare in a window.\n\n"
            "It starts `lockstep`, which lies beside it, for every run; runs go on without the window. State lives in\n"
            "XDG folders, or in $LOCKSTEP_HOME. On a machine without a display use `lockstep train --preset "
            "fashion`."));
        m_parser.addOptions({m_trial, m_help, m_version});
    }

    bool parse(const QStringList& arguments) { return m_parser.parse(arguments); }
    bool asksForHelp() const { return m_parser.isSet(m_help); }
    bool asksForVersion() const { return m_parser.isSet(m_version); }
    QString help() const { return m_parser.helpText(); }

    // Why the arguments that were parsed cannot be; empty: they can.
    QString complaint() const {
        if (!m_parser.errorText().isEmpty()) return m_parser.errorText();
        const auto strays = m_parser.positionalArguments();
        if (!strays.isEmpty()) return tr("nothing can be done with \"%1\"").arg(strays.first());
        return m_parser.isSet(m_trial) && trial() <= 0
                   ? tr("--trial needs the number of a trial, as `lockstep trials` lists them")
                   : QString();
    }

    static QString withoutDisplay() {
        return tr(
            "lockstep-studio: there is no display here (DISPLAY and WAYLAND_DISPLAY are unset).\n"
            "  Train in the terminal instead: lockstep train --preset fashion\n");
    }

    qlonglong trial() const { return m_parser.value(m_trial).toLongLong(); }  // 0: none is asked for, or no number

private:
    QCommandLineParser m_parser;
    const QCommandLineOption m_trial{"trial", tr("Open with the page of this trial."), "N"};
    const QCommandLineOption m_help{{"h", "help"}, tr("Print what the program takes.")};
    const QCommandLineOption m_version{"version", tr("Print the version.")};
};

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
    Arguments arguments;
    arguments.parse(QStringList(argv, argv + argc));  // with Qt's own options, which the application below takes away
    if (arguments.asksForHelp()) {
        const QCoreApplication named(argc, argv);
        return std::puts(qPrintable(arguments.help())) < 0 ? kFailed : kDone;
    }
    if (arguments.asksForVersion()) return std::puts("lockstep-studio " LOCKSTEP_VERSION) < 0 ? kFailed : kDone;
    if (!has("DISPLAY") && !has("WAYLAND_DISPLAY") && !has("QT_QPA_PLATFORM")) {
        std::fputs(qPrintable(Arguments::withoutDisplay()), stderr);
        return kFailed;
    }
    const Words words;
    QApplication application(argc, argv);
    QApplication::setDesktopFileName(kAppId);
    QApplication::setWindowIcon(windowIcon());
    arguments.parse(QApplication::arguments());
    if (const QString complaint = arguments.complaint(); !complaint.isEmpty()) {
        std::fputs(qPrintable("lockstep-studio: " + complaint + "\n"), stderr);
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
    if (arguments.trial() > 0) window.openRun(arguments.trial());
    window.show();
    return QApplication::exec();
}
