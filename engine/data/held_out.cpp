#include "engine/data/held_out.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/core/random.h"
#include "engine/data/drawn_places.h"
#include "engine/data/normalisation.h"

namespace lockstep {

namespace {

using Places = std::vector<std::int64_t>;

// Some samples of another dataset, by their places in it.
class PartOfDataset final : public Dataset {
public:
    PartOfDataset(std::shared_ptr<const Dataset> whole, Places places)
        : m_whole(std::move(whole)), m_places(std::move(places)), m_info(m_whole->info()) {
        m_info.count = static_cast<std::int64_t>(m_places.size());
    }
    PartOfDataset(std::shared_ptr<const Dataset> whole, Places places, const DatasetInfo& normalisedAs)
        : PartOfDataset(std::move(whole), std::move(places)) {
        m_info.mean = normalisedAs.mean;
        m_info.deviation = normalisedAs.deviation;
    }

    const DatasetInfo& info() const override { return m_info; }
    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override {
        m_whole->read(placeOf(index), into);
    }
    void readCut(std::int64_t index, std::span<const std::span<std::byte>> into, const ChooseCut& cut) const override {
        m_whole->readCut(placeOf(index), into, cut);
    }
    const std::byte* resident(std::int64_t index, std::size_t field) const override {
        return m_whole->resident(placeOf(index), field);
    }
    std::string fileOf(std::int64_t index) const override { return m_whole->fileOf(placeOf(index)); }
    std::vector<Problem> takeRemarks() const override { return m_whole->takeRemarks(); }

private:
    std::int64_t placeOf(std::int64_t index) const { return m_places[static_cast<std::size_t>(index)]; }

    std::shared_ptr<const Dataset> m_whole;
    Places m_places;
    DatasetInfo m_info;
};

Places allBut(std::int64_t count, const Places& others) {
    Places all(static_cast<std::size_t>(count)), left;
    std::iota(all.begin(), all.end(), 0);
    std::ranges::set_difference(all, others, std::back_inserter(left));
    return left;
}

}  // namespace

std::int64_t heldOutCount(std::int64_t trainCount, double share) {
    return std::clamp<std::int64_t>(std::llround(share * static_cast<double>(trainCount)), 1, trainCount - 1);
}

HeldOut holdOut(std::shared_ptr<const Dataset> train, double share, std::uint64_t seed) {
    const std::int64_t count = train->info().count;
    const Places out = drawnPlaces(count, heldOutCount(count, share), seed, streamOf("validation"));
    PartOfDataset left(train, allBut(count, out));
    DatasetInfo measured = left.info();
    if (findField(measured.fields, "image")) measureNormalisation(measured, left);
    return {std::make_shared<PartOfDataset>(train, allBut(count, out), measured),
            std::make_shared<PartOfDataset>(train, out, measured)};
}

}  // namespace lockstep
