#include "engine/train/export_pytorch.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

#include "engine/core/error.h"
#include "engine/data/augment.h"
#include "engine/model/pytorch_graph.h"
#include "engine/model/pytorch_modules.h"
#include "engine/ops/rules.h"

namespace lockstep {

namespace {

// A text of resources/pytorch with what it asks for: lines "#if KEY", "#else" and "#end" keep or leave out what lies
// between, "#include FILE" puts another one in, and @NAME@ stands for a value.
class Template {
public:
    std::set<std::string, std::less<>> keys;
    std::map<std::string, std::string, std::less<>> values;
    std::function<std::string_view(std::string_view)> file;

    std::string expanded(std::string_view name) const {
        std::string out;
        std::vector<bool> kept;  // of the conditions around a line
        std::string_view rest = file(name);
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find('\n'), rest.size());
            const std::string line = filled(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
            if (line.starts_with("#if ")) kept.push_back(keys.contains(line.substr(4)));
            else if (line == "#else") kept.back() = !kept.back();
            else if (line == "#end") kept.pop_back();
            else if (std::ranges::count(kept, false) > 0) continue;
            else if (line.starts_with("#include ")) out += expanded(line.substr(9));
            else out += line + '\n';
        }
        return out;
    }

private:
    std::string filled(std::string_view line) const {
        std::string out;
        for (;;) {
            const std::size_t begin = line.find('@'), end = begin == line.npos ? begin : line.find('@', begin + 1);
            if (end == line.npos) return out + std::string(line);
            const auto value = values.find(line.substr(begin + 1, end - begin - 1));
            out += line.substr(0, value == values.end() ? end : begin);
            if (value != values.end()) out += value->second;
            line.remove_prefix(value == values.end() ? end : end + 1);
        }
    }
};

std::string floatText(float value) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string flagText(bool value) { return value ? "True" : "False"; }

template <class Items, class Text>
std::string listed(const Items& items, Text text) {
    std::string out;
    for (const auto& item : items) out += (out.empty() ? "" : ", ") + text(item);
    return out;
}

std::string tupleOf(const std::vector<std::string>& names) {
    return '(' + listed(names, pythonText) + (names.size() == 1 ? ",)" : ")");
}

// What stands in a comment.
std::string plain(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
    return text;
}

bool isPlainName(const std::string& name) {
    const auto isPlain = [](unsigned char c) {
        return std::isalnum(c) || c == '.' || c == '_' || c == '-' || c == '/';
    };
    return !name.empty() && std::ranges::all_of(name, isPlain);
}

class Script {
public:
    explicit Script(const PytorchExport& request)
        : m_request(request),
          m_spec(request.spec),
          m_resolved(request.resolved),
          m_update(request.resolved.update),
          m_task(request.resolved.model->task),
          m_model(pytorchModel(*request.resolved.model, request.resolved.modelParams,
                               modelInput(*request.resolved.model, request.trained, 1, 0))),
          m_augmentation(augmentationFrom(request.resolved.augmentationParams)) {
        m_template.file = request.text;
    }

    std::string text() {
        chooseModel();
        chooseData();
        chooseDivision();
        chooseSchedule();
        chooseOptimizer();
        chooseAugmentation();
        chooseRest();
        auto& values = m_template.values;
        values["HEADER"] = header();
        values["NEEDS"] = needs();
        values["SETTINGS"] = m_settings;
        values["MODEL_ID"] = plainId(m_spec.model.id);
        values["DATASET_ID"] = plainId(m_spec.dataset.id);
        std::string script = m_template.expanded("script.py");
        // What was left out leaves its distances.
        for (auto at = script.find("\n\n\n\n"); at != std::string::npos; at = script.find("\n\n\n\n", at))
            script.erase(at, 1);
        return script;
    }

private:
    bool isImages() const { return m_task == ModelTask::ImageClasses; }
    bool measures() const { return isImages() && m_request.trained.mean.empty(); }
    double schedule(const char* name) const { return m_resolved.scheduleParams.number(name); }

    // The reader that people fill in: nobody knows what it needs a path for.
    static constexpr std::string_view kElsewhere = "elsewhere.py";

    // Within a string of the script.
    static std::string plainId(const std::string& id) { return isPlainName(id) ? id : "a model or dataset"; }

    void key(const char* name, bool isThere = true) {
        if (isThere) m_template.keys.insert(name);
    }
    void set(const std::string& name, const std::string& value, const std::string& comment = "") {
        if (!m_settings.empty()) m_settings += '\n';
        m_settings += name + " = " + value + (comment.empty() ? "" : "  # " + comment);
    }
    void set(const std::string& name, double value, const std::string& comment = "") {
        set(name, numberText(value), comment);
    }
    void missing(const std::string& setting, const std::string& why) { m_missing.emplace_back(setting, why); }

