#include "app/status_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "app/format.h"

namespace lockstep {

StatusLine::StatusLine() : m_shows(isatty(STDERR_FILENO)) {}

StatusLine::~StatusLine() { say(""); }

void StatusLine::say(const std::string& text) const {
    if (m_shows) fmt::print(stderr, "\r\033[K{}", text);
}

void StatusLine::show(std::int64_t done, std::int64_t total) const {
    say(fmt::format("{} of {}", countText(done), samplesText(total)));
}

}  // namespace lockstep
