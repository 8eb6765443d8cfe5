#include "engine/train/predict.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "app/answer_table.h"
#include "app/asked_input.h"
#include "app/commands/commands.h"
#include "app/csv_row.h"
#include "app/format.h"
#include "app/listing.h"
#include "app/model_source.h"
#include "app/number_checks.h"
#include "app/predict_summary.h"
#include "app/status_line.h"
#include "datasets/asked_samples.h"
#include "engine/core/utf8.h"
#include "engine/train/continue_text.h"
#include "engine/train/evaluate.h"

namespace lockstep {

namespace {

struct PredictOptions {
    ModelSource model;
    std::vector<std::string> paths;
    std::string prompt;
    int top = 5;
    std::int64_t batch = 64, length = 200, topK = 0;
    double temperature = 0.8;
    std::uint64_t seed = 1;
    bool json = false, csv = false, interactive = false;
};

constexpr const char* kPredictHelp = R"(
PATH is an image, an IDX file, a folder or an archive of these, a CSV or TSV file of texts, a text file, a folder of
.txt files, or - for the standard input: a path on each line or, for a model of texts, a text. Of the IDX files in a
folder or an archive the test images are asked about, or the training images where there are no others; the rows name
the file. A file counts as IDX by its name or, whatever its name, by how it begins; those named emnist-… are turned
upright, as for training. Each device has the whole model and takes every Nth batch; the order of the answers does not
depend on their number. What cannot be read is a row with its reason, a row of a table that is not UTF-8 too. A blank
line is no path: it has no row, and how many there were is said at the end; of texts it is one, which is empty. With
--interactive each line has one row: what holds several samples is refused, and so is a blank line. A language model
goes on with a prompt instead.

Examples:
  lockstep predict 3 photo.jpg
  lockstep predict 3 ~/photos --devices cpu:2 --csv > answers.csv
  find ~/photos -name '*.png' | lockstep predict 3 - --json --top 1
  lockstep predict 7 --prompt "To be, or" --length 300 --temperature 0.7 --top-k 40

Exit status: 0; 1 when some samples could not be answered; 141 when the reader of the answers has gone, as of others.)";

// Rows of answers in one of three forms.
class AnswerPrinter {
public:
    // `nameColumns`: see AnswerTable.
    AnswerPrinter(const PredictOptions& options, const OpenedModel& model, const Words& words, int nameColumns)
        : m_options(options),
          m_classes(model.trained.classes),
          m_words(words),
          m_top(std::min(static_cast<std::size_t>(options.top), std::min(Answer::kClasses, m_classes.size()))),
          m_table(m_classes, m_top, nameColumns) {}

    void head() const {
        if (m_options.csv) fmt::print("{}", csvRow(headOfCsv()));
        else if (!m_options.json) fmt::print("{}", m_table.head());
    }

    // Returns whether there is an answer.
    bool row(const std::string& name, const std::optional<Answer>& answer,
             const std::optional<Problem>& failure) const {
        const auto problem = failure || answer ? failure : std::optional(Problem{name, "predict.no-number", {}});
        if (m_options.json) json(name, answer, problem);
        else if (m_options.csv) csv(name, answer, problem);
        else plain(name, answer, problem);
        return !problem;
    }

private:
    const std::string& className(std::int32_t id) const { return m_classes[static_cast<std::size_t>(id)]; }

    std::vector<std::string> headOfCsv() const {
        std::vector<std::string> names{"sample"};
        for (std::size_t i = 1; i <= m_top; ++i) {
            names.push_back(m_top == 1 ? "class" : fmt::format("class{}", i));
            names.push_back(m_top == 1 ? "probability" : fmt::format("probability{}", i));
        }
        names.push_back("problem");
        return names;
    }

    void json(const std::string& name, const std::optional<Answer>& answer,
              const std::optional<Problem>& problem) const {
        Json line{{"sample", name}};
        if (problem) line["problems"] = problemsJson({*problem}, m_words);
        else line["answers"] = Json::array();
        for (std::size_t i = 0; !problem && i < m_top; ++i)
            line["answers"].push_back(
                {{"class", className(answer->classes[i])}, {"probability", answer->probabilities[i]}});
        fmt::print("{}\n", lineOf(line));
    }

