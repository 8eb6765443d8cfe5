#pragma once
#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "engine/spec/split.h"

namespace lockstep {

// Messages of JSON objects: one list of fields each, for writing and reading alike. Beside a struct X stands
//   void fields(auto& v, auto& e, const X*) { v("step", e.step), v("loss", e.loss); }
// in this namespace, where v is one of the two classes below. Members are numbers, flags, strings, splits, such
// structs, JsonText, and vectors and optionals of them. v.optional() leaves a member out where it is as it was made.

// JSON within JSON, as it is: a whole spec.
struct JsonText {
    std::string text = "null";
    bool operator==(const JsonText&) const = default;
};

// What a key holds is not what it should.
struct BadJsonField {
    std::string key;
};

// Appends to a text. NaN and infinities become null, invalid UTF-8 is replaced.
class JsonFieldWriter {
public:
    static constexpr bool kReads = false;
    explicit JsonFieldWriter(std::string& out) : m_out(out) {}

    void operator()(std::string_view key, const auto& value) {
        if (m_out.back() != '{') m_out += ',';
        m_out += '"';
        m_out += key;
        m_out += "\":";
        put(value);
    }
    template <class T>
    void operator()(std::string_view key, const std::optional<T>& value) {
        if (value) (*this)(key, *value);
    }
    template <class T>
    void optional(std::string_view key, const T& value) {
        if (value != T()) (*this)(key, value);
    }

    template <class T>
    void put(const T& value) {
        if constexpr (std::is_same_v<T, bool>) m_out += value ? "true" : "false";
        else if constexpr (std::is_arithmetic_v<T>) putNumber(value);
        else if constexpr (std::is_same_v<T, JsonText>) m_out += value.text;
        else if constexpr (std::is_same_v<T, Split>) putText(text(value));
        else if constexpr (std::is_convertible_v<T, std::string_view>) putText(value);
        else putObject(value);
    }
    template <class T>
    void put(const std::vector<T>& values) {
        m_out += '[';
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (i > 0) m_out += ',';
            put(values[i]);
        }
        m_out += ']';
    }
    template <class... T>
    void put(const std::variant<T...>& value) {
        std::visit([this](const auto& each) { put(each); }, value);
    }

private:
    template <class T>
    void putNumber(T value) {
        if constexpr (std::is_floating_point_v<T>) {
            if (!std::isfinite(value)) {
                m_out += "null";
                return;
            }
        }
        char buffer[32];
        m_out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
    }
    void putText(std::string_view value) {
        m_out += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
    template <class T>
    void putObject(const T& value) {
        m_out += '{';
        fields(*this, value, static_cast<const T*>(nullptr));
        m_out += '}';
    }

    std::string& m_out;
};

// Reads an object. Absent keys keep what they were made with, so that a newer version may read what an older one
// wrote; keys that nobody asks for are passed over. Throws BadJsonField.
class JsonFieldReader {
public:
    static constexpr bool kReads = true;
    explicit JsonFieldReader(const nlohmann::json& object) : m_object(object) {}

    void operator()(std::string_view key, auto& value) {
        const auto found = m_object.find(key);
        if (found != m_object.end()) get(key, *found, value);
    }
    void optional(std::string_view key, auto& value) { (*this)(key, value); }

private:
    using Json = nlohmann::json;

    template <class T>
    static void get(std::string_view key, const Json& json, T& value) {
        if constexpr (std::is_same_v<T, bool>) value = (require(key, json.is_boolean()), json.get<bool>());
        else if constexpr (std::is_integral_v<T>) getWhole(key, json, value);
        else if constexpr (std::is_floating_point_v<T>) getNumber(key, json, value);
        else if constexpr (std::is_same_v<T, JsonText>)
            value.text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
        else if constexpr (std::is_same_v<T, std::string>)
            value = (require(key, json.is_string()), json.get<std::string>());
        else if constexpr (std::is_same_v<T, Split>) getSplit(key, json, value);
        else getObject(key, json, value);
    }
    template <class T>
    static void get(std::string_view key, const Json& json, std::vector<T>& values) {
        require(key, json.is_array());
        values.clear();
        for (const auto& each : json) get(key, each, values.emplace_back());
    }
    template <class T>
    static void get(std::string_view key, const Json& json, std::optional<T>& value) {
        get(key, json, value.emplace());
    }
    // Of the kind that it holds already.
    template <class... T>
    static void get(std::string_view key, const Json& json, std::variant<T...>& value) {
        std::visit([&](auto& each) { get(key, json, each); }, value);
    }

    static void require(std::string_view key, bool holds) {
        if (!holds) throw BadJsonField{std::string(key)};
    }
    template <class T>
    static void getWhole(std::string_view key, const Json& json, T& value) {
        if (json.is_number_float()) return getWholeFloat(key, json.get<double>(), value);
        require(key, json.is_number_integer());
        require(key, json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                               : std::in_range<T>(json.get<std::int64_t>()));
        value = json.get<T>();
    }
    // 200.0, as programs write it that have divided.
    template <class T>
    static void getWholeFloat(std::string_view key, double number, T& value) {
        constexpr double kExact = 1ll << 53;
        require(key, std::trunc(number) == number && std::abs(number) <= kExact);
        require(key, std::in_range<T>(static_cast<std::int64_t>(number)));
        value = static_cast<T>(number);
    }
    template <class T>
    static void getNumber(std::string_view key, const Json& json, T& value) {
        require(key, json.is_null() || json.is_number());
        value = json.is_null() ? std::numeric_limits<T>::quiet_NaN() : json.get<T>();
    }
    static void getSplit(std::string_view key, const Json& json, Split& value) {
        const auto split = json.is_string() ? splitFrom(json.get_ref<const std::string&>()) : std::nullopt;
        require(key, split.has_value());
        value = *split;
    }
    template <class T>
    static void getObject(std::string_view key, const Json& json, T& value) {
        require(key, json.is_object());
        JsonFieldReader nested(json);
        fields(nested, value, static_cast<const T*>(nullptr));
    }

    const Json& m_object;
};

}  // namespace lockstep
