#include <QDirIterator>
#include <QImage>
#include <QPainter>
#include <QRegularExpression>
#include <QSettings>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>

#include "tests/desktop/outside_program.h"

namespace {

const QString kId = "io.github.lockstep.studio";

QString desktopFile() { return sourceFile("packaging/desktop/" + kId + ".desktop"); }
QString metainfo() { return sourceFile("packaging/desktop/" + kId + ".metainfo.xml"); }
QString icon() { return sourceFile("resources/icons/" + kId + ".svg"); }

QString entry(const QString& key) {
    const QSettings file(desktopFile(), QSettings::IniFormat);
    return file.value("Desktop Entry/" + key).toString();
}

// The text of the first element of that name; of an attribute of it when one is named.
QString element(const QString& name, const QString& attribute = {}) {
    QXmlStreamReader xml(textOf(metainfo()));
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement || xml.name() != name) continue;
        return attribute.isEmpty() ? xml.readElementText() : xml.attributes().value(attribute).toString();
    }
    return {};
}

QImage drawn(int size) {
    QImage image(size, size, QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::transparent);
    QSvgRenderer drawing(icon());
    QPainter painter(&image);
    drawing.render(&painter);
    return image;
}

double contrast(const QColor& one, const QColor& other) {
    const auto luminance = [](const QColor& colour) {
        const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
        return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF());
    };
    const double a = luminance(one) + 0.05, b = luminance(other) + 0.05;
    return std::max(a, b) / std::min(a, b);
}

}  // namespace

class TestDesktop : public QObject {
    Q_OBJECT
private slots:
    void theDesktopFileIsValid() {
        const auto said = run("desktop-file-validate", {desktopFile()});
        QVERIFY2(said.status == 0 && said.text.isEmpty(), qPrintable(said.text));
        QCOMPARE(entry("Exec"), QFileInfo(LOCKSTEP_STUDIO).fileName());
        QCOMPARE(entry("Icon"), kId);
    }

    void theMetainfoIsValid() {
        const auto said = run("appstreamcli", {"validate", "--no-net", "--no-color", metainfo()});
        QVERIFY2(said.status == 0, qPrintable(said.text));
        QCOMPARE(element("id"), kId);
        QCOMPARE(element("launchable"), kId + ".desktop");
        QCOMPARE(element("name"), entry("Name"));
    }

    void oneVersionEverywhere() {
        QCOMPARE(run(LOCKSTEP_PROGRAM, {"--version"}).text.trimmed(), QString("lockstep " LOCKSTEP_VERSION));
        QCOMPARE(run(LOCKSTEP_STUDIO, {"--version"}).text.trimmed(), QString("lockstep-studio " LOCKSTEP_VERSION));
        QCOMPARE(element("release", "version"), QString(LOCKSTEP_VERSION));
        const auto package = textOf(LOCKSTEP_BUILD "/CPackConfig.cmake");
        QVERIFY(package.contains("set(CPACK_PACKAGE_VERSION \"" LOCKSTEP_VERSION "\")"));
        QVERIFY(textOf(sourceFile("packaging/debian/changelog")).startsWith("lockstep (" LOCKSTEP_VERSION ") "));
    }

    void theChangelogIsOneOfDebians() {
        static const QRegularExpression line(
            "^(lockstep \\(\\S+\\) \\w+; urgency=medium|  \\* \\S.*|    \\S.*| -- .+ <.+@.+>  \\w{3}, \\d\\d .{23}|)$");
        for (const QString& each : textOf(sourceFile("packaging/debian/changelog")).split('\n'))
            QVERIFY2(line.match(each).hasMatch() && each.size() <= 80, qPrintable(each));
    }

    // The program carries it too, under the same name.
    void theStudioNamesItsIconAndDesktopFile() {
        QVERIFY(textOf(sourceFile("app/studio.cpp")).contains('"' + kId + '"'));
        QVERIFY(textOf(sourceFile("app/CMakeLists.txt")).contains("icons/" + kId + ".svg"));
    }

    void theIconIsDrawnAtEverySize_data() {
        QTest::addColumn<int>("size");
        for (const int size : {16, 24, 32, 48, 64, 128, 256}) QTest::addRow("%d", size) << size;
    }
    void theIconIsDrawnAtEverySize() {
        QFETCH(int, size);
        QVERIFY(QSvgRenderer(icon()).isValid());
        QCOMPARE(QSvgRenderer(icon()).viewBox().size(), QSize(256, 256));
        const auto image = drawn(size);
        QCOMPARE(image.pixelColor(0, 0).alpha(), 0);
        const QColor tile = image.pixelColor(size / 2, size / 8), bar = image.pixelColor(size * 5 / 16, size / 2);
        const QColor line = image.pixelColor(size * 10 / 16, size / 2);
        QVERIFY(contrast(tile, bar) > 4.5 && contrast(tile, line) > 3);
        const QColor foot = image.pixelColor(size / 2, size * 7 / 8);
        for (const QColor& edge : {tile, foot}) {
            QVERIFY(contrast(edge, Qt::white) > 3 && contrast(edge, "#15181e") > 2.5);
        }
    }

    void theInstalledTreeIsWhole() {
        QTemporaryDir prefix;
        const auto said =
            run("cmake", {"--install", LOCKSTEP_BUILD, "--prefix", prefix.path(), "--component", "Unspecified"});
        QVERIFY2(said.status == 0, qPrintable(said.text));
        for (const QString& file :
             {QString("bin/lockstep"), QString("bin/lockstep-studio"), "share/applications/" + kId + ".desktop",
              "share/metainfo/" + kId + ".metainfo.xml", "share/icons/hicolor/scalable/apps/" + kId + ".svg",
              QString("share/man/man1/lockstep.1.gz"), QString("share/man/man1/lockstep-studio.1.gz"),
              QString("share/doc/lockstep/copyright"), QString("share/lockstep/plugins/lockstep_plugin.h"),
              QString("share/lockstep/plugins/template/CMakeLists.txt")}) {
            QVERIFY2(QFileInfo(prefix.filePath(file)).size() > 0, qPrintable(file));
        }
        QCOMPARE(run(prefix.filePath("bin/lockstep-studio"), {"--version"}).status, 0);
        theModuleIsFoundFrom(prefix.filePath("bin/lockstep"), prefix.path());
    }

private:
    // A module that is none: what the program says of it tells where it looked.
    void theModuleIsFoundFrom(const QString& program, const QString& prefix) {
        const auto module = prefix + "/lib/lockstep/backends/lockstep_cuda.so";
        QVERIFY(QDir().mkpath(QFileInfo(module).path()));
        QFile file(module);
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write("no module") > 0);
        file.close();
        const auto devices = run(program, {"devices"}, prefix);
        QVERIFY2(devices.status == 0 && devices.text.contains(module), qPrintable(devices.text));
    }
};

QTEST_GUILESS_MAIN(TestDesktop)
#include "tst_desktop.moc"