    void csv(const std::string& name, const std::optional<Answer>& answer,
             const std::optional<Problem>& problem) const {
        std::vector<std::string> cells{name};
        for (std::size_t i = 0; i < m_top; ++i) {
            cells.push_back(problem ? "" : className(answer->classes[i]));
            cells.push_back(problem ? "" : fmt::format("{}", answer->probabilities[i]));
        }
        cells.push_back(problem ? m_words.what(*problem) : "");
        fmt::print("{}", csvRow(cells));
    }

    void plain(const std::string& name, const std::optional<Answer>& answer,
               const std::optional<Problem>& problem) const {
        fmt::print("{}", problem ? m_table.row(name, m_words.what(*problem)) : m_table.row(name, *answer));
    }

    const PredictOptions& m_options;
    const std::vector<std::string>& m_classes;
    const Words& m_words;
    std::size_t m_top;
    AnswerTable m_table;
};

int longestName(const AskedSamples& samples) {
    int columns = 0;
    for (std::int64_t i = 0; i < samples.info().count; ++i)
        columns = std::max(columns, columnsOf(printable(samples.sample(i).name)));
    return columns;
}

// Settles it; in JSON the summary has what there is to say.
std::vector<Problem> tellOfPrecision(const Context& context, const PredictOptions& options, OpenedModel& model) {
    auto remarks = settlePrecision(model, options.model.on);
    if (!options.json) fmt::print(stderr, "{}", context.words().report(remarks));
    return remarks;
}

PredictResult predictShown(const Context& context, PredictRequest request) {
    const StatusLine line;
    request.progress = [&line, all = request.data->info().count](std::int64_t done) { line.show(done, all); };
    request.onStuck = endingProcess(context);
    return predict(request);
}

int predictAll(const Context& context, const PredictOptions& options, OpenedModel& model) {
    AskedFor asked = askedFor(options.paths, model);
    const bool finds = asked.findsAny();
    const auto data = std::make_shared<AskedSamples>(model.trained, std::move(asked.samples));
    if (data->info().count == 0) throw ProblemError({"PATH", "predict.nothing-asked", {}});
    auto remarks = finds ? tellOfPrecision(context, options, model) : std::vector<Problem>();
    const PredictResult result =
        predictShown(context, {model.resolved, model.checkpoint, model.trained, data, options.batch});
    if (result.ofPrecision) remarks.push_back(*result.ofPrecision);
    if (result.ofPrecision && !options.json) fmt::print(stderr, "{}", context.words().report({*result.ofPrecision}));
    const AnswerPrinter printer(options, model, context.words(), longestName(*data));
    printer.head();
    std::int64_t failed = 0;
    for (std::int64_t i = 0; i < data->info().count; ++i)
        failed +=
            printer.row(data->sample(i).name, result.answers[static_cast<std::size_t>(i)], data->failure(i)) ? 0 : 1;
    const PredictSummary summary(result, model.resolved.spec, options.batch, failed, asked.blankLines);
    if (options.json) summary.printJson(problemsJson(remarks, context.words()));
    else summary.print();
    return failed > 0 ? kFailed : kDone;
}

// Each line is answered before the next is read, by one row: for programs, and the window.
int predictLines(const Context& context, const PredictOptions& options, OpenedModel& model) {
    tellOfPrecision(context, options, model);
    constexpr int kPathColumns = 40, kLineColumns = 12;  // of names that nobody knows yet
    const AnswerPrinter printer(options, model, context.words(), readsTexts(model) ? kLineColumns : kPathColumns);
    Predictor predictor(model.resolved, model.checkpoint, model.trained);
    printer.head();
    bool all = true;
    std::string line;
    for (std::int64_t number = 1; readLine(line, number); ++number) {
        const auto one = std::make_shared<AskedSamples>(model.trained, std::vector{sampleOfLine(line, number, model)});
        const auto answer = predictor.answer(one);
        all = printer.row(one->sample(0).name, answer, one->failure(0)) && all;
        std::fflush(stdout);
    }
    return all ? kDone : kFailed;
}

// The prompt comes with the first bytes: what is refused has printed nothing.
int continuePrompt(const Context& context, const PredictOptions& options, OpenedModel& model) {
    requirePrompt(model.resolved, options.prompt);
    tellOfPrecision(context, options, model);
    const bool isSeen = isatty(STDOUT_FILENO) != 0;  // a model may write what a terminal obeys
    std::string before = options.prompt;
    const auto stream = [&before, isSeen](std::string_view text) {
        const std::string all = std::exchange(before, {}) + std::string(text);
        fmt::print("{}", isSeen ? legible(all) : all);
        std::fflush(stdout);
        return std::ferror(stdout) == 0;
    };
    ContinueRequest request{model.resolved, model.checkpoint, model.trained,
                            options.prompt, options.length,   options.temperature,
                            options.topK,   options.seed,     {}};
    if (!options.json) request.onBytes = stream;
    const std::string text = continueText(request);
    if (options.json) fmt::print("{}\n", lineOf({{"prompt", options.prompt}, {"text", text}}));
    else stream("\n");
    return kDone;
}

int predictAsAsked(Context& context, const PredictOptions& options) {
    auto model = openModelSource(options.model, context.environment());
    if (!model.ok()) return context.report(model.problems());
    if (!options.prompt.empty()) return continuePrompt(context, options, model.value());
    if (model.value().resolved.model->task == ModelTask::NextTokens)
        return context.report(
            {{"PATH", "predict.needs-prompt", {model.value().resolved.model->name, options.model.word}}});
    return options.interactive ? predictLines(context, options, model.value())
                               : predictAll(context, options, model.value());
}

CLI::Option* addPromptOptions(CLI::App& command, PredictOptions& options) {
    auto* prompt = command.add_option("--prompt", options.prompt, "For a language model: the text to go on with")
                       ->type_name("TEXT");
    command.add_option("--length", options.length, "Bytes to write")
        ->type_name("N")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str()
        ->needs(prompt);
    command
        .add_option("--temperature", options.temperature, "Of the softmax that bytes are drawn from; 0: the likeliest")
        ->type_name("T")
        ->check(notNegative())
        ->capture_default_str()
        ->needs(prompt);
    command.add_option("--top-k", options.topK, "Draw from so many of the likeliest bytes; 0: from all")
        ->type_name("K")
        ->check(CLI::Range(0, 256))
        ->capture_default_str()
        ->needs(prompt);
    command.add_option("--seed", options.seed, "Of the drawing")
        ->type_name("N")
        ->check(anySeed())
        ->capture_default_str()
        ->needs(prompt);
    return prompt;
}

}  // namespace

