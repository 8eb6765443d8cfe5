#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"

namespace lockstep {

// Problems as sentences, from the catalogue in resources/messages.
class Words {
public:
    Words();  // of the catalogue in the program

    // One sentence that names file, field and value, which are made printable(). A code without an entry gives the code
    // and its values.
    std::string what(const Problem& problem) const;
    std::string remedy(const Problem& problem) const;  // what to do; empty: nothing known

    // Both, for the terminal: "lockstep: batch: 7 is …" and an indented line with the remedy; each problem in turn.
    std::string report(const std::vector<Problem>& problems) const;

private:
    std::string withInner(const std::string& sentence, const Problem& problem) const;

    struct Entry {
        std::string what, remedy;
    };
    std::map<std::string, Entry, std::less<>> m_entries;
};

// Replaces {field} and {0}, {1}… in a sentence of the catalogue by what is printable() of them.
std::string fillIn(std::string_view sentence, const Problem& problem);

// What is told with "{2+}": another problem whose code, field and values are the arguments from that one on.
Problem problemWithin(const Problem& problem, std::size_t first);

}  // namespace lockstep
