#include "engine/model/pytorch_modules.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace lockstep {

namespace {

// Characters that no name has: begin and end of marks.
constexpr char kValue = '\1', kWidth = '\2', kStride = '\3', kClass = '\4', kEnd = '\5';
constexpr std::size_t kLongestLine = 88;

bool isNumberMark(char c) { return c == kWidth || c == kStride; }

// Calls found(kind, number) for each mark and puts what it gives in its place.
template <class Found>
std::string replaceMarks(std::string_view text, Found found) {
    std::string out;
    while (!text.empty()) {
        const std::size_t begin = text.find_first_of("\1\2\3\4");
        out += text.substr(0, begin);
        if (begin == text.npos) break;
        const std::size_t end = text.find(kEnd, begin);
        const std::string_view before = out, after = text.substr(end + 1);
        out += found(text[begin], std::stoll(std::string(text.substr(begin + 1, end - begin - 1))), before, after);
        text = after;
    }
    return out;
}

std::string mark(char kind, std::int64_t number) { return kind + std::to_string(number) + kEnd; }

std::vector<std::size_t> valuesIn(const std::string& text) {
    std::vector<std::size_t> values;
    replaceMarks(text, [&](char kind, std::int64_t number, auto, auto) {
        if (kind == kValue) values.push_back(static_cast<std::size_t>(number));
        return std::string();
    });
    return values;
}

bool isSum(const std::string& expression) {
    int depth = 0;
    for (std::size_t i = 0; i < expression.size(); ++i) {
        if (expression[i] == '(') ++depth;
        if (expression[i] == ')') --depth;
        if (depth == 0 && expression.compare(i, 3, " + ") == 0) return true;
    }
    return false;
}

// A sum within an argument list stands as it is.
std::string placed(const std::string& expression, std::string_view before, std::string_view after) {
    const bool isArgument = (before.ends_with('(') || before.ends_with(", ")) && !after.empty() &&
                            (after.front() == ')' || after.front() == ',');
    const bool isWhole = before.empty() && after.empty();
    return isWhole || isArgument || !isSum(expression) ? expression : '(' + expression + ')';
}

struct Line {
    std::size_t value;
    std::string expression;
    bool isHeavy;
};

// The lines of forward: what is read once goes into the line that reads it, as long as that stays short.
class Lines {
public:
    explicit Lines(const PytorchModule& module) {
        for (const auto& result : module.results)
            for (const std::size_t value : valuesIn(result.expression)) ++m_uses[value];
        for (const auto& result : module.results) add({result.value, result.expression, result.isHeavy});
        for (const Line& line : m_pending) m_lines.push_back(line);
    }

    std::vector<Line> all() && { return std::move(m_lines); }

private:
    void add(Line line) {
        for (const std::size_t value : valuesIn(line.expression)) {
            const auto pending = std::ranges::find(m_pending, value, &Line::value);
            if (pending == m_pending.end()) continue;
            const bool fits = line.expression.size() + pending->expression.size() < kLongestLine;
            if (m_uses[value] == 1 && fits && !(line.isHeavy && pending->isHeavy)) {
                line.expression =
                    replaceMarks(line.expression, [&](char kind, std::int64_t number, auto before, auto after) {
                        if (kind != kValue || static_cast<std::size_t>(number) != value) return mark(kind, number);
                        return placed(pending->expression, before, after);
                    });
                line.isHeavy = line.isHeavy || pending->isHeavy;
            } else {
                m_lines.push_back(*pending);
            }
            m_pending.erase(pending);
        }
        m_pending.push_back(std::move(line));
    }

    std::map<std::size_t, int> m_uses;
    std::vector<Line> m_pending, m_lines;
};

// Variables: a name is taken again as soon as nobody reads what it stands for.
class Variables {
public:
    Variables(const PytorchModule& module, const std::vector<Line>& lines) {
        for (std::size_t i = 0; i < lines.size(); ++i)
            for (const std::size_t value : valuesIn(lines[i].expression)) m_lastUse[value] = i;
        m_lastUse[module.result] = lines.size();
        for (const auto& [value, name] : module.names) {
            m_names[value] = name;
            m_given.insert(value);
        }
        for (const std::size_t input : module.inputs)
            if (!m_names.contains(input)) m_names[input] = unused(0);
    }

    const std::string& operator[](std::size_t value) const { return m_names.at(value); }

    void assign(const Line& line, std::size_t number) {
        for (const std::size_t value : valuesIn(line.expression)) {
            if (m_lastUse[value] > number || m_given.contains(value)) continue;
            m_names[line.value] = m_names.at(value);
            return;
        }
        m_names[line.value] = unused(number);
    }

private:
    std::string unused(std::size_t number) const {
        constexpr std::array kNames{"x", "y", "z", "u", "v", "w"};
        for (std::size_t i = 0;; ++i) {
            std::string name = kNames[i % kNames.size()];
            if (i >= kNames.size()) name += std::to_string(i / kNames.size() + 1);
            const auto isTaken = [&](const auto& each) {
                return each.second == name && m_lastUse.contains(each.first) && m_lastUse.at(each.first) >= number;
            };
            if (std::ranges::none_of(m_names, isTaken)) return name;
        }
    }