    void chooseModel() {
        for (const std::string& function : m_model.functions) key(function.c_str());
        key("norms", m_model.hasNorms);
        key("images", isImages());
        key("masked", m_task == ModelTask::NextTokens);
        m_template.values["MODEL"] = m_model.classes;
        m_template.values["FIRST_WEIGHTS"] = m_model.firstWeights;
        for (const char* name : {"MODEL", "FIRST_WEIGHTS"}) {
            std::string& text = m_template.values[name];
            while (text.ends_with('\n')) text.pop_back();
        }
        if (m_task != ModelTask::NextTokens || m_spec.sampleLength == 0) return;
        missing("sample_length", "no text is written after an epoch");
    }

    void chooseData() {
        const std::string& id = m_spec.dataset.id;
        const ParamValues& params = m_resolved.datasetParams;
        const auto path = dataPathOf(*m_resolved.dataset, m_spec.dataPath);
        set("DATA", pythonText(path.ok() ? path.value().string() : ""));
        if (id == "idx" || id == "fashion-mnist") {
            key("idx");
            data("idx.py");
            set("COLLECTION", pythonText(id == "idx" ? params.string("split") : ""));
        } else if (id == "cifar10") {
            data("cifar.py");
            setCifar(
                "cifar-10-batches-bin", 1, 0,
                {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
                "test_batch.bin");
        } else if (id == "cifar100") {
            data("cifar.py");
            setCifar("cifar-100-binary", 2, params.string("labels") == "fine" ? 1 : 0, {"train.bin"}, "test.bin");
        } else if (id == "image-folder") {
            set("SEEN_SHARE", m_request.trained.seenShare, "of the shorter side of a picture, in its middle");
            set("INTERPOLATION",
                m_request.trained.interpolation == Interpolation::Bicubic ? "Image.BICUBIC" : "Image.BILINEAR");
            key("pillow");
            data("image_folder.py");
            set("TEST_SHARE", params.number("test_share"));
            missing("dataset", "Pillow decodes the images: a JPEG's pixels may be other ones by a little");
        } else if (id == "text" || id == "text-folder" || id == "text-csv") {
            data(id == "text" ? "text.py" : id == "text-folder" ? "text_folder.py" : "text_csv.py");
            key("csv", id == "text-csv");
            set("TEST_SHARE", params.number("test_share"));
            if (id != "text-csv") return;
            set("TEXT_COLUMN", pythonText(params.string("text_column")));
            set("LABEL_COLUMN", pythonText(params.string("label_column")));
        } else {
            data(kElsewhere);
            missing("dataset", plain(id) + " is read by nobody but Lockstep: fill in read_data()");
        }
    }

    void data(std::string_view file) {
        key("files", file != kElsewhere);
        m_template.values["DATA_READER"] = file;
        m_template.values["FIRST_FIELD"] = isImages() ? "image" : "tokens";
        m_template.values["FIELDS"] = isImages() ? "\"image\" u8 N,C,H,W and \"label\" i64 N"
                                      : m_task == ModelTask::NextTokens
                                          ? "\"tokens\" u8 N,T and \"targets\" i16 N,T (-1: does not count)"
                                          : "\"tokens\" u8 N,T, \"length\" i64 N and \"label\" i64 N";
    }

    void setCifar(const char* folder, int labelBytes, int labelAt, const std::vector<std::string>& train,
                  const char* test) {
        set("FOLDER", pythonText(folder));
        set("LABEL_BYTES, LABEL_AT", std::to_string(labelBytes) + ", " + std::to_string(labelAt));
        set("TRAIN_FILES", tupleOf(train));
        set("TEST_FILE", pythonText(test));
    }

    void chooseOptimizer() {
        key(m_spec.optimizer.id.c_str());
        switch (m_update.kind) {
            case UpdateRule::Kind::Sgd: setMomentum(); break;
            case UpdateRule::Kind::AdamW: setBetas(); break;
            case UpdateRule::Kind::Lars:
                set("MOMENTUM", m_update.momentum);
                set("TRUST", m_update.trust);
                break;
            case UpdateRule::Kind::Muon:
                setMomentum();
                set("ADAM_SHARE", m_update.adamShare, "the learning rate of AdamW, of Muon's");
                setBetas();
                break;
        }
        set("WEIGHT_DECAY", m_update.weightDecay);
        set("TABLES", m_model.tables.empty() ? "()" : tupleOf(m_model.tables), "that do not decay");
        set("CLIP_NORM", m_update.clipNorm, "0: gradients are not clipped");
    }

    void setMomentum() {
        set("MOMENTUM", m_update.momentum);
        set("NESTEROV", flagText(m_update.nesterov && m_update.momentum > 0));
    }
    void setBetas() {
        set("BETA1, BETA2, EPSILON",
            numberText(m_update.beta1) + ", " + numberText(m_update.beta2) + ", " + numberText(m_update.epsilon));
    }

    void chooseSchedule() {
        const std::string& id = m_spec.schedule.id;
        key(id == "one-cycle" ? "one_cycle" : id.c_str());
        set("LEARNING_RATE", m_resolved.learningRate,
            m_resolved.learningRate == m_spec.learningRate
                ? ""
                : numberText(m_spec.learningRate) + " for a batch of " + std::to_string(m_spec.learningRateBatch));
        set("WARMUP_EPOCHS", schedule("warmup"));
        set("WARMUP_FROM", m_resolved.warmupFrom, "of the learning rate");
        if (id == "step")
            set("DROP_EVERY, GAMMA", numberText(schedule("every")) + ", " + numberText(schedule("gamma")));
        if (id == "one-cycle") set("RISE", schedule("rise"));
        if (id == "cosine" || id == "one-cycle") set("FINAL", schedule("final"));
    }

    // Of batches over processes and passes.
    void chooseDivision() {
        set("EPOCHS", std::to_string(m_spec.epochs));
        set("BATCH", std::to_string(m_spec.batch), "samples of an update, over all processes");
        key("shards", m_spec.reproducible());
        key("accumulates", !m_spec.reproducible() && m_spec.accumulation > 1);
        key("synchronised", m_model.hasNorms && m_spec.batchNorm == "synchronised" && !m_spec.reproducible());
        if (m_spec.reproducible()) {
            set("SHARDS", std::to_string(m_spec.shards), "of a batch: passes, over all processes");
            missing("mode", "PyTorch adds up in another order with another number of processes, to other last bits");
            if (m_spec.shardThreads != 1) missing("shard_threads", "PyTorch chooses its threads: OMP_NUM_THREADS");
        } else if (m_spec.accumulation > 1) {
            set("ACCUMULATION", std::to_string(m_spec.accumulation), "passes of each process");
        }
        if (!m_spec.shares.empty()) missing("shares", "each process takes an equal part of a batch");
        if (m_template.keys.contains("synchronised"))
            missing("batch_norm", "on CPUs PyTorch does not norm over several processes: the script ends there");
        if (m_spec.recompute != "none") missing("recompute", "activations are kept");
        if (m_spec.devices.find('x') != std::string::npos)
            missing("devices", "PyTorch chooses how many threads a process has: OMP_NUM_THREADS");
    }

    void chooseAugmentation() {
        key("measures", measures());
        key("augments", m_augmentation != Augmentation{});
        key("jitter", m_augmentation.jitter.isOn());
        key("crop", m_augmentation.cropPadding > 0);
        key("flip", m_augmentation.flip);
        key("cutout", m_augmentation.cutout > 0);
        key("erasing", m_augmentation.erasing > 0);
        key("mixup", m_augmentation.mixup > 0);
        key("cutmix", m_augmentation.cutmix > 0);
        key("mixes", m_augmentation.mixes());
        key("either", m_augmentation.mixup > 0 && m_augmentation.cutmix > 0);
        if (m_augmentation.cropPadding > 0) set("CROP_PADDING", m_augmentation.cropPadding, "pixels");
        if (m_augmentation.cutout > 0) set("CUTOUT", m_augmentation.cutout, "pixels");
        if (m_augmentation.erasing > 0) set("RANDOM_ERASING", m_augmentation.erasing, "probability");
        if (m_augmentation.mixup > 0) set("MIXUP", m_augmentation.mixup, "of Beta(MIXUP, MIXUP)");
        if (m_augmentation.cutmix > 0) set("CUTMIX", m_augmentation.cutmix, "of Beta(CUTMIX, CUTMIX)");
        chooseJitter();
        if (m_augmentation.cut)
            missing("random_resized_crop", "pictures are read once, and of each the middle is trained on");
        m_template.values["SIDES"] = m_augmentation.flip ? ", first_sides" : "";
    }

    void chooseJitter() {
        const JitterRanges& jitter = m_augmentation.jitter;
        if (!jitter.isOn()) return;
        set("BRIGHTNESS, CONTRAST, SATURATION, HUE",
            listed(std::array{jitter.brightness, jitter.contrast, jitter.saturation, jitter.hue},
                   [](double each) { return numberText(each); }));
        missing("jitter", "torchvision's is taken, which computes in floats: a level may be another one by a little");
    }

    void choosePrecision() {
        const bool isMeasured = m_spec.precision == kAutoPrecision;
        const std::string precision = isMeasured ? "fp32" : m_spec.precision;
        if (isMeasured) missing("precision", "auto measures which is the fastest on a machine; here it is fp32");
        key("tf32", precision == "tf32");
        key(precision == "tf32" ? "fp32" : precision.c_str());
        if (precision == "bf16" || precision == "fp16")
            missing("precision", precision + " is torch.autocast's, which rounds at other places");
    }

    void chooseRest() {
        set("SEED", std::to_string(m_spec.seed));
        set("LABEL_SMOOTHING", m_spec.labelSmoothing);
        key("averages", m_spec.averageDecay > 0);
        if (m_spec.averageDecay > 0)
            set("AVERAGE_DECAY", m_spec.averageDecay, "evaluation takes averages of the weights");
        key("frozen", !m_resolved.frozen.empty());
        if (!m_resolved.frozen.empty()) {
            std::vector<std::string> layers;
            for (const std::string& layer : m_resolved.frozen) layers.push_back(pythonPath(layer));
            set("FROZEN", tupleOf(layers));
        }
        chooseWeights();
        choosePrecision();
        set("STOPS_AT_NON_FINITE", flagText(m_spec.onNonFinite == "stop"),
            "else it leaves up to ten updates in a row out");
        set("BUCKET_BYTES", std::to_string(m_spec.bucketBytes));
        set("TIMEOUT", m_spec.timeout, "seconds that processes wait for one");
        chooseFaults();
    }

    void chooseWeights() {
        set("WEIGHTS", m_spec.weights.empty() ? "None" : pythonText(m_spec.weights));
        const bool maySkip = !m_spec.weights.empty() && m_spec.newHead != "no";
        key("new_head", maySkip);
        if (maySkip)
            set("NEW_HEAD", pythonText(m_spec.newHead), "the file's head is not taken; auto: if it does not fit");
        m_template.values["NEW_HEAD"] = maySkip ? ", NEW_HEAD if options.weights == WEIGHTS else \"no\"" : "";
        m_template.values["NEW_HEAD_PARAMETER"] = maySkip ? ", new_head" : "";
        if (!m_spec.weights.empty()) missing("weights", "a file with torchvision's names is not taken");
    }

    void chooseFaults() {
        if (m_spec.validationShare > 0)
            missing("validation_share", "the model trains on all training samples, and the test samples choose");
        if (m_spec.loaderThreads > 1) missing("loader_threads", "batches are made between updates");
        if (m_spec.checkEvery > 0) missing("check_every", "processes do not compare their weights");
        missing("checkpoint_minutes", "nothing is kept to go on from but the weights of --save");
        if (m_spec.onNonFinite == "skip" && m_model.hasNorms)
            missing("on_non_finite", "an update that is left out has moved the running statistics of norms");
        if (m_request.devices != 1 && m_spec.onLostDevice == "continue")
            missing("on_lost_device", "the run ends with any of its processes");
        if (m_spec.loaderLimit > 0) missing("loader_limit", "loading is not held back");
        if (m_spec.simulatesLinks()) missing("link_bandwidth, link_latency", "no link is simulated");
    }

    std::string needs() const {
        const DatasetInfo& trained = m_request.trained;
        std::string out;
        if (isImages()) {
            const ImageShape image = trained.image();
            out = "SIZE = (" + std::to_string(image.channels) + ", " + std::to_string(image.height) + ", " +
                  std::to_string(image.width) + ")  # channels (" + (image.channels == 1 ? "grey" : "R, G, B") +
                  "), height, width\n";
            if (measures()) out += "MEAN = DEVIATION = None  # of the training images: see measure()\n";
            else
                out += "MEAN = (" + listed(trained.mean, floatText) +
                       ",)  # of pixels of 0 to 1, by channel\nDEVIATION = (" + listed(trained.deviation, floatText) +
                       ",)\n";
        } else {
            out = "TOKENS = " + std::to_string(findField(trained.fields, "tokens")->type.shape.count()) +
                  "  # bytes of UTF-8 text; 0 behind the end\n";
        }
        if (m_task == ModelTask::NextTokens)
            return out + "CLASSES = " + std::to_string(trained.classes.size()) + "  # bytes";
        std::string line = "CLASSES = [";
        for (const std::string& name : trained.classes) {
            const std::string item = (&name == trained.classes.data() ? "" : ", ") + pythonText(name);
            if (line.size() + item.size() > 110) {
                out += line + ",\n";
                line = "    " + item.substr(2);
            } else {
                line += item;
            }
        }
        return out + line + ']';
    }

    std::string header() const {
        const std::string file = isPlainName(m_request.file) ? m_request.file : "train.py";
        const std::string trial =
            m_request.trial > 0 ? "Lockstep's trial " + std::to_string(m_request.trial) : "a trial of Lockstep's";
        std::string out = "# " + plain(m_spec.model.id) + " on " + plain(m_spec.dataset.id) +
                          ", trained by PyTorch with the settings of " + trial + ".\n#\n";
        const auto line = [&](const std::string& text) { out += text.empty() ? "#\n" : "# " + text + '\n'; };
        line("    python3 " + file);
        line("    torchrun --standalone --nproc-per-node=" + std::to_string(std::max(m_request.devices, 1)) + ' ' +
             file);
        if (m_request.devices > 1) line("The trial had so many devices" + batchNormText() + '.');
        if (m_request.devices == 0)
            line("How many devices the trial had depended on its machine: give torchrun as many processes.");
        if (m_request.hasCheckpoint && m_request.trial > 0) {
            line("");
            line("    lockstep export-weights " + std::to_string(m_request.trial) + " weights.safetensors");
            line("    python3 " + file + " --weights weights.safetensors");
        }
        line("");
        line(std::string("It takes torch and numpy") + (m_template.keys.contains("pillow") ? ", and Pillow" : "") +
             (m_template.keys.contains("jitter") ? ", and torchvision" : "") + ", and nothing of Lockstep's.");
        if (measures())
            line("No checkpoint tells mean and deviation of the training images: the script measures them.");
        line("Random numbers are PyTorch's and numpy's, not the trial's: order of the samples, first weights" +
             randomText() + '.');
        line("--order and --weights give it the trial's.");
        line("");
        line("Settings of the trial that it does not express:");
        for (const auto& [setting, why] : m_missing) line("  " + setting + ": " + why + '.');
        out.pop_back();
        return out;
    }

    std::string batchNormText() const {
        const bool isLocal = m_model.hasNorms && m_spec.batchNorm == "local" && !m_spec.reproducible();
        return isLocal ? ", each of which took batch norms over its own samples" : "";
    }

    std::string randomText() const {
        std::string out;
        if (m_model.hasDropout) out += ", dropout";
        if (m_augmentation != Augmentation{}) out += ", augmentation";
        return out;
    }

    const PytorchExport& m_request;
    const TrialSpec& m_spec;
    const ResolvedSpec& m_resolved;
    const UpdateRule& m_update;
    const ModelTask m_task;
    const PytorchModel m_model;
    const Augmentation m_augmentation;
    Template m_template;
    std::string m_settings;
    std::vector<std::pair<std::string, std::string>> m_missing;
};

// Ends the opening of data as soon as they are described.
struct Described {
    static constexpr const char* kCode = "dataset.described";
};

}  // namespace

std::string pytorchScript(const PytorchExport& request) { return Script(request).text(); }

Result<ResolvedSpec> resolveToExport(const TrialSpec& spec, const Environment& environment) {
    auto resolved = resolve(spec, environment);
    if (resolved.ok()) return resolved;
    TrialSpec here = spec;
    here.devices = "cpu:1";
    here.precision = "fp32";
    here.mode = "fast";
    here.shares.clear();
    auto fallback = resolve(here, environment);
    if (!fallback.ok()) return resolved.problems();
    return fallback;
}

int devicesNamed(const TrialSpec& spec) {
    const std::size_t colon = spec.devices.find(':');
    const std::string text = colon == std::string::npos ? "" : spec.devices.substr(colon + 1);
    if (text.empty() || text == "all") return 0;
    if (spec.devices.starts_with("cuda:")) return static_cast<int>(1 + std::ranges::count(text, ','));
    int count = 0;
    std::from_chars(text.data(), text.data() + text.size(), count);
    return count;
}

Result<DatasetInfo> describeData(const ResolvedSpec& resolved) {
    const auto path = dataPathOf(*resolved.dataset, resolved.spec.dataPath);
    if (!path.ok()) return path.problems();
    std::optional<DatasetInfo> info;
    OpeningWatch watch;
    watch.described = [&](const DatasetInfo& described) {
        info = described;
        throw ProblemError({"dataset", Described::kCode, {}});
    };
    const auto data = resolved.dataset->open(path.value(), resolved.datasetParams, watch);
    if (data.ok()) info = data.value().train->info();
    if (!info) return data.problems();
    return *info;
}

}  // namespace lockstep
