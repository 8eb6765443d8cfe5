#include "app/answer_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "app/format.h"

namespace lockstep {

namespace {

constexpr std::string_view kName = "SAMPLE", kProbability = "PROB.";

std::string classHeader(std::size_t place, std::size_t top) {
    return top == 1 ? "CLASS" : fmt::format("CLASS {}", place + 1);
}

int columnsOfClasses(const std::vector<std::string>& classes, std::size_t top) {
    int columns = columnsOf(classHeader(0, top));
    for (const std::string& name : classes) columns = std::max(columns, columnsOf(printable(name)));
    return std::min(columns, AnswerTable::kMostClassColumns);
}

}  // namespace

AnswerTable::AnswerTable(const std::vector<std::string>& classes, std::size_t top, int nameColumns)
    : m_classes(classes),
      m_top(top),
      m_nameColumns(std::clamp(nameColumns, columnsOf(kName), kMostNameColumns)),
      m_classColumns(columnsOfClasses(classes, top)) {}

std::string AnswerTable::head() const {
    std::string line = nameCell(std::string(kName));
    for (std::size_t i = 0; i < m_top; ++i) line += answerCells(classHeader(i, m_top), std::string(kProbability));
    return line + '\n';
}

std::string AnswerTable::row(const std::string& name, const Answer& answer) const {
    std::string line = nameCell(name);
    for (std::size_t i = 0; i < m_top; ++i)
        line +=
            answerCells(m_classes[static_cast<std::size_t>(answer.classes[i])], percentText(answer.probabilities[i]));
    return line + '\n';
}

std::string AnswerTable::row(const std::string& name, const std::string& why) const {
    return nameCell(name) + "  cannot be answered: " + why + '\n';
}

std::string AnswerTable::nameCell(const std::string& name) const {
    return padded(withoutBeginning(printable(name), m_nameColumns), m_nameColumns);
}

// "100.00 %" is the widest.
std::string AnswerTable::answerCells(const std::string& className, const std::string& probability) const {
    const std::string cell = padded(withoutEnd(printable(className), m_classColumns), m_classColumns);
    return fmt::format("  {}  {:>8}", cell, probability);
}

}  // namespace lockstep
