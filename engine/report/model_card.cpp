#include "engine/report/model_card.h"

#include "engine/core/number_text.h"
#include "engine/report/card_sections.h"
#include "engine/spec/perplexity.h"
#include "engine/spec/run_state.h"

namespace lockstep::report {

namespace {

std::string purposeOf(const CardFacts& facts) {
    if (isLanguage(facts)) return "It foretells text, byte by byte.";
    const std::string kind = facts.task == "text-classes" ? "texts" : "images";
    if (!facts.data || facts.data->classes.empty()) return "It tells classes of " + kind + " apart.";
    return "It tells " + counted(std::ssize(facts.data->classes), "class", "classes") + " of " + kind + " apart.";
}

std::string progressText(const TrialRow& row) {
    return "epoch " + std::to_string(row.epoch) + " of " + std::to_string(row.epochs) + ", " +
           counted(row.step, "update", "updates");
}

// What the state means for whoever reads the card.
std::string standingText(const CardFacts& facts) {
    const TrialRow& row = facts.row;
    switch (runStateFrom(row.state).value_or(RunState::Crashed)) {
        case RunState::Finished: return "Trained to its end: " + progressText(row) + '.';
        case RunState::Queued: return "It has not begun to train.";
        case RunState::Preparing: return "It is about to train.";
        case RunState::Running:
        case RunState::Paused:
        case RunState::Stopping:
            return "It is still being trained (" + row.state + "): " + progressText(row) +
                   ". The card says how it stood when it was written.";
        case RunState::Stopped: return "Stopped on request before its end: " + progressText(row) + '.';
        case RunState::Cancelled: return "Cancelled before it began.";
        case RunState::Failed: return "The run failed: " + progressText(row) + '.';
        case RunState::Crashed: return "The run ended without a word (" + row.state + "): " + progressText(row) + '.';
    }
    return row.state;
}

std::string titleOf(const CardFacts& facts) {
    const TrialRow& row = facts.row;
    return row.title.empty() ? row.model + " on " + row.dataset : row.title;
}

Block checkpointsTable(const CardFacts& facts) {
    TextTable table{{"Checkpoint", "Updates", "File"}, {}};
    for (const CardCheckpoint& each : facts.checkpoints)
        table.rows.push_back({each.role, countText(each.step), Line({code(each.file)})});
    return {table};
}

// What there is instead of checkpoints, or beside those that are left.
Block checkpointsNote(const CardFacts& facts) {
    if (hasLostModel(facts))
        return {Paragraph{
            "Its checkpoints " + (facts.freedAt ? "were freed on " + momentText(*facts.freedAt) : "are gone") +
            ", so there is no model to use: it must be trained again, as told under “How to repeat it”."}};
    if (facts.freedAt) return {Paragraph{"Others were freed on " + momentText(*facts.freedAt) + '.'}};
    return {Paragraph{Line({{"There is no checkpoint, so there is no model to use yet. "},
                            code(isEnded(facts) ? command(facts, "resume") : command(facts, "attach")),
                            {isEnded(facts) ? " trains it." : " follows it until there is."}})}};
}

Blocks identitySection(const CardFacts& facts) {
    const TrialRow& row = facts.row;
    TextTable table{{}, {}};
    const auto add = [&](const char* name, Line value) {
        table.rows.push_back({Line({strong(name)}), std::move(value)});
    };
    add("Trial", std::to_string(row.id) + (row.deleted ? ", in the trash" : ""));
    add("Model", Line({code(row.model), {facts.modelMeaning.empty() ? "" : ": " + facts.modelMeaning}}));
    if (facts.started) add("Parameters", countText(facts.started->parameters));
    add("Data", Line({code(row.dataset)}));
    add("State", row.state);
    add("Begun", momentText(row.createdAt));
    if (!row.finishedAt.empty()) add("Ended", momentText(row.finishedAt));
    if (!row.tags.empty()) {
        std::string tags;
        for (const auto& each : row.tags) tags += (tags.empty() ? "" : ", ") + each;
        add("Tags", tags);
    }
    if (!row.note.empty()) add("Note", row.note);
    Blocks blocks{{Paragraph{purposeOf(facts) + ' ' + standingText(facts)}}};
    if (facts.failure) {
        blocks.push_back(
            {Paragraph{Line({strong("Failure:"), {' ' + facts.failure->what + ' ' + facts.failure->remedy}})}});
    }
    blocks.push_back({table});
    for (const CardMessage& each : facts.unreadable) blocks.push_back({Paragraph{each.what + ' ' + each.remedy}});
    const bool hasAny = !facts.checkpoints.empty() || !facts.unreadable.empty();
    if (!facts.checkpoints.empty()) blocks.push_back(checkpointsTable(facts));
    if (!hasAny || facts.freedAt) blocks.push_back(checkpointsNote(facts));
    return blocks;
}

Block writer(const CardFacts& facts) {
    return {Paragraph{"Written by " + facts.program + " on " + momentText(facts.writtenAt) + '.'}};
}

}  // namespace

bool isLanguage(const CardFacts& facts) { return facts.task == kNextTokens; }

bool isEnded(const CardFacts& facts) {
    const auto state = runStateFrom(facts.row.state);
    return !state || isFinal(*state);
}

bool hasLostModel(const CardFacts& facts) {
    const bool hasNone = facts.checkpoints.empty() && facts.unreadable.empty();
    return hasNone && (facts.freedAt || (facts.wroteCheckpoint && isEnded(facts)));
}

std::string command(const CardFacts& facts, std::string_view name, std::string_view rest) {
    std::string words = "lockstep " + std::string(name) + ' ' + std::to_string(facts.row.id);
    if (!rest.empty()) words += ' ' + std::string(rest);
    return words;
}

std::string ownData(const CardFacts& facts) { return dataName(facts.spec); }

std::string className(const CardFacts& facts, std::int64_t id) {
    const auto at = static_cast<std::size_t>(id);
    if (facts.data && id >= 0 && at < facts.data->classes.size() && !facts.data->classes[at].empty())
        return facts.data->classes[at];
    return "class " + std::to_string(id);
}

Document modelCard(const CardFacts& facts) {
    Document document{titleOf(facts), identitySection(facts)};
    for (auto* section : {&resultsSection, &limitsSection, &curvesSection, &dataSection, &useSection, &repeatSection,
                          &settingsSection, &environmentSection})
        append(document.blocks, section(facts));
    document.blocks.push_back(writer(facts));
    return document;
}

}  // namespace lockstep::report
