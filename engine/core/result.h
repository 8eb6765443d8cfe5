#pragma once
#include <cassert>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// What a person can repair: which field or file, a stable code, and the values behind it. The words are made far above,
// from the catalogue in resources/messages ("code" -> sentence and remedy, with {0}, {1}... for args).
struct Problem {
    std::string field;              // "batch", "dataset.path", or a file name
    std::string code;               // "spec.out-of-range", "idx.truncated"
    std::vector<std::string> args;  // values, in the catalogue's order

    bool operator==(const Problem&) const = default;
};

// The one exception that carries a Problem: thrown where returning a Result would bury the algorithm (deep in a parser
// or a model's builder), always caught at the public function that returns the Result.
class ProblemError : public std::runtime_error {
public:
    explicit ProblemError(Problem problem) : std::runtime_error(problem.code), m_problem(std::move(problem)) {}
    const Problem& problem() const { return m_problem; }

private:
    Problem m_problem;
};

// A T, or the problems (at least one) that prevented it.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : m_value(std::move(value)) {}
    Result(Problem problem) { m_problems.push_back(std::move(problem)); }
    Result(std::vector<Problem> problems) : m_problems(std::move(problems)) { assert(!m_problems.empty()); }

    bool ok() const { return m_value.has_value(); }
    T& value() & {
        assert(ok());
        return *m_value;
    }
    const T& value() const& {
        assert(ok());
        return *m_value;
    }
    T&& value() && {
        assert(ok());
        return std::move(*m_value);
    }
    const std::vector<Problem>& problems() const { return m_problems; }

private:
    std::optional<T> m_value;
    std::vector<Problem> m_problems;
};

}  // namespace lockstep
