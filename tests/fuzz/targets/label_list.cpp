#include "datasets/label_list.h"

#include <utility>

#include "engine/core/result.h"
#include "tests/fuzz/fuzz_files.h"
#include "tests/fuzz/targets/targets.h"

namespace lockstep::fuzz {

// Read as both forms of it, which their names tell apart.
bool runLabelList(Input input) {
    static const MemoryFolder folder;
    bool isRead = false;
    for (const char* name : {"labels.csv", "val.txt"}) {
        folder.write(name, input);
        try {
            std::int64_t line = 0;
            for (const ListedLabel& each : readLabelList(folder.path() / name))
                require(std::exchange(line, each.line) < each.line, "lines follow each other");
            isRead = true;
        } catch (const ProblemError&) {
        }
    }
    return isRead;
}

}  // namespace lockstep::fuzz
