#include <fmt/format.h>

#include <memory>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/history_access.h"
#include "app/made_folder.h"
#include "app/run_printer.h"
#include "app/trial_json.h"
#include "engine/core/durable_file.h"
#include "engine/core/utc_time.h"
#include "engine/model/registry.h"
#include "engine/report/model_card.h"
#include "engine/spec/kept_checkpoints.h"
#include "engine/train/checkpoint.h"
#include "engine/train/trained_on.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;
using report::CardData;
using report::CardFacts;
using report::CardMessage;
using report::Document;
using report::Figure;

struct CardOptions {
    std::int64_t trial = 0;
    std::string html, markdown, out;
};

constexpr const char* kCardHelp = R"(
A card says what the model is, what it gets right and wrong, class by class, what it should not be trusted with, its curves, its
data, settings and machine, and how to make and use it again. What is missing is said, with the command that supplies it.

HTML is one file with its pictures inside. Markdown has them in a folder beside it: card.md and card-files/. Without --html and
--markdown both are written, as trial-<number>-card. FILE may be - for the standard output, where Markdown has no pictures.

Examples:
  lockstep card 3
  lockstep card 3 --html model.html
  lockstep card 3 --markdown docs/README.md
  lockstep card 3 --out cards
  lockstep card 3 --markdown - | less)";

// Empty: it is not known.
std::optional<CardData> cardDataOf(const DataKnown& known) {
    const auto info = trainedOnFrom(known.trainedOn);
    if (!info) return std::nullopt;
    const DatasetInfo& trained = *info;
    CardData data;
    const ImageShape image = trained.image();
    data.classes = trained.classes;
    data.channels = image.channels, data.height = image.height, data.width = image.width;
    if (const Field* tokens = findField(trained.fields, "tokens"))
        data.tokens = static_cast<int>(tokens->type.shape[0]);
    data.mean = trained.mean, data.deviation = trained.deviation;
    data.fingerprint = known.fingerprint;
    return data;
}

// What lies in the trial's folder. A checkpoint that cannot be read is told of, and no checkpoint.
void addCheckpoints(CardFacts& facts, const Words& words) {
    const fs::path folder = fs::path(facts.row.runDirectory) / "checkpoints";
    facts.freedAt = checkpointsFreedAt(folder);
    for (const auto& [role, epoch] : checkpointsIn(folder)) {
        const fs::path file = folder / checkpointName(role);
        const auto read = readCheckpointPosition(file);
        if (!read.ok()) {
            const Problem& problem = read.problems().front();
            facts.unreadable.push_back({"warning", words.what(problem), words.remedy(problem)});
            continue;
        }
        const Checkpoint& checkpoint = read.value();
        facts.checkpoints.push_back({role, file.string(), checkpoint.step});
        if (!facts.data) facts.data = cardDataOf(knownBy(checkpoint));
    }
}

// Of the latest attempt: what it was told of the machine, and what it said.
void addEvents(CardFacts& facts, const TrialQuery& query, const Words& words) {
    facts.started = query.started(facts.row.id);
    for (const Message& each : query.messages(facts.row.id))
        facts.messages.push_back({each.level, words.what(each.text), words.remedy(each.text)});
    if (const auto failed = query.failure(facts.row.id)) {
        const Problem problem = problemOf(*failed);
        facts.failure = CardMessage{"failure", words.what(problem), words.remedy(problem)};
    }
}

CardFacts factsOf(const TrialQuery& query, const TrialRow& row, const TrialSpec& spec, const Words& words) {
    CardFacts facts;
    facts.row = row;
    facts.spec = spec;
    if (const ModelEntry* model = findModel(builtinModels(), row.model)) {
        facts.modelMeaning = model->meaning;
        facts.task = text(model->task);
    }
    addEvents(facts, query, words);
    if (facts.started && !facts.started->task.empty()) facts.task = facts.started->task;
    facts.series = seriesOf(query, row.id);
    facts.counts = query.counts(row.id);
    facts.evaluations = query.evaluations(row.id);
    facts.text = query.text(row.id);
    facts.data = cardDataOf(query.known(row.id));
    facts.wroteCheckpoint = query.wroteCheckpoint(row.id);
    addCheckpoints(facts, words);
    facts.program = "Lockstep " LOCKSTEP_VERSION;
    facts.writtenAt = utcNow();
    return facts;
}

