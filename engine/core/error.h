#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

namespace lockstep {

// What a person cannot repair in a form: driver, memory, disk, a broken invariant, a failed rank. Caught once per
// thread, at its top.
class EngineError : public std::runtime_error {
public:
    // CorruptedContext: of a card; nothing in this process can use it any longer, nor may rely on others of its kind.
    enum class Kind { Internal, OutOfMemory, Device, CorruptedContext, Collective, Io, NonFinite, Aborted };

    EngineError(Kind kind, std::string where, const std::string& what)
        : std::runtime_error(what), m_kind(kind), m_where(std::move(where)) {}

    Kind kind() const { return m_kind; }
    const std::string& where() const { return m_where; }  // "conv2d block3/conv1 on cpu:0"

private:
    Kind m_kind;
    std::string m_where;
};

std::string_view text(EngineError::Kind kind);  // "out-of-memory"; stable, used in events and in the history

}  // namespace lockstep
