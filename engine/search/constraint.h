#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"

namespace lockstep {

// What must hold between settings that are numbers: "batch / devices >= 16", "model.width <= 64 * model.heads".
// Sums, products, parentheses, and one of < <= > >= == !=. "devices" counts them.
class Constraint {
public:
    // Problems, at `field`: "search.constraint" (where, in the text, and what was wanted there).
    static Result<Constraint> parse(std::string_view text, const std::string& field);

    const std::string& text() const { return m_text; }
    const std::vector<std::string>& paths() const { return m_paths; }  // that it reads, each once
    // By the values of settings; NaN stands for one that is not set or is no number, and whatever asks about it holds.
    bool holds(const std::function<double(const std::string& path)>& value) const;
    bool operator==(const Constraint& other) const { return m_text == other.m_text; }

    struct Node;

private:
    std::string m_text;
    std::vector<std::string> m_paths;
    std::shared_ptr<const Node> m_left, m_right;
    std::string m_compare;
};

}  // namespace lockstep
