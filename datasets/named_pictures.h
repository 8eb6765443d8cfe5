#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "datasets/class_folders.h"
#include "engine/spec/split.h"

namespace lockstep {

// Pictures with their classes by name, where something else than a folder says them.
class NamedPictures {
public:
    explicit NamedPictures(std::shared_ptr<FileNames> names) : m_files(std::move(names)) {}
    void add(FileEntry file, const std::string& className);

    bool empty() const { return m_files.empty(); }
    const FileList& files() const { return m_files; }  // labelled by the places of their classes
    std::vector<std::string>& classNames() { return m_classNames; }
    const std::vector<std::string>& classNames() const { return m_classNames; }  // each of them occurs

    // With their labels, by class, then by name. Throws ProblemError "picture.unknown-class".
    FileList labelled(const std::vector<std::string>& classes) &&;

private:
    FileList m_files;
    std::vector<std::string> m_classNames;
    std::map<std::string, std::int32_t> m_places;  // in them
};

struct NamedSplits {
    explicit NamedSplits(const std::shared_ptr<FileNames>& names) : train(names), test(names), validation(names) {}
    NamedPictures& of(Split split) { return split == Split::Train ? train : split == Split::Test ? test : validation; }
    NamedPictures train, test, validation;
};

// The classes that occur, sorted: by their value if all are numbers, else bytewise.
std::vector<std::string> classesOf(const NamedPictures& pictures);

// The classes of those to train on, and the splits: without one for testing, that for validation is it, or a share of
// each class is held out.
void addSplits(FolderScan& scan, NamedSplits splits, double testShare);

}  // namespace lockstep
