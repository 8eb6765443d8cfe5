#include <algorithm>
#include <array>
#include <cstdio>

#include "engine/core/bytes_text.h"
#include "engine/core/number_text.h"
#include "engine/report/card_sections.h"
#include "engine/report/machine_rows.h"
#include "engine/spec/precision_text.h"
#include "engine/spec/shell_words.h"
#include "engine/spec/trial_fields.h"

// What went into the model: data, settings, machine; how to make it again, and what to do with it.

namespace lockstep::report {

namespace {

constexpr std::size_t kListedNames = 20;

std::string numbersText(const std::vector<float>& numbers) {
    std::vector<std::string> words;
    for (const float each : numbers) words.push_back(formatted("%.4g", static_cast<double>(each)));
    return joinedText(words);
}

// The order in which the model wants them; that of every dataset here.
std::string channelsText(int channels) {
    if (channels == 1) return "grey";
    return channels == 3 ? "red, green, blue" : std::to_string(channels) + " channels";
}

std::string contentText(std::uint64_t content) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(content));
    return text.data();
}

void addShape(NamedRows& rows, const CardData& data) {
    if (data.height > 0) {
        rows.add("Size", std::to_string(data.height) + " x " + std::to_string(data.width) + " pixels (height x width)");
        rows.add("Channels", channelsText(data.channels));
        rows.add("Normalised by mean", numbersText(data.mean) + ", of pixels of 0 to 1");
        rows.add("and deviation", numbersText(data.deviation));
    }
    if (data.tokens > 0) rows.add("Length", counted(data.tokens, "byte", "bytes") + " at most at a time");
}

void addClassNames(NamedRows& rows, Blocks& behind, const CardFacts& facts) {
    const auto& classes = facts.data->classes;
    if (isLanguage(facts) || classes.empty()) return;
    const bool isListed = classes.size() <= kListedNames;
    rows.add("Classes", countText(std::ssize(classes)) + (isListed ? ": " + joinedText(classes) : ""));
    if (!isListed)
        behind.push_back(
            {Folded{"All " + countText(std::ssize(classes)) + " classes", {{Paragraph{joinedText(classes)}}}}});
}

Block settingsTable(const std::vector<Setting>& settings) {
    TextTable table{{"Setting", "Value", "Unit", "Meaning"}, {}};
    for (const Setting& each : settings) {
        const TrialField* field = findTrialField(each.path);
        const std::string value = text(each.value);
        table.rows.push_back({Line({code(each.path)}), value.empty() ? "–" : value, field ? field->field.unit : "",
                              field ? field->field.meaning : ""});
    }
    return {table};
}

// Those that a reader cannot guess.
Block chosenTable(const std::vector<Setting>& settings, const std::vector<Setting>& usual) {
    TextTable table{{"Setting", "Value", "Usual"}, {}};
    for (const Setting& each : settings) {
        const auto same = std::ranges::find(usual, each.path, &Setting::path);
        const bool isKnown = same != usual.end(), isUsual = isKnown && same->value == each.value;
        const bool isAlwaysSaid = each.path == "dataset" || each.path == "model";
        if (each.path == "title" || (isUsual && !isAlwaysSaid)) continue;
        table.rows.push_back({Line({code(each.path)}), text(each.value), isKnown ? text(same->value) : ""});
    }
    return {table};
}

void addAttempt(NamedRows& rows, const RunStarted& started) {
    addMachine(rows, started);
    rows.add("Memory of a device", bytesText(started.bytesPerDevice));
    if (!started.batchNorm.empty()) rows.add("Batch norm", started.batchNorm);
    if (started.linkBandwidth > 0 || started.linkLatency > 0)
        rows.add("Simulated links",
                 formatted("%g MB/s, ", started.linkBandwidth) + formatted("%g µs", started.linkLatency));
}

// In the precision that it was trained in, whoever chose that.
TrialSpec specToRepeat(const CardFacts& facts) {
    TrialSpec spec = facts.spec;
    if (facts.started && !facts.started->precision.empty()) spec.precision = facts.started->precision;
    return spec;
}

std::vector<Line> repeatNotes(const CardFacts& facts) {
    const TrialSpec& spec = facts.spec;
    std::vector<Line> notes{"Seed " + std::to_string(spec.seed) +
                            " gives the same first weights and the same order of samples."};
    if (spec.reproducible())
        notes.emplace_back(
            "Mode reproducible, " + std::to_string(spec.shards) +
            " shards: the same bits on 1, 2, 4 or 8 devices of a kind, with the same versions of the libraries.");
    else
        notes.push_back(Line({{"Mode fast: on other devices, or another number of them, sums round differently and the "
                               "figures differ a little; "},
                              code("--mode reproducible"),
                              {" gives the same bits on 1, 2, 4 or 8 devices."}}));
    if (!spec.reproducible() && specToRepeat(facts).precision != spec.precision)
        notes.push_back(Line({{"It was asked for "},
                              code("--precision " + spec.precision),
                              {": what was fastest as measured then. On another machine that may be another one."}}));
    if (!spec.dataPath.empty()) notes.push_back(Line({{"The data must lie at "}, code(spec.dataPath.string()), {"."}}));
    if (!spec.weights.empty()) notes.push_back(Line({{"It starts from the weights in "}, code(spec.weights), {"."}}));
    if (facts.row.attempts > 1)
        notes.emplace_back("It took " + std::to_string(facts.row.attempts) +
                           " attempts: each went on from a checkpoint of the one before, or began again where "
                           "there was none.");
    return notes;
}

}  // namespace

