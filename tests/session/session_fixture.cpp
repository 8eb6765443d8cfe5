#include "tests/session/session_fixture.h"

#include <atomic>
#include <thread>

#include "datasets/catalog.h"
#include "engine/backend/reference/reference_backend.h"
#include "engine/core/error.h"

namespace lockstep::test {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

class Broken : public Dataset {
public:
    explicit Broken(std::shared_ptr<const Dataset> sound) : m_sound(std::move(sound)) {}
    const DatasetInfo& info() const override { return m_sound->info(); }
    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override {
        if (index == 3) throw EngineError(EngineError::Kind::Io, "image 3", "bad sector");
        m_sound->read(index, into);
    }

private:
    std::shared_ptr<const Dataset> m_sound;
};

// A device that fails once, when so many samples were read.
class Unlucky : public Dataset {
public:
    explicit Unlucky(std::shared_ptr<const Dataset> sound) : m_sound(std::move(sound)) {}
    const DatasetInfo& info() const override { return m_sound->info(); }
    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override {
        if (m_reads.fetch_add(1) == 150) throw EngineError(EngineError::Kind::Device, "card", "fell off the bus");
        m_sound->read(index, into);
    }

private:
    std::shared_ptr<const Dataset> m_sound;
    mutable std::atomic<int> m_reads{0};
};

// The same under another name, with its training samples by way of a `Faulty`.
template <class Faulty>
DatasetEntry trainedBy(DatasetEntry dataset, const char* id) {
    dataset.id = id;
    dataset.open = [open = dataset.open](const fs::path& path, const ParamValues& params,
                                         const OpeningWatch& watch) -> Result<DatasetSplits> {
        auto splits = open(path, params, watch);
        if (!splits.ok()) return splits.problems();
        return DatasetSplits{std::make_shared<Faulty>(splits.value().train), splits.value().test};
    };
    return dataset;
}

}  // namespace

std::map<std::string, ParamValue>& dataOfToday() {
    static std::map<std::string, ParamValue> params;
    return params;
}

const Environment& environment() {
    static const Environment* built = [] {
        auto* e = new Environment;
        e->add(makeReferenceBackend());
        for (const auto& model : builtinModels()) e->add(model);
        for (const auto& dataset : builtinDatasets({})) {
            if (dataset.id != "synthetic") continue;
            e->add(dataset);
            e->add(trainedBy<Broken>(dataset, "broken"));
            e->add(trainedBy<Unlucky>(dataset, "unlucky"));
            DatasetEntry endless = dataset;
            endless.id = "endless";
            endless.open = [](const fs::path&, const ParamValues&, const OpeningWatch& watch) -> Result<DatasetSplits> {
                for (std::int64_t done = 0; !watch.stop.stop_requested(); ++done) {
                    watch.progress(done, 1'000'000);
                    std::this_thread::sleep_for(5ms);
                }
                return Problem{"endless", "dataset.cancelled", {}};
            };
            e->add(endless);
            DatasetEntry changing = dataset;
            changing.id = "changing";
            changing.open = [open = dataset.open, entry = dataset](const fs::path& path, const ParamValues&,
                                                                   const OpeningWatch& watch) {
                const auto params = ParamValues::from(entry.params, dataOfToday(), "");
                return open(path, params.value(), watch);
            };
            e->add(changing);
        }
        return e;
    }();
    return *built;
}

TrialSpec smallSpec(std::int64_t epochs) {
    TrialSpec spec;
    spec.dataset = {"synthetic",
                    {{"samples", std::int64_t{64}},
                     {"test_samples", std::int64_t{16}},
                     {"height", std::int64_t{8}},
                     {"width", std::int64_t{8}},
                     {"classes", std::int64_t{2}}}};
    spec.model = {"mlp", {}};
    spec.devices = "reference:2";
    spec.batch = 16;
    spec.epochs = epochs;
    spec.learningRate = 0.01;
    return spec;
}

}  // namespace lockstep::test
