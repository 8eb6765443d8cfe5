#pragma once
#include <algorithm>
#include <string_view>

namespace lockstep {

// Whether a file or folder of this name is what systems and archivers leave beside people's own: hidden, macOS's
// resource forks ("__MACOSX", "._x.jpg"), Windows's thumbnails…
inline bool isSystemName(std::string_view name) {
    constexpr std::string_view kNames[] = {"__MACOSX",    "Thumbs.db",    "ehthumbs.db",
                                           "desktop.ini", "$RECYCLE.BIN", "System Volume Information",
                                           "@eaDir",      "lost+found"};
    return name.starts_with('.') || std::ranges::find(kNames, name) != std::end(kNames);
}

}  // namespace lockstep
