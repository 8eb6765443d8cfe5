#include "engine/core/strict_json.h"

#include <optional>
#include <utility>
#include <vector>

namespace lockstep {

namespace {

using Json = nlohmann::json;

// Builds the value while the text is read; false ends the reading.
class Builder : public nlohmann::json_sax<Json> {
public:
    explicit Builder(const JsonLimits& limits) : m_limits(limits) {}

    Json root;
    std::optional<JsonFault> fault;

    bool null() override { return put(Json()); }
    bool boolean(bool value) override { return put(Json(value)); }
    bool number_integer(number_integer_t value) override { return put(Json(value)); }
    bool number_unsigned(number_unsigned_t value) override { return put(Json(value)); }
    bool number_float(number_float_t value, const string_t&) override { return put(Json(value)); }
    bool string(string_t& value) override { return put(Json(std::move(value))); }
    bool binary(binary_t&) override { return false; }  // not of a text
    bool start_object(std::size_t) override { return open(Json::object()); }
    bool start_array(std::size_t) override { return open(Json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(string_t& name) override {
        Level& level = m_open.back();
        if (level.value->size() >= m_limits.members) return stop({JsonFault::Kind::TooMany, 0, {}, {}});
        const auto [member, fresh] = level.value->get_ref<Json::object_t&>().emplace(name, nullptr);
        level.key = std::move(name);
        level.member = &member->second;
        return fresh || stop({JsonFault::Kind::DuplicateKey, 0, level.key, path()});
    }

    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
        return stop({JsonFault::Kind::Malformed, position, {}, {}});
    }

private:
    struct Level {
        Json* value = nullptr;
        Json* member = nullptr;  // of an object: whose key came last
        std::string key;
    };

    bool stop(JsonFault why) {
        fault = std::move(why);
        return false;
    }

    bool put(Json value) {
        if (m_open.size() > m_limits.depth) return stop({JsonFault::Kind::TooDeep, 0, {}, {}});
        return place(std::move(value)) != nullptr;
    }

    // Where the value stands from now on; nullptr: there is no room.
    Json* place(Json value) {
        Json* where = &root;
        if (!m_open.empty()) {
            const Level& level = m_open.back();
            if (level.value->is_array()) {
                auto& elements = level.value->get_ref<Json::array_t&>();
                if (elements.size() >= m_limits.members) return stop({JsonFault::Kind::TooMany, 0, {}, {}}), nullptr;
                where = &elements.emplace_back();
            } else {
                where = level.member;
            }
        }
        *where = std::move(value);
        return where;
    }

    bool open(Json value) {
        if (m_open.size() >= m_limits.depth) return stop({JsonFault::Kind::TooDeep, 0, {}, {}});
        Json* where = place(std::move(value));
        if (where) m_open.push_back({where, nullptr, {}});
        return where != nullptr;
    }

    bool close() {
        m_open.pop_back();
        return true;
    }

    std::string path() const {
        std::string path;
        for (const Level& each : m_open) {
            if (!each.key.empty()) path += (path.empty() ? "" : ".") + each.key;
        }
        return path;
    }

    const JsonLimits& m_limits;
    std::vector<Level> m_open;  // an array grows only while it is the last of them, so the pointers hold
};

}  // namespace

std::variant<nlohmann::json, JsonFault> parseStrictly(std::string_view text, const JsonLimits& limits) {
    Builder builder(limits);
    if (Json::sax_parse(text, &builder)) return std::move(builder.root);
    return builder.fault.value_or(JsonFault{JsonFault::Kind::Malformed, text.size(), {}, {}});
}

}  // namespace lockstep
