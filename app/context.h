#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

#include "app/exit_codes.h"
#include "app/host_environment.h"
#include "app/words.h"
#include "engine/train/plan_run.h"

namespace lockstep {

// What the commands share. The machine is looked at on first need, so that `lockstep trials` opens no backend.
class Context {
public:
    // With `json`, report() also writes {"problems":[…]} as a line to the standard output.
    explicit Context(bool json) : m_json(json) {}

    const Environment& environment() { return host().environment; }
    const std::vector<PluginReport>& plugins() { return host().plugins; }
    const Words& words() const { return m_words; }

    // Writes the problems to the standard error; returns the exit status that fits them.
    int report(const std::vector<Problem>& problems) const;

    // With precision=auto: measures the model on samples of such data, as a run does that begins, and says on the
    // standard error what it comes to.
    void choosePrecision(ResolvedSpec& resolved, const DatasetInfo& data) const;

private:
    const HostEnvironment& host() {
        if (!m_host) m_host = discover(foldersOfThisBuild());
        return *m_host;
    }

    Words m_words;
    bool m_json;
    std::unique_ptr<HostEnvironment> m_host;
};

// What parsing the command line decides on.
using Run = std::function<int(Context& context)>;

// Each adds one subcommand; where it is the one given, `run` becomes it.
using AddCommand = void (*)(CLI::App& program, Run& run);

}  // namespace lockstep
