#include "engine/train/weights.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/core/half.h"
#include "engine/model/torchvision_names.h"
#include "engine/train/checkpoint.h"
#include "engine/train/safetensors.h"

namespace lockstep {

namespace {

using Types = std::map<std::string, TensorType>;
using Names = std::map<std::string, std::string>;  // ours -> the file's

constexpr const char* kHead = "head";
constexpr std::size_t kFew = 3;

[[noreturn]] void refuse(std::string code, std::vector<std::string> args) {
    throw ProblemError({"weights", std::move(code), std::move(args)});
}

// What the container is said to be as a checkpoint is said of weights.
[[noreturn]] void refuse(const std::string& file, const Problem& ofContainer) {
    std::vector<std::string> args{file};
    args.insert(args.end(), ofContainer.args.begin(), ofContainer.args.end());
    refuse("weights" + ofContainer.code.substr(ofContainer.code.find('.')), std::move(args));
}

// "stem/conv/weight, stem/norm/bias and 3 more"
std::string firstOf(const std::vector<std::string>& names) {
    if (names.empty()) return "nothing";
    std::string text;
    for (std::size_t i = 0; i < std::min(kFew, names.size()); ++i) text += (i > 0 ? ", " : "") + names[i];
    return names.size() > kFew ? text + " and " + std::to_string(names.size() - kFew) + " more" : text;
}

// Neither counts of batches nor, in a checkpoint, optimizer state and averages, whose names have a dot.
Types weightsIn(const TensorFileHeader& header) {
    const auto format = header.metadata.find("format");
    const bool isCheckpoint = format != header.metadata.end() && format->second == kCheckpointFormat;
    Types types;
    for (const auto& [name, type] : header.types) {
        const bool isState = isCheckpoint && name.find('.') != name.npos;
        if (!isState && !name.ends_with("num_batches_tracked")) types.emplace(name, type);
    }
    return types;
}

Names ownNames(const Graph& forward) {
    Names names;
    for (const std::string& name : tensorNames(forward)) names[name] = name;
    return names;
}

std::size_t countIn(const Types& types, const Names& names) {
    return static_cast<std::size_t>(
        std::ranges::count_if(names, [&](const auto& each) { return types.contains(each.second); }));
}

// By whichever naming more of the tensors are found.
Names namesIn(const Types& types, const ModelEntry& model, const Graph& forward) {
    Names own = ownNames(forward), theirs = torchvisionNames(model, forward);
    return countIn(types, theirs) > countIn(types, own) ? theirs : own;
}

struct Mismatch {
    std::vector<std::string> missing, superfluous;  // by the file's names
    bool empty() const { return missing.empty() && superfluous.empty(); }
};

bool isOfHead(const std::string& ours) { return isWithin(ours, kHead); }

// Without a head: whatever the file has in the place of one ("classifier.3.weight", where the head is "classifier") is
// left.
Mismatch mismatchOf(const Types& types, const Names& names, bool withoutHead) {
    Mismatch mismatch;
    std::set<std::string> known;
    std::string head;
    for (const auto& [ours, theirs] : names) {
        if (isOfHead(ours)) head = theirs.substr(0, theirs.find_first_of("./"));
        known.insert(theirs);
        if (!types.contains(theirs) && !(withoutHead && isOfHead(ours))) mismatch.missing.push_back(theirs);
    }
    for (const auto& [name, type] : types) {
        const bool isLeft = withoutHead && name.substr(0, name.find_first_of("./")) == head;
        if (!known.contains(name) && !isLeft) mismatch.superfluous.push_back(name);
    }
    return mismatch;
}

// Of those built in: ": resnet34, resnet34-cifar"; empty: none.
std::string modelsThatFit(const Types& types) {
    std::string fitting;
    for (const ModelEntry& model : builtinModels()) {
        const auto forward = buildForward(model, ParamValues(model.params), model.usual, false);
        if (!forward.ok() || !mismatchOf(types, namesIn(types, model, forward.value()), false).empty()) continue;
        fitting += (fitting.empty() ? ": " : ", ") + model.name;
    }
    return fitting;
}

// Decides which tensors of a file go where.
class Matcher {
public:
    Matcher(const ResolvedSpec& resolved, const Graph& forward, bool shapesAreKnown, const TensorFileHeader& header)
        : m_resolved(resolved),
          m_forward(forward),
          m_shapesAreKnown(shapesAreKnown),
          m_types(weightsIn(header)),
          m_names(namesIn(m_types, *resolved.model, forward)) {}

