#include "app/plain_run.h"

#include "engine/train/weights.h"

namespace lockstep {

namespace fs = std::filesystem;

Result<RunResult> runPlainly(const PlainRun& request, const Environment& environment) {
    const auto resolved = resolve(request.spec, environment);
    if (!resolved.ok()) return resolved.problems();
    auto data = openData(resolved.value(), *request.control, request.sinks);
    if (!data.ok()) return data.problems();
    auto problems = request.resumeFrom
                        ? compareData(*request.resumeFrom, resolved.value(), request.changedData, data.value())
                        : weightsProblems(resolved.value(), data.value().train->info());
    if (!problems.empty()) return problems;
    if (!request.checkpointFolder.empty()) {
        std::error_code failed;
        fs::create_directories(request.checkpointFolder, failed);
        if (failed) return Problem{request.checkpointFolder.string(), "out.unwritable", {failed.message()}};
    }
    RunOptions options;
    options.checkpointFolder = request.checkpointFolder;
    options.resumeFrom = request.resumeFrom;
    options.onStuck = request.onStuck;
    options.learningRate = request.learningRate;
    return runTrial(resolved.value(), data.value(), options, *request.control, request.sinks);
}

}  // namespace lockstep
