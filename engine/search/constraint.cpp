#include "engine/search/constraint.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace lockstep {

// A number, a setting, or two of them with a sign between.
struct Constraint::Node {
    char sign = 0;  // + - * /; 0: a leaf
    double number = 0;
    std::string path;  // of a leaf; empty: the number
    std::shared_ptr<const Node> left, right;

    double value(const std::function<double(const std::string&)>& of) const {
        if (!sign) return path.empty() ? number : of(path);
        const double a = left->value(of), b = right->value(of);
        switch (sign) {
            case '+': return a + b;
            case '-': return a - b;
            case '*': return a * b;
            default: return a / b;
        }
    }
};

namespace {

using NodePtr = std::shared_ptr<const Constraint::Node>;

constexpr int kMostNested = 50;

bool isPathStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isPathPart(char c) { return isPathStart(c) || (c >= '0' && c <= '9') || c == '.'; }

struct Wanted {
    std::size_t at;
    const char* what;
};

// Recursive descent. Throws Wanted.
class Parser {
public:
    explicit Parser(std::string_view text) : m_text(text) {}

    NodePtr sum() {
        return chain("+-", [this] { return product(); });
    }

    std::string compare() {
        static constexpr std::array<std::string_view, 6> kSigns{"<=", ">=", "==", "!=", "<", ">"};
        skip();
        for (const std::string_view sign : kSigns) {
            if (!m_text.substr(m_at).starts_with(sign)) continue;
            m_at += sign.size();
            return std::string(sign);
        }
        throw Wanted{m_at, "<, <=, >, >=, == or !="};
    }

    void end() {
        skip();
        if (m_at < m_text.size()) throw Wanted{m_at, "the end"};
    }

    std::vector<std::string> paths;

private:
    template <class Part>
    NodePtr chain(std::string_view signs, const Part& part) {
        NodePtr left = part();
        for (skip(); m_at < m_text.size() && signs.find(m_text[m_at]) != signs.npos; skip()) {
            const char sign = m_text[m_at++];
            left = std::make_shared<Constraint::Node>(Constraint::Node{sign, 0, {}, left, part()});
        }
        return left;
    }

    NodePtr product() {
        return chain("*/", [this] { return leaf(); });
    }

    NodePtr leaf() {
        skip();
        if (m_at == m_text.size()) throw Wanted{m_at, "a number or a setting"};
        const char c = m_text[m_at];
        if (c == '(') return nested();
        if (isPathStart(c)) return setting();
        double number = 0;
        const auto [end, failed] = std::from_chars(m_text.data() + m_at, m_text.data() + m_text.size(), number);
        if (failed != std::errc() || !std::isfinite(number)) throw Wanted{m_at, "a number or a setting"};
        m_at = static_cast<std::size_t>(end - m_text.data());
        return std::make_shared<Constraint::Node>(Constraint::Node{0, number, {}, {}, {}});
    }

    NodePtr nested() {
        if (++m_depth > kMostNested) throw Wanted{m_at, "fewer parentheses"};
        ++m_at;
        NodePtr inside = sum();
        skip();
        if (m_at == m_text.size() || m_text[m_at] != ')') throw Wanted{m_at, ")"};
        ++m_at;
        --m_depth;
        return inside;
    }

    NodePtr setting() {
        const std::size_t begin = m_at;
        while (m_at < m_text.size() && isPathPart(m_text[m_at])) ++m_at;
        std::string path(m_text.substr(begin, m_at - begin));
        if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
        return std::make_shared<Constraint::Node>(Constraint::Node{0, 0, std::move(path), {}, {}});
    }

    void skip() {
        while (m_at < m_text.size() && m_text[m_at] == ' ') ++m_at;
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    int m_depth = 0;
};

}  // namespace

Result<Constraint> Constraint::parse(std::string_view text, const std::string& field) {
    Parser parser(text);
    Constraint constraint;
    try {
        constraint.m_left = parser.sum();
        constraint.m_compare = parser.compare();
        constraint.m_right = parser.sum();
        parser.end();
    } catch (const Wanted& wanted) {
        return Problem{field, "search.constraint", {std::string(text), std::to_string(wanted.at + 1), wanted.what}};
    }
    constraint.m_text = text;
    constraint.m_paths = std::move(parser.paths);
    return constraint;
}

bool Constraint::holds(const std::function<double(const std::string& path)>& value) const {
    const double a = m_left->value(value), b = m_right->value(value);
    if (std::isnan(a) || std::isnan(b)) return true;
    if (m_compare == "<=") return a <= b;
    if (m_compare == ">=") return a >= b;
    if (m_compare == "<") return a < b;
    if (m_compare == ">") return a > b;
    return (a == b) == (m_compare == "==");
}

}  // namespace lockstep
