#include "engine/serve/asked_sample_reader.h"

#include "datasets/catalog.h"
#include "engine/core/utf8.h"
#include "engine/data/sample.h"
#include "engine/serve/samples.h"
#include "engine/spec/data_known.h"
#include "engine/train/asked_data.h"
#include "engine/train/checkpoint.h"
#include "engine/train/open_data.h"
#include "engine/train/trained_on.h"

namespace lockstep {

namespace {

template <class T>
T madeOf(Result<T> result) {
    if (!result.ok()) throw ProblemError(result.problems().front());
    return std::move(result).value();
}

const DatasetEntry& entryNamed(const std::string& id, const Environment& environment) {
    const DatasetEntry* entry = environment.dataset(id);
    if (!entry) throw ProblemError({"dataset", "spec.unknown-dataset", {id, "see `lockstep datasets`"}});
    return *entry;
}

// Without a look at the spec's devices, which need not be there. With their fingerprint, of before anything is held
// out.
DatasetSplits splitsOf(const TrialSpec& spec, const Environment& environment) {
    const DatasetEntry& entry = entryNamed(spec.dataset.id, environment);
    const auto params = madeOf(ParamValues::from(entry.params, spec.dataset.params, "dataset"));
    auto splits = madeOf(entry.open(madeOf(dataPathOf(entry, spec.dataPath)), params, {.trains = false}));
    splits.fingerprint = fingerprintOf(splits);
    divideAsAsked(spec, splits);
    return splits;
}

// As its trial's row says, or a checkpoint.
std::optional<DatasetInfo> knownOf(const AskedSamplesRequest& request) {
    if (auto info = trainedOnFrom(request.trainedOn)) return info;
    if (request.checkpoint.empty()) return std::nullopt;
    const auto read = readCheckpointPosition(request.checkpoint);
    return read.ok() ? read.value().trainedOn : std::nullopt;
}

// Of a path where nobody has said it, it is looked at.
const DatasetEntry& entryOf(const std::string& dataset, const std::string& data, const Environment& environment) {
    if (!dataset.empty()) return entryNamed(dataset, environment);
    const DatasetEntry* known = environment.dataset(data);
    return known ? *known : *madeOf(recogniseDataset(environment.datasets(), data));
}

// As `lockstep evaluate` reads it.
TrialSpec specAsked(const TrialSpec& own, const std::string& dataset, const std::string& data,
                    const DatasetInfo& trained, const Environment& environment) {
    const bool isOwn = (data.empty() || data == dataName(own)) && (dataset.empty() || dataset == own.dataset.id);
    if (isOwn) return specAskingAbout(own, entryNamed(own.dataset.id, environment), own.dataPath, trained);
    const DatasetEntry& entry = entryOf(dataset, data, environment);
    return specAskingAbout(own, entry, entry.id == data ? "" : data, trained);
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
    const auto known = knownOf(request);
    if (count == 0 && known) return {known->classes, {}};
    Question question{
        spec, request.data, request.split, request.dataset, request.fingerprint, request.trainedOn, request.checkpoint};
    if (!m_opened || m_opened->question != question) open(std::move(question), known, environment);
    AskedSamplesAnswer answer{m_opened->classes, {}, m_opened->changed};
    if (!m_opened->samples) {
        m_opened.reset();  // it may be put back: they are looked at again
        return answer;
    }
    const DatasetInfo& info = m_opened->samples->info();
    Sample sample(*m_opened->samples);
    for (const std::int64_t at : request.samples) {
        if (at < 0 || at >= info.count)
            throw ProblemError({"samples", "serve.no-sample", {std::to_string(at), std::to_string(info.count)}});
        answer.samples.push_back(shown(sample.read(at), info));
        answer.samples.back().file = m_opened->samples->fileOf(at);
    }
    return answer;
}

void AskedSampleReader::open(Question question, const std::optional<DatasetInfo>& known,
                             const Environment& environment) {
    m_opened.reset();
    const TrialSpec& own = question.spec;
    const auto ownSplits = known ? std::nullopt : std::optional(splitsOf(own, environment));
    const DatasetInfo trained = known ? *known : ownSplits->train->info();
    const TrialSpec asked = specAsked(own, question.dataset, question.data, trained, environment);
    const bool isOwn = asked.dataset.id == own.dataset.id && asked.dataPath == own.dataPath;
    const DatasetSplits splits = isOwn && ownSplits ? *ownSplits : splitsOf(asked, environment);
    Opened opened{std::move(question), {}, trained.classes};
    const auto then = fingerprintIn(opened.question.fingerprint);
    if (then && splits.fingerprint) opened.changed = changedSplits(*then, *splits.fingerprint, opened.question.split);
    if (opened.changed.empty())
        opened.samples = madeOf(asAsked(splits, askedSplit(opened.question.split), trained, dataName(asked)));
    m_opened = std::move(opened);
}

}  // namespace lockstep
