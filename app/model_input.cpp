#include "app/model_input.h"

#include <charconv>

namespace lockstep {

namespace {

constexpr int kMostPixels = 1 << 14;
constexpr int kMostClasses = 1 << 20;

// A number from 1 at the front of `text`, taken off with the separator behind it; 0 where there is none.
int takeNumber(std::string_view& text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 1 || value > kMostPixels) return 0;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

bool takeCross(std::string_view& text) {
    if (!text.starts_with('x')) return false;
    text.remove_prefix(1);
    return true;
}

bool takeShape(std::string_view text, ModelInput& input) {
    input.channels = takeNumber(text);
    const bool first = takeCross(text);
    input.height = takeNumber(text);
    const bool second = takeCross(text);
    input.width = takeNumber(text);
    return first && second && text.empty() && input.channels > 0 && input.height > 0 && input.width > 0;
}

bool takeTokens(std::string_view text, ModelInput& input) {
    input.tokens = takeNumber(text);
    return text.empty() && input.tokens > 0;
}

}  // namespace

void addInputOptions(CLI::App& command, InputOptions& options) {
    command
        .add_option("--input", options.shape, "Channels x height x width, or tokens; usual for the model unless given")
        ->type_name("CxHxW|T");
    command.add_option("--classes", options.classes, "Number of classes; usual for the model unless given")
        ->type_name("N");
}

Result<ModelInput> inputFor(const InputOptions& options, const ModelEntry& model, const ParamValues& params,
                            std::int64_t batch) {
    ModelInput input = usualInput(model, params);
    input.batch = batch;
    const bool isImage = model.task == ModelTask::ImageClasses;
    if (!options.shape.empty() && !(isImage ? takeShape : takeTokens)(options.shape, input)) {
        return Problem{"--input", isImage ? "cli.bad-input" : "cli.bad-tokens", {options.shape}};
    }
    input.classes = options.classes.value_or(model.usual.classes);
    if (input.classes < 2 || input.classes > kMostClasses) {
        return Problem{
            "--classes", "spec.out-of-range", {std::to_string(input.classes), "2", std::to_string(kMostClasses)}};
    }
    return input;
}

}  // namespace lockstep
