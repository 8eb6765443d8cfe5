#include "engine/spec/devices.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace lockstep {

namespace {

constexpr int kMaxDevices = 256;
constexpr int kMaxThreads = 1024;

[[noreturn]] void syntax(std::string_view text) {
    throw ProblemError({"devices", "devices.syntax", {std::string(text)}});
}

int wholeNumber(std::string_view digits, std::string_view text, int most) {
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || end != digits.data() + digits.size() || value < 0) {
        if (error == std::errc::result_out_of_range) value = most + 1;
        else syntax(text);
    }
    if (value > most || error == std::errc::result_out_of_range) {
        throw ProblemError({"devices", "devices.too-many", {std::string(digits), std::to_string(most)}});
    }
    return value;
}

// "2" or "2x1": devices that share the cores.
std::vector<DeviceChoice> shares(std::string_view text, std::string_view rest, const DeviceInfo& info) {
    const auto cross = rest.find('x');
    const int count = wholeNumber(rest.substr(0, cross), text, kMaxDevices);
    const int cores = std::max(1, info.cores > 0 ? info.cores : permittedCores());
    if (count == 0) syntax(text);
    int threads = std::max(1, cores / count);
    if (cross != rest.npos) threads = wholeNumber(rest.substr(cross + 1), text, kMaxThreads);
    if (threads == 0) syntax(text);
    if (threads > cores) {
        throw ProblemError({"devices", "devices.too-many-threads", {std::to_string(threads), std::to_string(cores)}});
    }
    std::vector<DeviceChoice> out;
    for (int i = 0; i < count; ++i) {
        out.push_back(
            {info.backend, i, threads, count > 1 && count * threads > cores, info.backend + ":" + std::to_string(i)});
    }
    return out;
}

// "0,1", "0,0" or "all": cards by their ordinal.
std::vector<DeviceChoice> cards(std::string_view text, std::string_view rest, const std::vector<DeviceInfo>& infos) {
    std::vector<std::string> wanted;
    const std::string prefix = infos.front().backend + ":";
    if (rest == "all") {
        for (const auto& info : infos) wanted.push_back(info.id);
    } else {
        for (std::size_t at = 0; at <= rest.size();) {
            const auto comma = std::min(rest.find(',', at), rest.size());
            wanted.push_back(prefix + std::to_string(wholeNumber(rest.substr(at, comma - at), text, 1 << 20)));
            at = comma + 1;
        }
    }
    if (wanted.size() > kMaxDevices) {
        throw ProblemError(
            {"devices", "devices.too-many", {std::to_string(wanted.size()), std::to_string(kMaxDevices)}});
    }
    std::vector<DeviceChoice> out;
    for (const auto& id : wanted) {
        if (std::ranges::find(infos, id, &DeviceInfo::id) == infos.end()) {
            std::string known;
            for (const auto& info : infos) known += (known.empty() ? "" : ", ") + info.id;
            throw ProblemError({"devices", "devices.no-such-card", {id, known}});
        }
        const int ordinal = wholeNumber(std::string_view(id).substr(prefix.size()), text, 1 << 20);
        out.push_back({infos.front().backend, ordinal, 1, std::ranges::count(wanted, id) > 1, id});
    }
    return out;
}

std::vector<DeviceInfo> ofBackend(const DeviceRequest& request, std::string_view backend) {
    std::vector<DeviceInfo> out;
    for (const auto& info : request.available) {
        if (info.backend == backend) out.push_back(info);
    }
    return out;
}

bool isCard(const DeviceInfo& info) { return info.id.find(':') != std::string::npos; }

Problem unknownBackend(std::string_view backend, const DeviceRequest& request) {
    std::vector<std::string> names;
    for (const auto& info : request.available) {
        if (std::ranges::find(names, info.backend) == names.end()) names.push_back(info.backend);
    }
    std::string known;
    for (const auto& name : names) known += (known.empty() ? "" : ", ") + name;
    return {"devices", "devices.unknown-backend", {std::string(backend), known}};
}

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const auto& word : words) out += (out.empty() ? "" : ",") + word;
    return out;
}

}  // namespace

std::string namedDevices(std::string_view text, const DeviceRequest& request) {
    if (text != kAutomaticDevices) return std::string(text);
    const auto card = std::ranges::find_if(request.available, isCard);
    return card == request.available.end() ? "cpu:1" : card->backend + ":all";
}

Result<std::string> withDeviceCount(std::string_view text, int count, const DeviceRequest& request) {
    const auto now = parseDevices(text, request);
    if (!now.ok()) return now.problems();
    const std::string backend = now.value().front().backend;
    const auto infos = ofBackend(request, backend);
    if (!isCard(infos.front())) {
        const auto cross = text.find('x', text.find(':') + 1);
        const auto threads = cross == text.npos ? std::string_view() : text.substr(cross);
        return backend + ":" + std::to_string(count) + std::string(threads);
    }
    std::vector<std::string> cards;
    for (const auto& device : now.value()) cards.push_back(std::to_string(device.index));
    for (const auto& info : infos) {
        const auto card = info.id.substr(info.id.find(':') + 1);
        if (std::ranges::find(cards, card) == cards.end()) cards.push_back(card);
    }
    if (static_cast<std::size_t>(count) > cards.size())
        return Problem{"devices", "devices.no-more-cards", {std::to_string(count), std::to_string(cards.size())}};
    cards.resize(static_cast<std::size_t>(count));
    return backend + ":" + joined(cards);
}

Result<std::vector<DeviceChoice>> parseDevices(std::string_view text, const DeviceRequest& request) {
    if (text == kAutomaticDevices) return parseDevices(namedDevices(text, request), request);
    const auto colon = text.find(':');
    const auto backend = text.substr(0, colon);
    const auto infos = ofBackend(request, backend);
    if (infos.empty()) {
        const auto missing = std::ranges::find(request.missing, backend, [](const auto& row) { return row.first; });
        if (missing == request.missing.end()) return unknownBackend(backend, request);
        // The second problem is the backend's own reason.
        return std::vector<Problem>{{"devices", "devices.unavailable", {std::string(backend)}}, missing->second};
    }
    const bool haveCards = isCard(infos.front());
    const auto rest = colon == text.npos ? std::string_view(haveCards ? "0" : "1") : text.substr(colon + 1);
    if (rest.find(':') != rest.npos) return Problem{"devices", "devices.mixed", {std::string(text)}};
    try {
        return haveCards ? cards(text, rest, infos) : shares(text, rest, infos.front());
    } catch (const ProblemError& error) {
        return error.problem();
    }
}

}  // namespace lockstep
