#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "app/commands/commands.h"
#include "app/listing.h"
#include "app/spec_options.h"
#include "app/standard_streams.h"
#include "engine/serve/server.h"

namespace lockstep {

namespace {

constexpr const char* kServeHelp = R"(
One JSON object a line on the standard input, one answer a line on the standard output; ends with its input.
  {"id":1,"request":"devices"}
  {"id":2,"request":"datasets"}
  {"id":3,"request":"models"}
  {"id":4,"request":"settings"}                       a trial's own fields, optimizers, schedules, augmentation
  {"id":5,"request":"inspect","path":"/data/cifar"}
  {"id":6,"request":"validate","spec":{...}}          all problems of a spec, without opening its data
  {"id":7,"request":"plan","spec":{...}}              layers, parameters, steps per epoch, memory per device
  {"id":8,"request":"samples","spec":{...},"count":10}   images before and after augmentation, images per class
  {"id":9,"request":"schedule","spec":{...},"points":200,"steps_per_epoch":469}   the learning rate over the epochs
  {"id":10,"request":"presets"}                       specs that come with the program
  {"id":11,"request":"hello"}                         the program's version
  {"id":12,"request":"asked_samples","spec":{...},"data":"","split":"test","samples":[0,7]}   what a model was asked about
  {"id":13,"request":"speeds","spec":{...}}           samples per second in each precision: trains in each by turns
An answer repeats the id and has either the result's keys or "problems". A line has at most a mebibyte.
With --progress lines come ahead of an answer that takes long: {"id":5,"reading":320000,"of":0}, how many samples are read,
of how many; of 0, how many files are listed.)";

std::vector<OfferedPreset> offeredPresets() {
    std::vector<OfferedPreset> presets;
    for (const auto& name : presetNames()) {
        const auto spec = preset(name);
        if (!spec.ok()) throw ProblemError(spec.problems().front());
        presets.push_back({name, {toJsonLine(spec.value())}});
    }
    return presets;
}

// False at the end of the input. Of a line that is too long one character too many is kept, and the rest read away.
bool nextLine(std::streambuf& in, std::string& line) {
    constexpr int kEnd = std::streambuf::traits_type::eof();
    line.clear();
    int next = in.sbumpc();
    if (next == kEnd) return false;
    for (; next != '\n' && next != kEnd; next = in.sbumpc()) {
        if (line.size() <= kLongestQuestion) line += static_cast<char>(next);
    }
    return true;
}

void say(const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

int serve(Context& context, bool progress) {
    const auto environment = [&context]() -> const Environment& { return context.environment(); };
    ServeHost host{LOCKSTEP_VERSION, environment, offeredPresets, serveWords(context.words())};
    if (progress) host.tell = say;
    Server server(std::move(host));
    for (std::string line; nextLine(*std::cin.rdbuf(), line);) {
        say(server.reply(line));
        if (outputError() != 0) return kFailed;
    }
    return kDone;
}

}  // namespace

void addServe(CLI::App& program, Run& run) {
    auto* command =
        program.add_subcommand("serve", "Answer questions about devices, datasets, models and specs, line by line");
    command->footer(kServeHelp);
    const auto progress = std::make_shared<bool>(false);
    command->add_flag("--progress", *progress, "Also say how far data are read, in lines ahead of the answer");
    command->callback([&run, progress] { run = [progress](Context& context) { return serve(context, *progress); }; });
}

}  // namespace lockstep
