#pragma once
#include <string>
#include <vector>

#include "engine/data/batch_layout.h"
#include "plugins/lockstep_plugin.h"

namespace lockstep {

// The fields that a plugin declares, checked. Throws ProblemError, about `path`: "plugin.field-name",
// "plugin.field-type", "plugin.field-shape", "plugin.missing-field", "plugin.too-many-fields"; "plugin.wrong-table" for
// a struct of another size. A field has at most 64 MiB, so a sample at most LOCKSTEP_MOST_FIELDS times that.
std::vector<Field> fieldsOf(const lockstep_dataset_info& info, const std::string& dataset, const std::string& path);

}  // namespace lockstep
