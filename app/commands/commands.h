#pragma once
#include <span>

#include "app/context.h"

namespace lockstep {

void addDevices(CLI::App& program, Run& run);
void addDatasets(CLI::App& program, Run& run);
void addInspect(CLI::App& program, Run& run);
void addModels(CLI::App& program, Run& run);
void addTrain(CLI::App& program, Run& run);
void addBench(CLI::App& program, Run& run);
void addFindRate(CLI::App& program, Run& run);
void addFindBatch(CLI::App& program, Run& run);
void addCheck(CLI::App& program, Run& run);
void addProve(CLI::App& program, Run& run);
void addEvaluate(CLI::App& program, Run& run);
void addPredict(CLI::App& program, Run& run);
void addExportWeights(CLI::App& program, Run& run);
void addProgram(CLI::App& program, Run& run);
void addServe(CLI::App& program, Run& run);
void addProbePlugin(CLI::App& program, Run& run);

// Those that need the history and sessions; only in the full build.
void addTrials(CLI::App& program, Run& run);
void addShow(CLI::App& program, Run& run);
void addDelete(CLI::App& program, Run& run);
void addDisk(CLI::App& program, Run& run);
void addImport(CLI::App& program, Run& run);
void addResume(CLI::App& program, Run& run);
void addAttach(CLI::App& program, Run& run);
void addStop(CLI::App& program, Run& run);
void addPause(CLI::App& program, Run& run);
void addScaleTo(CLI::App& program, Run& run);
void addBalance(CLI::App& program, Run& run);
void addCard(CLI::App& program, Run& run);
void addExport(CLI::App& program, Run& run);
void addDoctor(CLI::App& program, Run& run);
void addSweep(CLI::App& program, Run& run);
void addSweeps(CLI::App& program, Run& run);
void addImportance(CLI::App& program, Run& run);
void addReport(CLI::App& program, Run& run);
void addQueue(CLI::App& program, Run& run);

// The explicit list of this build's commands, in the order of --help. One implementation per kind of build.
std::span<const AddCommand> allCommands();

}  // namespace lockstep
