#include <algorithm>
#include <span>

#include "engine/core/checksum.h"
#include "engine/core/error.h"
#include "engine/core/random.h"
#include "engine/core/result.h"
#include "engine/plan/storage.h"
#include "engine/train/initialize.h"
#include "engine/train/replica.h"

namespace lockstep {

namespace {

template <class From, class To>
void convert(const HostTensor& from, HostTensor& to) {
    std::ranges::transform(from.as<From>(), to.as<To>().begin(), [](From x) { return static_cast<To>(x); });
}

HostTensor converted(const HostTensor& tensor, DType dtype) {
    HostTensor out({tensor.type().shape, dtype});
    if (dtype == DType::F64) convert<float, double>(tensor, out);
    else convert<double, float>(tensor, out);
    return out;
}

// Rows behind rows. At least one part, all of one kind of rows.
HostTensor joined(std::vector<HostTensor> parts) {
    if (parts.size() == 1) return std::move(parts.front());
    std::int64_t rows = 0;
    for (const HostTensor& part : parts) rows += part.type().shape[0];
    const TensorType& type = parts.front().type();
    HostTensor whole({type.shape.withDim(0, rows), type.dtype});
    std::byte* to = whole.data();
    for (const HostTensor& part : parts) to = std::copy_n(part.data(), part.bytes(), to);
    return whole;
}

}  // namespace

void Replica::keep(std::size_t offset, std::span<const std::byte> part) {
    Stream& stream = m_device.stream(Lane::Copy);
    stream.copyToDevice(arena(Arena::Dataset) + offset, part.data(), part.size());
    stream.synchronize();
}

std::vector<std::string> Replica::tensorNames() const {
    std::vector<std::string> names;
    for (const auto* entries : {&m_storage->parameters, &m_storage->frozen, &m_storage->buffers}) {
        for (const StorageEntry& entry : *entries) names.push_back(entry.name);
    }
    for (const StorageEntry& entry : m_storage->parameters) {
        if (m_storage->averages) names.push_back(std::string(kAverage) + entry.name);
    }
    for (int state = 0; state < m_storage->stateCount; ++state) {
        for (const StorageEntry& entry : m_storage->parameters)
            names.push_back(std::string(m_rule.stateName(state)) + "." + entry.name);
    }
    std::ranges::sort(names);
    return names;
}

// Where `arena` has what belongs to a parameter, in the type that is kept.
Replica::Place Replica::keptPlace(const StorageEntry& parameter, Arena arena, std::size_t base) const {
    Place place{parameter.value, this->arena(arena) + base + m_storage->kept(parameter.offset)};
    place.value.type.dtype = m_storage->keptType();
    place.count = parameter.bytes / sizeOf(m_storage->dtype);
    return place;
}

Replica::Place Replica::place(const std::string& name) const {
    const bool masters = m_storage->hasMasters();
    const auto parameterAfter = [&](std::string_view prefix) {
        return name.starts_with(prefix) ? m_storage->find(name.substr(prefix.size())) : nullptr;
    };
    for (const StorageEntry& entry : m_storage->buffers) {
        if (entry.name == name) return {entry.value, arena(Arena::Buffers) + entry.offset};
    }
    if (const StorageEntry* entry = m_storage->find(name)) {
        Place place = keptPlace(*entry, masters ? Arena::Masters : Arena::Parameters);
        if (masters) place.rounded = arena(Arena::Parameters) + entry->offset;
        return place;
    }
    if (const StorageEntry* entry = m_storage->averages ? parameterAfter(kAverage) : nullptr) {
        Place place = keptPlace(*entry, Arena::Averages);
        if (masters) place.rounded = arena(Arena::Averages) + m_storage->averagesRead() + entry->offset;
        return place;
    }
    for (int state = 0; state < m_storage->stateCount; ++state) {
        const StorageEntry* entry = parameterAfter(std::string(m_rule.stateName(state)) + ".");
        if (!entry) continue;
        const std::size_t base = static_cast<std::size_t>(state) * m_storage->kept(m_storage->parameterBytes);
        return keptPlace(*entry, Arena::OptimizerState, base);
    }
    throw ProblemError({name, "checkpoint.mismatch", {name, "nothing of that name", "in this run"}});
}

HostTensor Replica::read(const std::string& name) {
    const Place from = place(name);
    return m_device.readLogical(from.value, from.at);
}

void Replica::write(const std::string& name, const HostTensor& tensor) {
    const Place to = place(name);
    const TensorType& wanted = to.value.type;
    const DType given = tensor.type().dtype;
    if (tensor.type().shape != wanted.shape || !isFloat(given) || isHalf(given))
        throw ProblemError({name, "checkpoint.mismatch", {name, wanted.text(), tensor.type().text()}});
    if (given == wanted.dtype) m_device.writeLogical(to.value, tensor, to.at);
    else m_device.writeLogical(to.value, converted(tensor, wanted.dtype), to.at);
    m_checksums.forget();
    m_constantsOf = nullptr;
    if (to.rounded) round(to);
}

// Where it lies, if it can be: the largest of some models are hundreds of megabytes.
void Replica::writeInitial(const std::string& name, std::uint64_t seed) {
    const Place to = place(name);
    if (!m_device.isHostMemory() || to.value.layout) return write(name, initialTensor(to.value, seed));
    fillInitial(to.value, seed, to.at);
    if (to.rounded) round(to);
}

void Replica::round(const Place& place) {
    std::byte* const from = place.at;
    std::byte* const to = place.rounded;
    Stream& stream = m_device.stream(Lane::Compute);
    m_device.prepareNarrow(m_storage->dtype, place.count)->run({{&from, 1}, {&to, 1}, nullptr, nullptr, &stream});
    stream.synchronize();
}

void Replica::startAverages() {
    if (!m_storage->averages) return;
    const bool masters = m_storage->hasMasters();
    std::byte* const averages = arena(Arena::Averages);
    Stream& stream = m_device.stream(Lane::Compute);
    stream.copyOnDevice(averages, arena(masters ? Arena::Masters : Arena::Parameters),
                        m_storage->kept(m_storage->parameterBytes));
    if (masters)
        stream.copyOnDevice(averages + m_storage->averagesRead(), arena(Arena::Parameters), m_storage->parameterBytes);
    stream.synchronize();
    m_checksums.forget();
    m_constantsOf = nullptr;
}

HostTensor Replica::readGradient(const std::string& parameter) {
    const StorageEntry* entry = m_storage->find(parameter);
    if (!entry) throw EngineError(EngineError::Kind::Internal, parameter, "there is no such parameter");
    return m_device.readLogical(entry->value, arena(Arena::Gradients) + entry->offset);
}

HostTensor Replica::readOutput(const Program& program, std::string_view name) {
    std::vector<HostTensor> parts;
    for (const Pass& pass : program.passes) {
        const auto slot = pass.outputs.find(name);
        if (!pass.graph) continue;
        if (slot == pass.outputs.end())
            throw EngineError(EngineError::Kind::Internal, std::string(name), "there is no such output");
        parts.push_back(m_device.readLogical(pass.graph->value(*pass.graph->output(name)), resolve(slot->second)));
    }
    return joined(std::move(parts));
}

std::uint64_t Replica::hash() {
    std::uint64_t hash = streamOf("");
    for (const std::string& name : tensorNames()) {
        const HostTensor tensor = read(name);
        hash = checksum(hash, std::as_bytes(std::span(name)));
        hash = checksum(hash, {tensor.data(), tensor.bytes()});
    }
    return hash;
}

std::span<std::byte> Replica::stored(Arena which) {
    m_constantsOf = nullptr;
    return {arena(which), m_arenas[static_cast<std::size_t>(which)].bytes()};
}

std::uint64_t Replica::storedHash() {
    std::uint64_t hash = streamOf("");
    Stream& stream = m_device.stream(Lane::Compute);
    for (const Arena each :
         {Arena::Parameters, Arena::Masters, Arena::Averages, Arena::OptimizerState, Arena::Buffers}) {
        const std::size_t bytes = m_storage->arenaBytes(each);
        if (m_device.isHostMemory()) {
            hash = checksum(hash, {arena(each), bytes});
            continue;
        }
        std::vector<std::byte> copy(bytes);
        stream.copyToHost(copy.data(), arena(each), bytes);
        stream.synchronize();
        hash = checksum(hash, copy);
    }
    return hash;
}

}  // namespace lockstep
