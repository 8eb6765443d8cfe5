#include "tests/plugin/out_of_tree.h"

#include <QProcess>
#include <fstream>

namespace fs = std::filesystem;

void put(const fs::path& file, const std::string& bytes) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
}

void writeImages(const fs::path& root, int perClass) {
    for (int i = 0; i < perClass; ++i) {
        const std::string name = std::to_string(100 + i) + ".ppm";
        put(root / "bright" / name, "P6\n# made for a test\n3 2\n255\n" + std::string(18, static_cast<char>(200 + i)));
        put(root / "dark" / name, "P6 3 2 255\n" + std::string(18, static_cast<char>(10 + i)));
    }
    put(root / "dark" / "notes.txt", "not an image");
}

QByteArray buildOutOfTree(const fs::path& folder, const char* name, const fs::path& sources) {
    const fs::path plugins = fs::path(LOCKSTEP_SOURCE_DIR) / "plugins";
    fs::copy(plugins / "template", folder / "mine");
    fs::copy(plugins / "lockstep_plugin.h", folder / "mine");
    if (!sources.empty()) {
        fs::remove(folder / "mine" / "my_dataset.c");
        fs::copy(sources, folder / "mine");
    }
    QByteArray output;
    for (const QStringList& words : {QStringList{"-S", "mine", "-B", "build", QString("-DPLUGIN=%1").arg(name)},
                                     QStringList{"--build", "build"}}) {
        QProcess cmake;
        cmake.setWorkingDirectory(QString::fromStdString(folder));
        cmake.setProcessChannelMode(QProcess::MergedChannels);
        cmake.start("cmake", words);
        if (!cmake.waitForFinished(100'000)) return "cmake did not end";
        output = cmake.readAll();
        if (cmake.exitCode() != 0 || output.contains("warning")) return output;
    }
    return {};
}
