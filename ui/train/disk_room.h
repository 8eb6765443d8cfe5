#pragma once
#include <QString>
#include <filesystem>
#include <optional>

namespace lockstep::ui {

// Bytes that may still be written below a folder that is there; empty: unknown. Asked of the file system itself:
// QStorageInfo goes by the list of mounts, which in a container need not have the folder's.
inline std::optional<qint64> roomIn(const QString& folder) {
    std::error_code unknown;
    const auto room = std::filesystem::space(folder.toStdString(), unknown);
    return unknown ? std::nullopt : std::optional(static_cast<qint64>(room.available));
}

}  // namespace lockstep::ui