void addPredict(CLI::App& program, Run& run) {
    const auto options = std::make_shared<PredictOptions>();
    auto* command = program.add_subcommand("predict", "What a trained model says of images or texts");
    addModelSource(*command, options->model);
    auto* path = command
                     ->add_option("path", options->paths,
                                  "Images, texts, folders, archives, IDX or CSV files; - for the standard input")
                     ->type_name("PATH");
    auto* top = command->add_option("--top", options->top, "How many classes of each sample, the likeliest first")
                    ->type_name("K")
                    ->check(CLI::Range(1, static_cast<int>(Answer::kClasses)))
                    ->capture_default_str();
    auto* batch = command->add_option("--batch", options->batch, "Samples that a device takes at once")
                      ->type_name("N")
                      ->check(CLI::Range(1, 65536))
                      ->capture_default_str();
    auto* json = command->add_flag("--json", options->json, "A JSON object a line, and a summary as the last");
    auto* csv = command->add_flag("--csv", options->csv, "As CSV, with a header")->excludes(json);
    auto* interactive =
        command
            ->add_flag("--interactive", options->interactive, "Answer each line of the standard input before the next")
            ->excludes(path)
            ->excludes(batch);
    auto* prompt = addPromptOptions(*command, *options);
    for (auto* other : {path, top, batch, csv, interactive}) prompt->excludes(other);
    command->footer(kPredictHelp);
    command->callback(
        [options, &run] { run = [options](Context& context) { return predictAsAsked(context, *options); }; });
}

}  // namespace lockstep
