#include "engine/ops/update.h"

#include <algorithm>

#include "engine/ops/rules.h"

namespace lockstep {

namespace {

ParamField number(std::string name, double fallback, double low, std::optional<double> high, std::string meaning) {
    return {.name = std::move(name),
            .fallback = fallback,
            .low = low,
            .high = high,
            .choices = {},
            .unit = "",
            .meaning = std::move(meaning)};
}

ParamField clipNorm() {
    return number("clip_norm", 0, 0, std::nullopt,
                  "Scales the whole gradient down to this norm when it is larger; 0: never.");
}

ParamField momentum(double fallback) {
    return number("momentum", fallback, 0, 0.9999, "How much of the last update's direction is kept.");
}

ParamField nesterov(bool fallback) {
    return {.name = "nesterov",
            .fallback = fallback,
            .low = {},
            .high = {},
            .choices = {},
            .unit = "",
            .meaning = "Looks ahead along the momentum before it steps."};
}

ParamSchema sgdParams() {
    return {momentum(0.9), nesterov(false),
            number("weight_decay", 0, 0, std::nullopt, "Pulls weights towards zero; norms and biases are left out."),
            clipNorm()};
}

ParamSchema larsParams() {
    return {
        momentum(0.9),
        number("trust", 0.001, 1e-9, 1,
               "How far a layer's weights may move, of their own norm, at a learning rate of 1."),
        number("weight_decay", 0.0005, 0, std::nullopt, "Pulls weights towards zero; norms and biases are left out."),
        clipNorm()};
}

ParamSchema muonParams() {
    return {
        momentum(0.95),
        nesterov(true),
        number("weight_decay", 0, 0, std::nullopt,
               "Pulls weights towards zero, apart from the gradient; norms and biases are left out."),
        number("adam_share", 0.015, 0, 1,
               "The learning rate of AdamW, which takes norms, biases, tables and the head, as a share of Muon's."),
        number("beta1", 0.9, 0, 0.9999, "AdamW's decay of the running mean of gradients."),
        number("beta2", 0.95, 0, 0.99999, "AdamW's decay of the running mean of squared gradients."),
        number("epsilon", 1e-10, 1e-16, 1, "AdamW: added to the root of the mean square, against division by zero."),
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

UpdateRule makeLars(const ParamValues& params) {
    UpdateRule rule;
    rule.kind = UpdateRule::Kind::Lars;
    rule.momentum = params.number("momentum");
    rule.trust = params.number("trust");
    rule.weightDecay = params.number("weight_decay");
    rule.clipNorm = params.number("clip_norm");
    return rule;
}

UpdateRule makeMuon(const ParamValues& params) {
    UpdateRule rule = makeAdamW(params);
    rule.kind = UpdateRule::Kind::Muon;
    rule.momentum = params.number("momentum");
    rule.nesterov = params.flag("nesterov");
    rule.adamShare = params.number("adam_share");
    return rule;
}

std::string describeMomentum(const UpdateRule& rule) {
    return "momentum=" + numberText(rule.momentum) + (rule.nesterov ? " nesterov" : "");
}

std::string describeAdam(const UpdateRule& rule) {
    return "beta1=" + numberText(rule.beta1) + " beta2=" + numberText(rule.beta2) +
           " epsilon=" + numberText(rule.epsilon);
}

std::string describeKind(const UpdateRule& rule) {
    switch (rule.kind) {
        case UpdateRule::Kind::Sgd: return "sgd " + describeMomentum(rule);
        case UpdateRule::Kind::AdamW: return "adamw " + describeAdam(rule);
        case UpdateRule::Kind::Lars: return "lars " + describeMomentum(rule) + " trust=" + numberText(rule.trust);
        case UpdateRule::Kind::Muon:
            return "muon " + describeMomentum(rule) + " adam_share=" + numberText(rule.adamShare) + ' ' +
                   describeAdam(rule);
    }
    return {};
}

}  // namespace

int UpdateRule::stateCount() const {
    switch (kind) {
        case Kind::Sgd:
        case Kind::Lars: return momentum != 0 ? 1 : 0;
        case Kind::AdamW:
        case Kind::Muon: return 2;
    }
    return 0;
}

bool UpdateRule::needsWholeParameters() const {
    switch (kind) {
        case Kind::Sgd:
        case Kind::AdamW: return false;
        case Kind::Lars:
        case Kind::Muon: return true;
    }
    return false;
}

std::string_view UpdateRule::stateName(int state) const {
    switch (kind) {
        case Kind::Sgd:
        case Kind::Lars: return "momentum";
        case Kind::AdamW: return state == 0 ? "exp_avg" : "exp_avg_sq";
        case Kind::Muon: return state == 0 ? "momentum" : "exp_avg_sq";
    }
    return {};
}

bool takesMatrixStep(const Value& parameter) {
    return parameter.type.shape.rank() >= 2 && parameter.decays && parameter.name != "head/weight";
}

std::string describe(const UpdateRule& rule) {
    std::string out = describeKind(rule);
    out += " weight_decay=" + numberText(rule.weightDecay);
    if (rule.clipNorm > 0) out += " clip_norm=" + numberText(rule.clipNorm);
    if (rule.averageDecay > 0) out += " average_decay=" + numberText(rule.averageDecay);
    return out;
}

const std::vector<UpdateEntry>& updateRules() {
    static const std::vector<UpdateEntry> entries{{"sgd", sgdParams(), makeSgd},
                                                  {"adamw", adamParams(), makeAdamW},
                                                  {"lars", larsParams(), makeLars},
                                                  {"muon", muonParams(), makeMuon}};
    return entries;
}

const UpdateEntry* findUpdateRule(std::string_view name) {
    const auto& entries = updateRules();
    const auto found = std::ranges::find(entries, name, &UpdateEntry::name);
    return found == entries.end() ? nullptr : &*found;
}

}  // namespace lockstep
