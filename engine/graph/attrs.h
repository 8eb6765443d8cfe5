#pragma once
#include <cassert>
#include <memory>
#include <string>
#include <typeinfo>

namespace lockstep {

// An op's own plain struct, immutable and shared. The struct needs operator== and a free function
// `std::string describe(const T&)` ("stride=2x2 pad=1x1"; "" when there is nothing to say) beside it.
class Attrs {
public:
    Attrs() = default;  // of an op without attributes
    template <class T>
    static Attrs of(T value) {
        Attrs attrs;
        attrs.m_held = std::make_shared<const Held<T>>(std::move(value));
        return attrs;
    }

    template <class T>
    const T& as() const {
        const auto* held = dynamic_cast<const Held<T>*>(m_held.get());
        assert(held && "an op was given another op's attributes");
        return held->value;
    }

    std::string text() const { return m_held ? m_held->text() : std::string(); }
    bool operator==(const Attrs& other) const {
        return m_held == other.m_held || (m_held && other.m_held && m_held->equals(*other.m_held));
    }

private:
    struct Base {
        virtual ~Base() = default;
        virtual std::string text() const = 0;
        virtual bool equals(const Base& other) const = 0;
    };
    template <class T>
    struct Held final : Base {
        explicit Held(T v) : value(std::move(v)) {}
        std::string text() const override { return describe(value); }
        bool equals(const Base& other) const override {
            const auto* same = dynamic_cast<const Held*>(&other);
            return same && same->value == value;
        }
        T value;
    };
    std::shared_ptr<const Base> m_held;
};

}  // namespace lockstep
