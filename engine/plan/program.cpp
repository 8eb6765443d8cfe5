#include "engine/plan/program.h"

#include <algorithm>
#include <sstream>

#include "engine/core/error.h"

namespace lockstep {

std::string_view text(Arena arena) {
    switch (arena) {
        case Arena::Io: return "io";
        case Arena::Parameters: return "parameters";
        case Arena::Masters: return "masters";
        case Arena::Averages: return "averages";
        case Arena::Gradients: return "gradients";
        case Arena::OptimizerState: return "states";
        case Arena::Buffers: return "buffers";
        case Arena::Staging: return "staging";
        case Arena::Activations: return "activations";
        case Arena::Scalars: return "scalars";
        case Arena::Partials: return "partials";
        case Arena::Dataset: return "dataset";
        case Arena::Outputs: return "outputs";
    }
    return "?";
}

std::string_view text(Step::Kind kind) {
    switch (kind) {
        case Step::Kind::Kernel: return "kernel";
        case Step::Kind::CopyIn: return "copy-in";
        case Step::Kind::Fill: return "fill";
        case Step::Kind::Scale: return "scale";
        case Step::Kind::Add: return "add";
        case Step::Kind::AllReduce: return "all-reduce";
        case Step::Kind::SquareSum: return "square-sum";
        case Step::Kind::Gate: return "gate";
        case Step::Kind::Update: return "update";
        case Step::Kind::Average: return "average";
        case Step::Kind::Commit: return "commit";
    }
    return "?";
}

namespace {

void describeEntries(std::ostream& out, const char* word, const std::vector<StorageEntry>& entries) {
    for (const StorageEntry& entry : entries) {
        const std::string layout = entry.value.layoutText();
        out << word << ' ' << entry.name << ' ' << entry.value.type.text() << ' ' << layout << ' ' << entry.offset
            << '+' << entry.bytes << '\n';
    }
}

}  // namespace

std::string StoragePlan::signature() const {
    std::ostringstream out;
    out << "storage " << text(dtype) << " states " << stateCount;
    if (hasMasters()) out << " masters " << text(keptType());
    out << (averages ? " averages\n" : "\n");
    describeEntries(out, "parameter", parameters);
    describeEntries(out, "frozen", frozen);
    describeEntries(out, "buffer", buffers);
    for (const Bucket& bucket : buckets) out << "bucket " << bucket.offset << '+' << bucket.bytes << '\n';
    return out.str();
}

std::size_t StoragePlan::arenaBytes(Arena arena) const {
    switch (arena) {
        case Arena::Parameters: return parameterBytes + frozenBytes;
        case Arena::Gradients: return parameterBytes;
        case Arena::Masters: return hasMasters() ? kept(parameterBytes + frozenBytes) : 0;
        case Arena::Averages: return averages ? averagesRead() + parameterBytes : 0;
        case Arena::OptimizerState: return static_cast<std::size_t>(stateCount) * kept(parameterBytes);
        case Arena::Buffers: return bufferBytes;
        case Arena::Staging: return stagedBytes;
        default: return 0;
    }
}

const StorageEntry* StoragePlan::find(std::string_view name) const {
    for (const auto* entries : {&parameters, &frozen, &buffers}) {
        const auto found = std::ranges::find(*entries, name, &StorageEntry::name);
        if (found != entries->end()) return &*found;
    }
    return nullptr;
}

std::size_t ScalarSlots::sumBytes() const {
    const bool controlled = !names.empty() && names.back() == "control";
    return (names.size() - (controlled ? 1 : 0)) * sizeof(double);
}

std::size_t ScalarSlots::offsetOf(std::string_view name) const {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
        throw EngineError(EngineError::Kind::Internal, "scalars", "the program has no scalar " + std::string(name));
    }
    return static_cast<std::size_t>(found - names.begin()) * sizeof(double);
}

}  // namespace lockstep
