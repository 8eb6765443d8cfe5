#pragma once
#include <string>

#include "engine/report/blocks.h"
#include "engine/spec/train_event.h"

namespace lockstep::report {

// A table of names, and what each is.
class NamedRows {
public:
    void add(const std::string& name, Line value) { m_table.rows.push_back({Line({strong(name)}), std::move(value)}); }
    Block table() && { return {std::move(m_table)}; }

private:
    TextTable m_table;
};

// What trained, on which machine and devices, as a run has said it.
void addMachine(NamedRows& rows, const RunStarted& started);

}  // namespace lockstep::report
