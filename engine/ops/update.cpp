#include "engine/ops/update.h"

#include <algorithm>

#include "engine/ops/rules.h"

namespace lockstep {

namespace {

ParamField number(std::string name, double fallback, double low, std::optional<double> high, std::string meaning) {
    return {.name = std::move(name), .fallback = fallback, .low = low, .high = high, .choices = {}, .unit = "",
            .meaning = std::move(meaning)};
}

ParamField clipNorm() {
    return number("clip_norm", 0, 0, std::nullopt,
                  "Scales the whole gradient down to this norm when it is larger; 0: never.");
}

ParamSchema sgdParams() {
    return {number("momentum", 0.9, 0, 0.9999, "How much of the last update's direction is kept."),
            {.name = "nesterov", .fallback = false, .low = {}, .high = {}, .choices = {}, .unit = "",
             .meaning = "Looks ahead along the momentum before it steps."},
            number("weight_decay", 0, 0, std::nullopt,
                   "Pulls weights towards zero; norms and biases are left out."),
            clipNorm()};
}

ParamSchema adamParams() {
    return {number("beta1", 0.9, 0, 0.9999, "Decay of the running mean of gradients."),
            number("beta2", 0.999, 0, 0.99999, "Decay of the running mean of squared gradients."),
            number("epsilon", 1e-8, 1e-16, 1, "Added to the root of the mean square, against division by zero."),
            number("weight_decay", 0.01, 0, std::nullopt,
                   "Pulls weights towards zero, apart from the gradient; norms and biases are left out."),
            clipNorm()};
}

UpdateRule makeSgd(const ParamValues& params) {
    UpdateRule rule;
    rule.kind = UpdateRule::Kind::Sgd;
    rule.momentum = params.number("momentum");
    rule.nesterov = params.flag("nesterov");
    rule.weightDecay = params.number("weight_decay");
    rule.clipNorm = params.number("clip_norm");
    return rule;
}

UpdateRule makeAdamW(const ParamValues& params) {
    UpdateRule rule;
    rule.kind = UpdateRule::Kind::AdamW;
    rule.beta1 = params.number("beta1");
    rule.beta2 = params.number("beta2");
    rule.epsilon = params.number("epsilon");
    rule.weightDecay = params.number("weight_decay");
    rule.clipNorm = params.number("clip_norm");
    return rule;
}

}  // namespace

int UpdateRule::stateCount() const {
    if (kind == Kind::AdamW) return 2;
    return momentum != 0 ? 1 : 0;
}

std::string_view UpdateRule::stateName(int state) const {
    if (kind == Kind::Sgd) return "momentum";
    return state == 0 ? "exp_avg" : "exp_avg_sq";
}

std::string describe(const UpdateRule& rule) {
    std::string out;
    if (rule.kind == UpdateRule::Kind::Sgd) {
        out = "sgd momentum=" + numberText(rule.momentum) + (rule.nesterov ? " nesterov" : "");
    } else {
        out = "adamw beta1=" + numberText(rule.beta1) + " beta2=" + numberText(rule.beta2) +
              " epsilon=" + numberText(rule.epsilon);
    }
    out += " weight_decay=" + numberText(rule.weightDecay);
    if (rule.clipNorm > 0) out += " clip_norm=" + numberText(rule.clipNorm);
    if (rule.averageDecay > 0) out += " average_decay=" + numberText(rule.averageDecay);
    return out;
}

double averageDecayAt(double decay, std::int64_t updates) {
    const auto number = static_cast<double>(updates + 1);
    return std::min(decay, (1 + number) / (10 + number));
}

const std::vector<UpdateEntry>& updateRules() {
    static const std::vector<UpdateEntry> entries{{"sgd", sgdParams(), makeSgd}, {"adamw", adamParams(), makeAdamW}};
    return entries;
}

const UpdateEntry* findUpdateRule(std::string_view name) {
    const auto& entries = updateRules();
    const auto found = std::ranges::find(entries, name, &UpdateEntry::name);
    return found == entries.end() ? nullptr : &*found;
}

}  // namespace lockstep
