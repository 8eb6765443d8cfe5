#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/listing.h"
#include "engine/data/dataset.h"
#include "engine/model/registry.h"
#include "engine/spec/evaluation.h"

namespace lockstep {

// An evaluation in words, as JSON and as tables. Class names are made printable() for the terminal and kept elsewhere.
struct EvaluationText {
    const Evaluation& evaluation;
    const std::vector<std::string>& classes;
    const ModelEntry& model;
    const Dataset* data = nullptr;  // names the files of its samples; null: nobody does
};
// ", 2 files left out", or nothing.
std::string leftOutText(const Evaluation& evaluation);
std::string evaluationReport(const EvaluationText& text);
std::string evaluationJson(const EvaluationText& text, Json remarks);  // one line
// `table`: "classes", "confusion", "samples". Rows of RFC 4180, with a header.
std::string evaluationCsv(const EvaluationText& text, const std::string& table);
// Why there will be no such table of a model that knows these classes: "evaluate.no-classes", "evaluate.many-classes";
// empty: there will.
std::optional<Problem> missingTable(const std::string& table, const ModelEntry& model,
                                    const std::vector<std::string>& classes);

}  // namespace lockstep
