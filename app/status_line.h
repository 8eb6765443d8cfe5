#pragma once
#include <cstdint>
#include <string>

namespace lockstep {

// What is going on, on a line of the standard error that goes when this does; nothing where that is no terminal.
class StatusLine {
public:
    StatusLine();
    ~StatusLine();
    StatusLine(const StatusLine&) = delete;
    StatusLine& operator=(const StatusLine&) = delete;

    // One thread at a time.
    void say(const std::string& text) const;
    void show(std::int64_t done, std::int64_t total) const;  // "640 of 6 000 samples"

private:
    bool m_shows;
};

}  // namespace lockstep
