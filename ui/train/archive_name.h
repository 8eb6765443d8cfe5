#pragma once
#include <QString>

namespace lockstep::ui {

// By its name: .zip, .7z, .tar, .tgz and .tar with a compression. A lone .gz is a data file, which the engine reads as
// it is.
bool isArchiveName(const QString& file);
QString archiveStem(const QString& file);  // "/a/cats.tar.gz": "cats"

// Where an entry of an archive goes below the folder it is unpacked into; empty: it points outside, or nowhere.
QString safeEntryPath(const QString& entry);

}  // namespace lockstep::ui
