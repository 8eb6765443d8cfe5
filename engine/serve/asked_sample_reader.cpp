#include "engine/serve/asked_sample_reader.h"

#include "datasets/catalog.h"
#include "engine/core/utf8.h"
#include "engine/data/sample.h"
#include "engine/serve/samples.h"
#include "engine/train/asked_data.h"
#include "engine/train/open_data.h"

namespace lockstep {

namespace {

template <class T>
T madeOf(Result<T> result) {
    if (!result.ok()) throw ProblemError(result.problems().front());
    return std::move(result).value();
}

// Without a look at the spec's devices, which need not be there.
DatasetSplits splitsOf(const TrialSpec& spec, const Environment& environment) {
    const DatasetEntry* entry = environment.dataset(spec.dataset.id);
    if (!entry) throw ProblemError({"dataset", "spec.unknown-dataset", {spec.dataset.id, "see `lockstep datasets`"}});
    const auto params = madeOf(ParamValues::from(entry->params, spec.dataset.params, "dataset"));
    auto splits = madeOf(entry->open(madeOf(dataPathOf(*entry, spec.dataPath)), params, {.trains = false}));
    divideAsAsked(spec, splits);
    return splits;
}

const DatasetEntry& entryOf(const std::string& data, const Environment& environment) {
    const DatasetEntry* known = environment.dataset(data);
    return known ? *known : *madeOf(recogniseDataset(environment.datasets(), data));
}

// Its bytes as far as the model reads them.
std::string textOf(std::span<const std::int32_t> tokens) {
    std::string text;
    for (const std::int32_t token : tokens) text += static_cast<char>(token);
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return legible(text);
}

AskedAbout shown(const Sample& sample, const DatasetInfo& info) {
    if (findField(info.fields, "image")) return {shownImage(sample.image(), info.image()), {}};
    return {{}, textOf(sample.field<std::int32_t>("tokens"))};
}

}  // namespace

AskedSamplesAnswer AskedSampleReader::read(const TrialSpec& spec, const AskedSamplesRequest& request,
                                           const Environment& environment) {
    const std::size_t count = request.samples.size(), most = AskedSamplesRequest::kMost;
    if (count > most)
        throw ProblemError({"samples", "serve.too-many-samples", {std::to_string(count), std::to_string(most)}});
    if (m_opened != Opened{spec, request.data, request.split, m_opened.samples} || !m_opened.samples)
        open(spec, request, environment);
    const DatasetInfo& info = m_opened.samples->info();
    AskedSamplesAnswer answer{info.classes, {}};
    Sample sample(*m_opened.samples);
    for (const std::int64_t at : request.samples) {
        if (at < 0 || at >= info.count)
            throw ProblemError({"samples", "serve.no-sample", {std::to_string(at), std::to_string(info.count)}});
        answer.samples.push_back(shown(sample.read(at), info));
    }
    return answer;
}

void AskedSampleReader::open(const TrialSpec& spec, const AskedSamplesRequest& request,
                             const Environment& environment) {
    m_opened = {};
    const std::string own = dataName(spec);
    DatasetSplits splits = splitsOf(spec, environment);
    const DatasetInfo trained = splits.train->info();
    if (!request.data.empty() && request.data != own) {
        const DatasetEntry& entry = entryOf(request.data, environment);
        const std::filesystem::path path = entry.id == request.data ? "" : request.data;
        splits = splitsOf(specAskingAbout(spec, entry, path, trained), environment);
    }
    m_opened = {spec, request.data, request.split, madeOf(asAsked(splits, askedSplit(request.split), trained))};
}

}  // namespace lockstep
