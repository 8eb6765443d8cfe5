#pragma once
#include <QDir>
#include <QtTest>

#include "tests/app/lockstep_program.h"
#include "tests/datasets/image_files.h"

inline QByteArray jpegBytes(const std::vector<std::uint8_t>& pixels, int width, int height) {
    const auto bytes = lockstep::test::jpegOf(pixels, width, height, TJPF_RGB);
    return {reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size())};
}

// A folder "photos" of two classes of pictures, bright ones and dark ones, by these names.
inline void writePictures(const LockstepProgram& program, const QString& bright = "bright",
                          const QString& dark = "dark") {
    for (const char* split : {"train", "test"}) {
        for (const QString& name : {bright, dark}) {
            QVERIFY(QDir().mkpath(program.path(QString("photos/%1/%2").arg(split, name))));
            for (int i = 0; i < 9; ++i) {
                const auto shade = static_cast<std::uint8_t>((name == bright ? 200 : 20) + 3 * i);
                program.write(QString("photos/%1/%2/%3.jpg").arg(split, name).arg(i),
                              jpegBytes(std::vector<std::uint8_t>(16 * 16 * 3, shade), 16, 16));
            }
        }
    }
}
