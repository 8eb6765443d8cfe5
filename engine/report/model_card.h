#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/history/trial_query.h"
#include "engine/report/blocks.h"
#include "engine/report/trial_series.h"

namespace lockstep::report {

// What the model must know of its data, as the history or a checkpoint says. Of texts, `tokens` each.
struct CardData {
    std::vector<std::string> classes;  // empty: not known; of a language: of its tokens, which nobody reads
    int channels = 0, height = 0, width = 0, tokens = 0;
    std::vector<float> mean, deviation;  // by channel, of pixels of 0 to 1
    std::optional<DataFingerprint> fingerprint = {};
};
struct CardCheckpoint {
    std::string role, file;  // "last", "best", "epoch-7"
    std::int64_t step = 0;
};
// All that a card is made of, as plain values: whoever has the history and the checkpoints at hand fills it in. What is
// empty is not known, and the card says so, and which command would supply it.
struct CardFacts {
    TrialRow row;
    TrialSpec spec;
    std::string modelMeaning, task;     // of the model; text(ModelTask)
    std::optional<RunStarted> started;  // of the latest attempt
    std::vector<TrialSeries> series;
    std::vector<EvalCounts> counts;       // of the trial's own evaluations
    std::vector<Evaluation> evaluations;  // asked for afterwards, newest first
    std::vector<CardCheckpoint> checkpoints;
    std::vector<CardMessage> unreadable;  // of checkpoints that are there, and cannot be read
    std::optional<std::string> freedAt;   // when a person freed some or all of them; UTC as in TrialRow
    bool wroteCheckpoint = false;         // some attempt did, whether it is there or not
    std::optional<CardData> data;         // empty: nobody knows
    std::vector<CardMessage> messages;    // of the latest attempt: what was left out of the data, and why
    std::optional<CardMessage> failure;   // that ended it
    std::optional<TextSample> text;       // what a language model wrote last
    std::string program, writtenAt;       // who writes the card, and when: "Lockstep 0.1.0", UTC as in TrialRow
};

// What the model is, what it does and does not, class by class, how it came about, how to make it again and how to use
// it; and what it should not be trusted with, as far as that follows from the facts.
Document modelCard(const CardFacts& facts);

}  // namespace lockstep::report
