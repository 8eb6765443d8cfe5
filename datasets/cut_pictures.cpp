#include "datasets/cut_pictures.h"

#include <algorithm>
#include <cstring>

#include "engine/core/content_hash.h"
#include "engine/core/result.h"
#include "engine/data/bad_samples.h"

namespace lockstep {

namespace {

constexpr std::size_t kImage = 0, kLabel = 1;  // fields, see imageFields()

}  // namespace

CutPictures::CutPictures(DatasetInfo info, std::shared_ptr<const PictureSource> source,
                         std::vector<std::int32_t> labels, const ImageRule& rule)
    : m_info(std::move(info)), m_source(std::move(source)), m_labels(std::move(labels)), m_rule(rule) {
    m_info.count = std::ssize(m_labels);
    m_info.isCut = true;
    m_info.seenShare = rule.share;
    m_info.interpolation = rule.interpolation;
    m_info.decodesExactly = rule.decode == Decode::Exact;
}

void CutPictures::read(std::int64_t index, std::span<const std::span<std::byte>> into) const {
    readCut(index, into, [this](int height, int width) { return m_rule.middle(height, width); });
}

void CutPictures::readCut(std::int64_t index, std::span<const std::span<std::byte>> into, const ChooseCut& cut) const {
    const std::span<std::byte> image = into[kImage], label = into[kLabel];
    if (!label.empty()) std::memcpy(label.data(), &m_labels[static_cast<std::size_t>(index)], sizeof(std::int32_t));
    if (image.empty()) return;
    try {
        cutPicture([&](const DecodeWish& wish, DecodedPart& part) { m_source->read(index, wish, part); }, m_rule, cut,
                   {reinterpret_cast<std::uint8_t*>(image.data()), image.size()});
    } catch (const ProblemError& error) {
        if (error.problem().code == "picture-index.damaged") throw;  // it would be so with all of them
        throw UnreadableSample(error.problem());
    }
}

std::optional<std::uint64_t> CutPictures::fingerprint() const {
    constexpr std::int64_t kMost = 64;
    ContentHash hash;
    hash.add(text(m_info.fields));
    hash.add(m_source->identity());
    const std::int64_t taken = std::min(m_info.count, kMost);
    for (std::int64_t i = 0; i < taken; ++i) {
        const auto content = m_source->contentOf(taken > 1 ? i * (m_info.count - 1) / (taken - 1) : 0);
        if (!content) return std::nullopt;
        hash.add(*content);
    }
    return hash.value();
}

const std::byte* CutPictures::resident(std::int64_t index, std::size_t field) const {
    return field == kLabel ? reinterpret_cast<const std::byte*>(&m_labels[static_cast<std::size_t>(index)]) : nullptr;
}

}  // namespace lockstep
