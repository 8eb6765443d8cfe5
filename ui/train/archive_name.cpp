#include "ui/train/archive_name.h"

#include <QFileInfo>
#include <QRegularExpression>
#include <QStringList>

namespace lockstep::ui {

namespace {

const QRegularExpression& ending() {
    static const QRegularExpression pattern(R"(\.(zip|7z|tar|tgz|tbz2?|txz|tzst|tar\.(gz|bz2|xz|zst|lz4|lzma))$)",
                                            QRegularExpression::CaseInsensitiveOption);
    return pattern;
}

}  // namespace

bool isArchiveName(const QString& file) { return ending().match(file).hasMatch(); }

QString archiveStem(const QString& file) { return QFileInfo(file).fileName().remove(ending()); }

QString safeEntryPath(const QString& entry) {
    if (entry.startsWith('/') || entry.contains(QChar(0))) return {};
    QStringList kept;
    for (const auto& part : entry.split('/', Qt::SkipEmptyParts)) {
        if (part == "..") return {};
        if (part != ".") kept << part;
    }
    return kept.join('/');
}

}  // namespace lockstep::ui
