#pragma once
#include <string>
#include <vector>

#include "engine/plan/program.h"

namespace lockstep {

// The steps that work on slices of arenas and know nothing of the graph.
class FlatSteps {
public:
    FlatSteps(Program::Kind kind, const StoragePlan& storage, const ScalarSlots& scalars)
        : m_training(kind == Program::Kind::Training), m_storage(storage), m_scalars(scalars) {}

    Step copyIn(const Slot& field, const std::string& name) const;
    Step fill(const Slot& slot, DType dtype, double value, const std::string& name) const;
    // Without its input, which comes from the graph.
    Step scale(const Slot& to, DType dtype, double factor, const std::string& name) const;

    // What ranks and passes add up, in the order in which it is reduced.
    struct Sum {
        Slot slice;    // of one pass, and in the end of all ranks
        Slot reduced;  // what ranks reduce: the scalars' slice has "control", too
        DType dtype = DType::F32;
        int bucket = -1;
        std::string name;  // "statistics", "scalars", the bucket's number
    };
    std::vector<Sum> sums() const;  // in evaluation the scalars alone
    Step reduce(const Sum& sum) const;
    // Without its slots: an all-reduce in the midst of the graph, of `count` doubles.
    Step reduceValue(std::size_t count, const std::string& name) const;
    Step zero(const Sum& sum) const;
    Step addPartial(const Sum& sum, int level) const;
    Step keepPartial(const Sum& sum, int level) const;
    // A copy of everything that is summed, once per level of the tree that several passes need.
    std::size_t partialBytes(std::size_t passes) const;

    Step squareSum(int bucket) const;
    Step gate() const;
    Step update(int bucket) const;
    Step average(int bucket) const;
    std::vector<Step> commits(const std::vector<bool>& assigned) const;  // by buffer; one per run of assigned ones

    Slot gradients(int bucket) const;
    Slot staged() const { return {Arena::Staging, 0, m_storage.stagedBytes}; }
    Slot reducedScalars() const { return {Arena::Scalars, 0, m_scalars.names.size() * sizeof(double)}; }

private:
    Slot partial(const Sum& sum, int level) const;
    std::size_t levelBytes() const;
    Slot scalar(std::string_view name) const { return {Arena::Scalars, m_scalars.offsetOf(name), sizeof(double)}; }
    Slot squareSumSlot(int bucket) const;
    Slot kept(Arena arena, const Slot& slice, std::size_t base = 0) const;
    Slot gateSlot() const { return {Arena::Scalars, m_scalars.gateOffset, sizeof(UpdateGate)}; }
    const Bucket& bucketAt(int bucket) const { return m_storage.buckets[static_cast<std::size_t>(bucket)]; }

    bool m_training;
    const StoragePlan& m_storage;
    const ScalarSlots& m_scalars;
};

}  // namespace lockstep
