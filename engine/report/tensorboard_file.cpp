#include "engine/report/tensorboard_file.h"

#include <array>
#include <bit>
#include <cstring>

#include "engine/core/proto_writer.h"

namespace lockstep {

namespace {

constexpr std::array<std::uint32_t, 256> makeTable() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1 ? 0x82f63b78u : 0);
        table[i] = value;
    }
    return table;
}

template <class T>
std::string bytesOf(T value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    return {bytes, sizeof value};
}

std::uint32_t masked(std::string_view bytes) {
    const std::uint32_t sum = crc32c(bytes);
    return std::rotr(sum, 15) + 0xa282ead8u;
}

void putRecord(std::string& out, const ProtoWriter& event) {
    const std::string length = bytesOf(static_cast<std::uint64_t>(event.text().size()));
    out += length + bytesOf(masked(length)) + event.text() + bytesOf(masked(event.text()));
}

// Event: wall_time 1, step 2, file_version 3, summary 5.
ProtoWriter eventAt(double time, std::int64_t step) {
    ProtoWriter event;
    event.number(1, time);
    event.integer(2, step);
    return event;
}

// Summary: repeated Value 1; Value: tag 1, simple_value 2.
ProtoWriter summaryOf(const TensorboardScalar& scalar) {
    ProtoWriter value, summary;
    value.bytes(1, scalar.tag);
    value.number(2, static_cast<float>(scalar.value));
    summary.message(1, value);
    return summary;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
    static constexpr auto kTable = makeTable();
    std::uint32_t sum = ~0u;
    for (const char byte : bytes) sum = (sum >> 8) ^ kTable[(sum ^ static_cast<unsigned char>(byte)) & 0xff];
    return ~sum;
}

std::string tensorboardFile(double begin, std::span<const TensorboardScalar> scalars) {
    std::string out;
    ProtoWriter version = eventAt(begin, 0);
    version.bytes(3, "brain.Event:2");
    putRecord(out, version);
    for (const TensorboardScalar& scalar : scalars) {
        ProtoWriter event = eventAt(scalar.time, scalar.step);
        event.message(5, summaryOf(scalar));
        putRecord(out, event);
    }
    return out;
}

}  // namespace lockstep
