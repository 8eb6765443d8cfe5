#pragma once
#include <string>
#include <vector>

#include "datasets/class_folders.h"

namespace lockstep {

// A picture with its class by name, where something else than a folder says it.
struct NamedPicture {
    LabelledFile file;
    std::string className;
};

struct NamedSplits {
    std::vector<NamedPicture> train, test, validation;
};

// The classes that occur, sorted: by their value if all are numbers, else bytewise.
std::vector<std::string> classesOf(const std::vector<NamedPicture>& pictures);

// With their labels, by class, then by name. Throws ProblemError "picture.unknown-class".
std::vector<LabelledFile> labelled(std::vector<NamedPicture> pictures, const std::vector<std::string>& classes);

// The classes of those to train on, and the splits: without one for testing, that for validation is it, or a share of
// each class is held out.
void addSplits(FolderScan& scan, NamedSplits splits, double testShare);

}  // namespace lockstep
