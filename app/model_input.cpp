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

}  // namespace

void addInputOptions(CLI::App& command, InputOptions& options) {
    command.add_option("--input", options.shape, "Channels x height x width; usual for the model unless given")
        ->type_name("CxHxW");
    command.add_option("--classes", options.classes, "Number of classes")->type_name("N")->capture_default_str();
}

Result<ModelInput> inputFor(const InputOptions& options, const std::string& model, std::int64_t batch) {
    ModelInput input;
    input.batch = batch;
    input.classes = options.classes;
    const bool colour = model.find("cifar") != std::string::npos;
    const std::string shape = !options.shape.empty() ? options.shape : colour ? "3x32x32" : "1x28x28";
    std::string_view rest = shape;
    input.channels = takeNumber(rest);
    const bool first = takeCross(rest);
    input.height = takeNumber(rest);
    const bool second = takeCross(rest);
    input.width = takeNumber(rest);
    if (!first || !second || !rest.empty() || input.channels == 0 || input.height == 0 || input.width == 0) {
        return Problem{"--input", "cli.bad-input", {shape}};
    }
    if (input.classes < 2 || input.classes > kMostClasses) {
        return Problem{
            "--classes", "spec.out-of-range", {std::to_string(input.classes), "2", std::to_string(kMostClasses)}};
    }
    return input;
}

}  // namespace lockstep