    std::map<std::size_t, std::size_t> m_lastUse;
    std::map<std::size_t, std::string> m_names;
    std::set<std::size_t> m_given;  // whose names stay theirs
};

std::string forwardText(const PytorchModule& module) {
    const std::vector<Line> lines = Lines(module).all();
    Variables variables(module, lines);
    std::string head = "    def forward(self", body;
    for (const std::size_t input : module.inputs) head += ", " + variables[input];
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string expression =
            replaceMarks(lines[i].expression, [&](char kind, std::int64_t number, auto, auto) {
                return kind == kValue ? variables[static_cast<std::size_t>(number)] : mark(kind, number);
            });
        const bool isLast = lines[i].value == module.result;
        if (!isLast) variables.assign(lines[i], i);
        body += "        " + (isLast ? "return " : variables[lines[i].value] + " = ") + expression + '\n';
    }
    return head + "):\n" + body;
}

// A kind of child.
struct Kind {
    std::string base;  // "Block"
    std::string text;  // from "(nn.Module)" on, with class marks
};

struct Instance {
    std::size_t kind = 0;
    std::vector<std::string> arguments;  // marks
};

class Classes {
public:
    std::string of(const PytorchModule& whole) {
        std::vector<std::vector<const PytorchModule*>> levels;
        collect(whole, 0, levels);
        for (std::size_t level = levels.size(); level-- > 1;) makeKinds(levels[level]);
        std::string text;
        for (std::size_t kind = 0; kind < m_kinds.size(); ++kind)
            text += "class " + mark(kClass, static_cast<std::int64_t>(kind)) + m_kinds[kind].text + "\n\n";
        text += "class Net" + classText(whole, "");
        return replaceMarks(text, [&](char kind, std::int64_t number, auto, auto) {
            return kind == kClass ? nameOf(static_cast<std::size_t>(number)) : std::to_string(number);
        });
    }

private:
    static void collect(const PytorchModule& module, std::size_t level,
                        std::vector<std::vector<const PytorchModule*>>& levels) {
        if (levels.size() <= level) levels.resize(level + 1);
        levels[level].push_back(&module);
        for (const PytorchModule& child : module.children) collect(child, level + 1, levels);
    }

    // "block12/" of "stage1/block12/" is a Block.
    static std::string baseOf(const std::string& path) {
        const std::size_t end = path.size() - 1, slash = path.rfind('/', end - 1);
        std::string base = path.substr(slash == path.npos ? 0 : slash + 1, end - (slash + 1));
        while (base.size() > 1 && base.back() >= '0' && base.back() <= '9') base.pop_back();
        if (base.front() >= 'a' && base.front() <= 'z') base.front() = static_cast<char>(base.front() - 'a' + 'A');
        base = pythonName(base);
        return base == "Net" ? "Part" : base;
    }

    void makeKinds(const std::vector<const PytorchModule*>& modules) {
        struct Alike {
            std::vector<const PytorchModule*> modules;
            std::vector<std::string> texts;
        };
        std::vector<std::string> order;
        std::map<std::string, Alike> alike;
        for (const PytorchModule* each : modules) {
            const std::string text = classText(*each, "\6");
            const std::string without =
                baseOf(each->path) + replaceMarks(text, [](char kind, std::int64_t number, auto, auto) {
                    return isNumberMark(kind) ? std::string(1, kind) : mark(kind, number);
                });
            if (!alike.contains(without)) order.push_back(without);
            alike[without].modules.push_back(each);
            alike[without].texts.push_back(text);
        }
        for (const std::string& each : order) makeKind(alike[each].modules, alike[each].texts);
    }

    struct Number {
        char kind;
        std::vector<std::int64_t> values;  // by module
        bool operator==(const Number&) const = default;
        bool differs() const { return std::ranges::count(values, values.front()) != std::ssize(values); }
    };

    static std::vector<Number> numbersIn(const std::vector<std::string>& texts) {
        std::vector<Number> numbers;
        for (const std::string& text : texts) {
            std::size_t at = 0;
            replaceMarks(text, [&](char kind, std::int64_t value, auto, auto) {
                if (!isNumberMark(kind)) return std::string();
                if (numbers.size() == at) numbers.push_back({kind, {}});
                numbers[at++].values.push_back(value);
                return std::string();
            });
        }
        return numbers;
    }

