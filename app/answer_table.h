#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "engine/spec/evaluation.h"

namespace lockstep {

// What a model says of samples as a table for the terminal, whose rows come one by one: the name of a sample, then its
// likeliest classes with their probabilities. Widths are settled before the first row: of a name that is too long the
// end is shown, of a class the beginning. Texts are made printable(). `classes` outlive it.
class AnswerTable {
public:
    static constexpr int kMostNameColumns = 60, kMostClassColumns = 24;

    // `top`: at most as many as there are classes. `nameColumns`: that the longest name takes, as far as it is known.
    AnswerTable(const std::vector<std::string>& classes, std::size_t top, int nameColumns);

    // Lines with their ends.
    std::string head() const;
    std::string row(const std::string& name, const Answer& answer) const;
    std::string row(const std::string& name, const std::string& why) const;  // of a sample that has no answer

private:
    std::string nameCell(const std::string& name) const;
    std::string answerCells(const std::string& className, const std::string& probability) const;

    const std::vector<std::string>& m_classes;
    std::size_t m_top;
    int m_nameColumns, m_classColumns;
};

}  // namespace lockstep