Blocks dataSection(const CardFacts& facts) {
    Blocks blocks{{Heading{"Data"}}}, behind;
    NamedRows rows;
    rows.add("Dataset", Line({code(facts.spec.dataset.id)}));
    if (!facts.spec.dataPath.empty()) rows.add("Path", Line({code(facts.spec.dataPath.string())}));
    if (facts.started) {
        rows.add("Training samples", countText(facts.started->trainSamples));
        if (facts.started->validationSamples > 0)
            rows.add("Validation samples", countText(facts.started->validationSamples));
        rows.add("Test samples", countText(facts.started->testSamples));
    }
    if (facts.data) {
        addClassNames(rows, behind, facts);
        addShape(rows, *facts.data);
        if (const auto& fingerprint = facts.data->fingerprint)
            rows.add("Fingerprints", Line({{"training "},
                                           code(contentText(fingerprint->train.content)),
                                           {", test "},
                                           code(contentText(fingerprint->test.content))}));
        if (const std::string changed = changedText(facts); !changed.empty()) rows.add("Since then", changed);
    }
    blocks.push_back(std::move(rows).table());
    append(blocks, std::move(behind));
    if (!facts.data)
        blocks.push_back({Paragraph{
            "Classes, sizes and normalisation are known from a trial's start on, and kept in its checkpoints: nothing "
            "says them of this one."}});
    BulletList remarks;
    for (const CardMessage& each : facts.messages) remarks.lines.emplace_back(each.what);
    if (!remarks.lines.empty()) {
        blocks.push_back({Paragraph{"What the run said of its data and of itself:"}});
        blocks.push_back({remarks});
    }
    return blocks;
}

Blocks settingsSection(const CardFacts& facts) {
    const auto settings = settingsOf(facts.spec), usual = settingsOf({});
    return {{Heading{"Settings"}},
            {Paragraph{"Those that were chosen; all others are as usual."}},
            chosenTable(settings, usual),
            {Folded{"All settings", {settingsTable(settings)}}}};
}

Blocks environmentSection(const CardFacts& facts) {
    Blocks blocks{{Heading{"Environment"}}};
    const TrialRow& row = facts.row;
    NamedRows rows;
    if (facts.started) addAttempt(rows, *facts.started);
    else rows.add("Devices", Line({{"not begun; asked for "}, code(facts.spec.devices)}));
    rows.add("Precision", precisionText(facts.spec, facts.started));
    rows.add("Mode", facts.spec.mode);
    if (row.seconds) rows.add("Time", durationText(*row.seconds));
    if (row.samplesPerSecond) rows.add("Training rate", rateText(*row.samplesPerSecond));
    if (row.attempts > 1) rows.add("Attempts", std::to_string(row.attempts));
    blocks.push_back(std::move(rows).table());
    if (row.attempts > 1) blocks.push_back({Paragraph{"As the latest attempt had it."}});
    return blocks;
}

Blocks repeatSection(const CardFacts& facts) {
    const TrialSpec spec = specToRepeat(facts);
    return {{Heading{"How to repeat it"}},
            {CodeBlock{trainCommand(spec), "sh"}},
            {BulletList{repeatNotes(facts)}},
            {Folded{"The same as a spec, for lockstep train --spec FILE", {{CodeBlock{toJson(spec), "json"}}}}}};
}

Blocks useSection(const CardFacts& facts) {
    if (facts.checkpoints.empty()) return {};
    std::string commands;
    const auto add = [&](const std::string& words) { commands += words + '\n'; };
    if (isLanguage(facts)) {
        add(command(facts, "predict", "--prompt \"Once upon a time\""));
    } else {
        add(command(facts, "predict", facts.task == "text-classes" ? "texts.csv" : "photo.jpg"));
        add(command(facts, "evaluate", "--data PATH"));
    }
    add(command(facts, "export",
                facts.data && facts.data->height > 0 ? "--onnx model.onnx --normalise" : "--onnx model.onnx"));
    add(command(facts, "export-weights", "weights.safetensors"));
    return {{Heading{"How to use it"}}, {CodeBlock{commands, "sh"}}};
}

}  // namespace lockstep::report