    // Throws ProblemError.
    Names match() const {
        const bool withoutHead = leavesHead();
        requireNames(withoutHead);
        Names taken;
        for (const auto& [ours, theirs] : m_names) {
            if (withoutHead && isOfHead(ours)) continue;
            requireType(ours, theirs);
            taken[ours] = theirs;
        }
        return taken;
    }

private:
    const std::string& file() const { return m_resolved.spec.weights; }
    const Shape& shapeOf(const std::string& ours) const { return m_forward.typeOf(*m_forward.find(ours)).shape; }

    bool leavesHead() const {
        if (m_resolved.spec.newHead != "auto") return m_resolved.spec.newHead == "yes";
        return std::ranges::any_of(m_names, [&](const auto& each) {
            const auto& [ours, theirs] = each;
            return isOfHead(ours) && (!m_types.contains(theirs) || isForOtherClasses(ours, theirs));
        });
    }

    bool isForOtherClasses(const std::string& ours, const std::string& theirs) const {
        const Shape &wanted = shapeOf(ours), &given = m_types.at(theirs).shape;
        return m_shapesAreKnown && isOfHead(ours) && given.rank() == wanted.rank() && given[0] != wanted[0];
    }

    void requireNames(bool withoutHead) const {
        const Mismatch mismatch = mismatchOf(m_types, m_names, withoutHead);
        if (mismatch.empty()) return;
        refuse("weights.other-model", {file(), m_resolved.model->name, firstOf(mismatch.missing),
                                       firstOf(mismatch.superfluous), modelsThatFit(m_types)});
    }

    void requireType(const std::string& ours, const std::string& theirs) const {
        const TensorType& given = m_types.at(theirs);
        if (!isFloat(given.dtype)) refuse("weights.not-float", {file(), theirs, given.text()});
        if (!m_shapesAreKnown || given.shape == shapeOf(ours)) return;
        if (isForOtherClasses(ours, theirs))
            refuse("weights.classes", {file(), std::to_string(given.shape[0]), std::to_string(shapeOf(ours)[0])});
        refuse("weights.shape", {file(), theirs, given.shape.text(), m_resolved.model->name, shapeOf(ours).text()});
    }

    const ResolvedSpec& m_resolved;
    const Graph& m_forward;
    bool m_shapesAreKnown;
    Types m_types;
    Names m_names;
};

Result<Graph> forwardOf(const ResolvedSpec& resolved, const ModelInput& input) {
    return buildForward(*resolved.model, resolved.modelParams, input, false);
}

// A model that cannot be built is for the plan to say.
std::vector<Problem> problemsOf(const ResolvedSpec& resolved, const ModelInput& input, bool shapesAreKnown) {
    const std::string& file = resolved.spec.weights;
    if (file.empty()) return {};
    const Result<Graph> forward = forwardOf(resolved, input);
    if (!forward.ok()) return {};
    try {
        const Result<TensorFileHeader> header = readTensorFileHeader(file);
        if (!header.ok()) refuse(file, header.problems().front());
        Matcher(resolved, forward.value(), shapesAreKnown, header.value()).match();
    } catch (const ProblemError& error) {
        return {error.problem()};
    }
    return {};
}

}  // namespace

WeightTensors readWeights(const ResolvedSpec& resolved, const DatasetInfo& data) {
    const std::string& file = resolved.spec.weights;
    Result<TensorFile> read = readTensorFile(file);
    if (!read.ok()) refuse(file, read.problems().front());
    TensorFile content = std::move(read).value();
    TensorFileHeader header{content.metadata, {}};
    for (const auto& [name, tensor] : content.tensors) header.types.emplace(name, tensor.type());
    const Result<Graph> forward = forwardOf(resolved, modelInput(*resolved.model, data, 1, 0));
    if (!forward.ok()) throw ProblemError(forward.problems().front());
    WeightTensors weights;
    for (const auto& [ours, theirs] : Matcher(resolved, forward.value(), true, header).match())
        weights.emplace(ours, widened(std::move(content.tensors.at(theirs))));
    return weights;
}

std::vector<Problem> weightsProblems(const ResolvedSpec& resolved) {
    return problemsOf(resolved, usualInput(*resolved.model, resolved.modelParams), false);
}

std::vector<Problem> weightsProblems(const ResolvedSpec& resolved, const DatasetInfo& data) {
    return problemsOf(resolved, modelInput(*resolved.model, data, 1, 0), true);
}

}  // namespace lockstep
