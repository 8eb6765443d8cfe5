#include "app/commands/commands.h"

namespace lockstep {

std::span<const AddCommand> allCommands() {
    static constexpr AddCommand kCommands[] = {
        addTrain,   addResume,  addTrials,        addShow,     addAttach,     addPause,    addStop,
        addScaleTo, addBalance, addSweep,         addSweeps,   addImportance, addReport,   addQueue,
        addDelete,  addDisk,    addImport,        addDevices,  addModels,     addFindRate, addFindBatch,
        addBench,   addCheck,   addProve,         addDatasets, addInspect,    addEvaluate, addPredict,
        addCard,    addExport,  addExportWeights, addProgram,  addDoctor,     addServe,    addProbePlugin,
    };
    return kCommands;
}

}  // namespace lockstep
