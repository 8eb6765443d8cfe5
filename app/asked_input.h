#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/model_source.h"
#include "datasets/asked_samples.h"

namespace lockstep {

// What `lockstep predict` is asked about, by paths and on the standard input.

// Of texts; a model of anything else reads images.
bool readsTexts(const OpenedModel& model);

// Of each path its samples, and of "-" those of the standard input: of a path, or a text, on each line. What cannot be
// found is a sample with its problem; a blank line in a list of paths is none, but counted.
struct AskedFor {
    std::vector<AskedSample> samples;
    std::int64_t blankLines = 0;

    bool findsAny() const;  // a sample that is there, whether it can be read or not
};
AskedFor askedFor(const std::vector<std::string>& paths, const OpenedModel& model);

// Line `number` of the standard input, from 1; false at its end.
bool readLine(std::string& line, std::int64_t number);
// Of a line one sample, whatever it says: who asks by lines counts the answers by them.
AskedSample sampleOfLine(const std::string& line, std::int64_t number, const OpenedModel& model);

}  // namespace lockstep
