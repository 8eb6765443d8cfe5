#pragma once
#include <QApplication>
#include <QDropEvent>
#include <QFileInfo>
#include <QImage>
#include <QLabel>
#include <QMimeData>
#include <QSettings>
#include <QTemporaryDir>
#include <QtTest>

#include "app/words.h"
#include "engine/session/places.h"
#include "ui/style/theme.h"
#include "ui/train/train_page.h"

namespace lockstep::ui {

inline Explain explain() {
    return [words = std::make_shared<Words>()](const Problem& problem) {
        return Explanation{QString::fromStdString(words->what(problem)),
                           QString::fromStdString(words->remedy(problem))};
    };
}

inline QJsonObject synthetic() {
    return {{"dataset", QJsonObject{{"id", "synthetic"}}},
            {"model", QJsonObject{{"id", "mlp"}}},
            {"devices", "cpu:2"},
            {"epochs", 2}};
}

// A train page with an engine, a home of its own, and what a person does with it. LOCKSTEP_SHOTS names a folder for
// pictures, LOCKSTEP_DARK takes them in the dark theme.
class PageBench {
public:
    explicit PageBench(const QString& engine = LOCKSTEP_PROGRAM) {
        qputenv("LOCKSTEP_HOME", folder.path().toUtf8());
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder.filePath("settings"));
        QCoreApplication::setOrganizationName("lockstep-test");
        applyTheme(*qApp, qEnvironmentVariableIsSet("LOCKSTEP_DARK") ? ThemeChoice::Dark : ThemeChoice::Light);
        service = std::make_unique<EngineService>(engine);
        launcher = std::make_unique<RunLauncher>(engine, placesFromEnvironment());
        page = std::make_unique<TrainPage>(service.get(), launcher.get(), explain());
        page->resize(1280, 800);
        page->show();
        QApplication::setActiveWindow(page.get());
    }

    bool hasForm() const { return !page->spec().isEmpty(); }

    template <class Widget>
    Widget* find(const QString& name) const {
        auto* found = page->findChild<Widget*>(name);
        if (!found) qFatal("the page has no %s", qPrintable(name));
        return found;
    }

    QAction* action(const QString& text) const {
        for (auto* each : page->commands()) {
            if (each->text().contains(text)) return each;
        }
        return nullptr;
    }

    // A label that a person sees has this text in it.
    bool shows(const QString& text) const {
        for (auto* label : page->findChildren<QLabel*>()) {
            if (label->isVisibleTo(page.get()) && label->text().contains(text)) return true;
        }
        return false;
    }

    QString visibleText() const {
        QStringList all;
        for (auto* label : page->findChildren<QLabel*>()) {
            if (label->isVisibleTo(page.get())) all << label->text();
        }
        return all.join('\n');
    }

    void drop(const QList<QUrl>& urls) const {
        QMimeData data;
        data.setUrls(urls);
        QDragEnterEvent enter({100, 100}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(page.get(), &enter);
        QDropEvent event({100, 100}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(page.get(), &event);
    }
    void drop(const QString& path) const { drop(QList<QUrl>{QUrl::fromLocalFile(path)}); }

    QString file(const QString& name, const QByteArray& bytes, bool executable = false) const {
        const auto path = folder.filePath(name);
        QFile out(path);
        if (!out.open(QIODevice::WriteOnly) || out.write(bytes) != bytes.size()) qFatal("cannot write a file");
        auto rights = QFile::ReadOwner | QFile::WriteOwner;
        if (executable) rights |= QFile::ExeOwner;
        out.setPermissions(rights);
        return path;
    }

    // Train and test folders of small pictures, two classes.
    QString imageFolder(const QString& name) const {
        const auto root = folder.filePath(name);
        for (const char* split : {"train", "test"}) {
            for (const char* kind : {"cats", "dogs"}) {
                const auto place = QString("%1/%2/%3").arg(root, split, kind);
                QDir().mkpath(place);
                for (int i = 0; i < 6; ++i) {
                    QImage image(12, 12, QImage::Format_RGB32);
                    image.fill(QColor::fromHsv(kind[0] == 'c' ? 20 * i : 180 + 10 * i, 200, 220));
                    image.save(QString("%1/%2.png").arg(place).arg(i));
                }
            }
        }
        return root;
    }

    void shot(const QString& name) const {
        const auto where = qEnvironmentVariable("LOCKSTEP_SHOTS");
        if (!where.isEmpty()) page->grab().save(where + '/' + name + ".png");
    }

    QTemporaryDir folder;
    std::unique_ptr<EngineService> service;
    std::unique_ptr<RunLauncher> launcher;
    std::unique_ptr<TrainPage> page;
};

}  // namespace lockstep::ui