    void makeKind(const std::vector<const PytorchModule*>& modules, const std::vector<std::string>& texts) {
        const std::vector<Number> numbers = numbersIn(texts);
        std::vector<Number> parameters;  // what differs, each once
        for (const Number& each : numbers)
            if (each.differs() && std::ranges::count(parameters, each) == 0) parameters.push_back(each);
        const std::vector<std::string> names = parameterNames(parameters);
        std::size_t at = 0;
        std::string text = replaceMarks(texts.front(), [&](char kind, std::int64_t number, auto, auto) {
            if (!isNumberMark(kind)) return mark(kind, number);
            const auto found = std::ranges::find(parameters, numbers[at++]);
            return found == parameters.end() ? std::to_string(number)
                                             : names[static_cast<std::size_t>(found - parameters.begin())];
        });
        std::string list;
        for (const std::string& name : names) list += ", " + name;
        text.replace(text.find('\6'), 1, list);
        for (std::size_t i = 0; i < modules.size(); ++i) {
            Instance& instance = m_instances[modules[i]];
            instance.kind = m_kinds.size();
            for (const Number& each : parameters) instance.arguments.push_back(mark(each.kind, each.values[i]));
        }
        m_kinds.push_back({baseOf(modules.front()->path), text});
    }

    // "width1", "width2"; "width" where it is the only one.
    static std::vector<std::string> parameterNames(const std::vector<Number>& parameters) {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            const char kind = parameters[i].kind;
            const auto count = std::ranges::count(parameters, kind, &Number::kind);
            const auto before = std::count_if(parameters.begin(), parameters.begin() + static_cast<std::ptrdiff_t>(i),
                                              [&](const Number& each) { return each.kind == kind; });
            names.push_back((kind == kWidth ? "width" : "stride") + (count > 1 ? std::to_string(before + 1) : ""));
        }
        return names;
    }

    std::string classText(const PytorchModule& module, const std::string& parameters) const {
        std::string text = "(nn.Module):\n    def __init__(self" + parameters + "):\n        super().__init__()\n";
        for (const PytorchModule::Layer& layer : module.layers)
            text += "        self." + layer.name + " = " +
                    (layer.child ? callOf(module.children[*layer.child]) : layer.text) + '\n';
        return text + '\n' + forwardText(module);
    }

    std::string callOf(const PytorchModule& child) const {
        const Instance& instance = m_instances.at(&child);
        std::string text = mark(kClass, static_cast<std::int64_t>(instance.kind)) + '(';
        for (std::size_t i = 0; i < instance.arguments.size(); ++i) text += (i > 0 ? ", " : "") + instance.arguments[i];
        return text + ')';
    }

    // "Block" where there is one such kind, else "Block1", "Block2".
    std::string nameOf(std::size_t kind) const {
        const std::string& base = m_kinds[kind].base;
        const auto count = std::ranges::count(m_kinds, base, &Kind::base);
        const auto before = std::count_if(m_kinds.begin(), m_kinds.begin() + static_cast<std::ptrdiff_t>(kind),
                                          [&](const Kind& each) { return each.base == base; });
        return count > 1 ? base + std::to_string(before + 1) : base;
    }

    std::vector<Kind> m_kinds;
    std::map<const PytorchModule*, Instance> m_instances;
};

bool isKeyword(const std::string& word) {
    static const std::set<std::string> kWords{
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
        "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
        "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
        // What nn.Module has already.
        "add_module", "apply", "bfloat16", "buffers", "call_super_init", "children", "compile", "cpu", "cuda", "double",
        "dump_patches", "eval", "extra_repr", "float", "forward", "get_buffer", "get_parameter", "get_submodule",
        "half", "ipu", "load_state_dict", "modules", "named_children", "named_modules", "parameters", "requires_grad_",
        "share_memory", "state_dict", "to", "to_empty", "train", "training", "type", "xpu", "zero_grad"};
    return kWords.contains(word);
}

}  // namespace

std::string PytorchModule::valueMark(std::size_t value) { return mark(kValue, static_cast<std::int64_t>(value)); }
std::string PytorchModule::width(std::int64_t number) { return mark(kWidth, number); }
std::string PytorchModule::stride(std::int64_t number) { return mark(kStride, number); }

std::string pythonClasses(PytorchModule whole) { return Classes().of(whole); }

std::string pythonName(const std::string& part) {
    std::string name = part;
    for (char& c : name) {
        const bool isGood = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (!isGood) c = '_';
    }
    const bool isBad = name.empty() || (name.front() >= '0' && name.front() <= '9') || isKeyword(name);
    return isBad ? '_' + name : name;
}

std::string pythonPath(const std::string& name) {
    std::string path;
    for (std::size_t begin = 0; begin <= name.size();) {
        const std::size_t end = std::min(name.find('/', begin), name.size());
        path += (begin > 0 ? "." : "") + pythonName(name.substr(begin, end - begin));
        begin = end + 1;
    }
    return path;
}

}  // namespace lockstep
