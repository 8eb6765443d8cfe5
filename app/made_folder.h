#pragma once
#include <filesystem>
#include <vector>

namespace lockstep {

// A folder for what a command writes, made with those above it that are missing. Those that were made for nothing are
// taken back at the end: unless it is kept, as far as they are empty.
class MadeFolder {
public:
    // An empty path is the current folder. Throws ProblemError "out.unwritable".
    explicit MadeFolder(const std::filesystem::path& folder);
    static MadeFolder of(const std::filesystem::path& file);  // that the file is to lie in; of "-" none
    ~MadeFolder();
    MadeFolder(const MadeFolder&) = delete;
    MadeFolder& operator=(const MadeFolder&) = delete;
    void keep() { m_made.clear(); }

private:
    void takeBack();

    std::vector<std::filesystem::path> m_made;  // the innermost first
};

}  // namespace lockstep