// Where a card goes: a file, "-", or nowhere.
struct CardPlaces {
    std::string html, markdown;
};

CardPlaces placesFor(const CardOptions& options) {
    if (options.out.empty() && (!options.html.empty() || !options.markdown.empty()))
        return {options.html, options.markdown};
    const fs::path base = fs::path(options.out) / fmt::format("trial-{}-card", options.trial);
    return {base.string() + ".html", base.string() + ".md"};
}

fs::path picturesOf(const fs::path& markdown) {
    fs::path folder = markdown;
    folder.replace_extension();
    return folder += "-files";
}

// They lie beside a file, and beside nothing else.
bool hasPictures(const CardPlaces& places) {
    return !places.markdown.empty() && places.markdown != "-" && !isWrittenInto(places.markdown);
}

// Nothing is replaced before all of it is on the disk, and the text that refers to the pictures comes behind them.
void writeCard(const Document& card, const CardPlaces& places) {
    const bool draws = hasPictures(places);
    const fs::path pictures = draws ? picturesOf(places.markdown) : fs::path();
    const auto figures = draws ? report::figuresOf(card) : std::vector<Figure>();
    const std::string html = places.html.empty() ? "" : report::htmlOf(card);
    const std::string markdown = places.markdown.empty() ? "" : report::markdownOf(card, pictures.filename().string());
    MadeFolder ofHtml = MadeFolder::of(places.html), ofMarkdown = MadeFolder::of(places.markdown);
    std::optional<MadeFolder> folder;
    if (!figures.empty()) folder.emplace(pictures);
    std::vector<FileText> files;
    for (const Figure& each : figures) files.push_back({pictures / (each.name + ".svg"), each.svg});
    if (!places.markdown.empty() && places.markdown != "-") files.push_back({places.markdown, markdown});
    if (!places.html.empty() && places.html != "-") files.push_back({places.html, html});
    writeNamedFiles(files);
    ofHtml.keep(), ofMarkdown.keep();
    if (folder) folder->keep();
    if (places.html == "-") fmt::print("{}", html);
    if (places.markdown == "-") fmt::print("{}", markdown);
}

void sayWhatWasWritten(const Document& card, const CardPlaces& places) {
    if (!places.html.empty() && places.html != "-") fmt::print(stderr, "{}\n", printable(places.html));
    if (!hasPictures(places)) return;
    const std::ptrdiff_t pictures = std::ssize(report::figuresOf(card));
    if (pictures == 0) return fmt::print(stderr, "{}\n", printable(places.markdown));
    fmt::print(stderr, "{} with {} in {}\n", printable(places.markdown), plural(pictures, "picture"),
               printable(picturesOf(places.markdown).string()));
}

int card(Context& context, const CardOptions& options) {
    const CardPlaces places = placesFor(options);
    if (places.html == "-" && places.markdown == "-") return context.report({{"--markdown", "card.two-outputs", {}}});
    auto trials = openTrialsToRead(context);
    const auto row = trials.row(options.trial);
    const auto spec = trials.query().spec(options.trial);
    if (!spec.ok()) return context.report(spec.problems());
    std::optional<MadeFolder> folder;
    if (!options.out.empty()) folder.emplace(options.out);
    const Document made = report::modelCard(factsOf(trials.query(), row, spec.value(), context.words()));
    writeCard(made, places);
    if (folder) folder->keep();
    sayWhatWasWritten(made, places);
    return kDone;
}

}  // namespace

void addCard(CLI::App& program, Run& run) {
    const auto options = std::make_shared<CardOptions>();
    auto* command = program.add_subcommand("card", "A trial's model card, as HTML and Markdown");
    addTrialOption(*command, options->trial);
    auto* html = command->add_option("--html", options->html, "The card as one HTML file")->type_name("FILE");
    auto* markdown =
        command
            ->add_option("--markdown", options->markdown, "The card as Markdown, with a folder of pictures beside it")
            ->type_name("FILE");
    command->add_option("--out", options->out, "Both, in this folder, by their usual names")
        ->type_name("FOLDER")
        ->excludes(html)
        ->excludes(markdown);
    command->footer(kCardHelp);
    command->callback([options, &run] { run = [options](Context& context) { return card(context, *options); }; });
}

}  // namespace lockstep
