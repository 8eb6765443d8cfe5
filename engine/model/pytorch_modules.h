#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// What becomes a class of PyTorch's: its layers, and what its forward computes, in order. Texts are Python, in which
// values and numbers that may differ between two blocks of one kind stand as marks.
struct PytorchModule {
    struct Layer {
        std::string name, text;            // "conv1", "nn.Conv2d(…)"
        std::optional<std::size_t> child;  // in place of a text: one of `children`
    };
    struct Result {
        std::size_t value;
        std::string expression;  // of valueMark()s
        bool isHeavy = false;    // a line computes one such thing
    };

    std::string path;  // what its tensors' names begin with: "block1/"; "" for the whole
    std::vector<Layer> layers;
    std::vector<PytorchModule> children;
    std::vector<Result> results;
    std::vector<std::size_t> inputs;           // values, in the order of forward's parameters
    std::map<std::size_t, std::string> names;  // of inputs that have one already
    std::size_t result = 0;                    // the value that forward returns

    static std::string valueMark(std::size_t value);
    static std::string width(std::int64_t number);  // channels, features
    static std::string stride(std::int64_t number);
};

// A class for each kind of child, those first that others are made of, and `Net` for the whole. Children whose texts
// differ in marked numbers alone are of one kind, which takes what differs as parameters.
std::string pythonClasses(PytorchModule whole);

// One part of a name as an attribute's: as it is where Python has no objection.
std::string pythonName(const std::string& part);
// All parts, with dots: "block1/conv1/weight" -> "block1.conv1.weight".
std::string pythonPath(const std::string& name);

}  // namespace lockstep
