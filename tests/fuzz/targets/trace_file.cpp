#include "engine/session/trace_file.h"

#include "tests/fuzz/fuzz_files.h"
#include "tests/fuzz/targets/targets.h"

namespace lockstep::fuzz {

std::size_t capOfTraceFile(std::size_t bytes) { return 8 * bytes + kSmallChange; }

bool runTraceFile(Input input) {
    static const MemoryFolder folder;
    Slicer slicer(input);
    TraceReader reader(folder.path(), 1);
    bool any = false;
    const auto look = [&] {
        for (const auto& [lane, span] : reader.read()) {
            require(lane < reader.lanes().size() && span.name < reader.names().size(), "spans have lanes and names");
            require(span.beginNs >= 0 && span.endNs >= span.beginNs, "spans end after they begin");
            any = true;
        }
    };
    folder.write("1-1.trace", slicer.take(slicer.number<std::uint16_t>()));
    look();
    folder.append("1-1.trace", slicer.rest());
    look();
    return any;
}

}  // namespace lockstep::fuzz
