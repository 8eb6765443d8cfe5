#include <algorithm>

#include "engine/core/number_text.h"
#include "engine/report/markup.h"
#include "engine/report/svg_parts.h"
#include "engine/report/sweep_chart.h"

// Which settings mattered: two questions with two answers.

namespace lockstep::report {

namespace {

constexpr double kBarLeft = 178, kBarWidth = 196, kPanel = 318, kBarRow = 24, kBarsTop = 62;
constexpr std::size_t kMostBars = 20, kBarName = 26;

std::string shareWords(double share) { return formatted("%.1f %%", 100 * share); }

// Why a question has no answer.
std::string unanswered(ImportanceVerdict verdict, std::size_t tried) {
    switch (verdict) {
        case ImportanceVerdict::Sound: return {};
        case ImportanceVerdict::NothingVaried: return "nothing to say: no setting has two values";
        case ImportanceVerdict::AllAlike: return "nothing to say: too many cells came to the same";
        case ImportanceVerdict::TooFewTried:
            return "too few trials to say: " + counted(static_cast<std::int64_t>(tried), "cell has", "cells have") +
                   " a result, " + std::to_string(kFewestTried) + " are needed";
        case ImportanceVerdict::Unpredictable:
            return "too few trials to say: the forest can hardly predict cells that it has not seen";
        case ImportanceVerdict::Chance: return "too few trials to say: chance alone makes as much of a setting";
    }
    return {};
}

bool isSound(ImportanceVerdict verdict) { return verdict == ImportanceVerdict::Sound; }

std::string barAt(double x, double y, double share, const std::string& colour, const std::string& words,
                  double deviation) {
    const double end = x + kBarWidth * share, middle = y + 7;
    std::string out = svg::rectangle(x, y, std::max(end - x, 0.5), 14,
                                     " class=\"lk-pt " + colour + "\" fill-opacity=\".8\" rx=\"2\"");
    double behind = end;
    if (deviation > 0) {
        const double low = x + kBarWidth * std::max(share - deviation, 0.0);
        behind = x + kBarWidth * std::min(share + deviation, 1.0);
        out += svg::lineFrom(low, middle, behind, middle, "lk-whisker");
    }
    return out + svg::textAt(std::max(behind, end) + 6, middle + 4, svg::Anchor::Start, words, " class=\"lk-up\"");
}

std::string importanceSvg(const SweepFacts& facts, const SweepAnswers& answers) {
    const bool explains = isSound(answers.explains.verdict), decides = isSound(answers.decides.verdict);
    const auto shares = answers.decides.shares();
    const std::size_t rows = std::min(answers.settings.size(), kMostBars);
    std::string body = svg::textAt(kBarLeft, kBarsTop - 12, svg::Anchor::Start,
                                   "explains the differences between all (fANOVA)", " class=\"lk-c\"") +
                       svg::textAt(kBarLeft + kPanel, kBarsTop - 12, svg::Anchor::Start,
                                   "decides on the best 10 % (PED-ANOVA)", " class=\"lk-c\"");
    const auto sayFew = [&](double x) {
        body += svg::textAt(x, kBarsTop + 11, svg::Anchor::Start, "too few trials to say");
    };
    if (!explains) sayFew(kBarLeft);
    if (!decides) sayFew(kBarLeft + kPanel);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t setting = answers.settings[row];
        const double y = kBarsTop + kBarRow * static_cast<double>(row);
        body +=
            svg::textAt(kBarLeft - 10, y + 11, svg::Anchor::End, shortened(settingName(facts.spec, setting), kBarName));
        if (explains) {
            const auto& share = answers.explains.shares[setting];
            body += share ? barAt(kBarLeft, y, share->mean, "lk-s0",
                                  shareWords(share->mean) + " ± " + formatted("%.1f", 100 * share->deviation),
                                  share->deviation)
                          : svg::textAt(kBarLeft, y + 11, svg::Anchor::Start, "too few cells set it");
        }
        if (decides) body += barAt(kBarLeft + kPanel, y, shares[setting], "lk-s1", shareWords(shares[setting]), 0);
    }
    return svg::picture(kWide, kBarsTop + kBarRow * static_cast<double>(rows) + 10, "Importance of the settings", body,
                        sweepStyle());
}

std::string askedOf(const SweepFacts& facts) {
    const std::string cells = counted(std::ssize(facts.tried), "cell", "cells");
    if (facts.triedAt == 0) return "Asked of " + cells + " that were trained to the end.";
    return "Asked of " + cells + " by what they had come to at epoch " + std::to_string(facts.triedAt) +
           ": fewer were trained to the end.";
}

Line explainsWords(const Fanova& found) {
    const std::string question = "Which setting explains the differences between all cells (fANOVA): ";
    if (!isSound(found.verdict)) return question + unanswered(found.verdict, found.tried) + '.';
    std::string words = question + "the bars say it, ± how far the trees of its forest are apart; " +
                        shareWords(found.together()) + " settings do only together.";
    if (found.outOfBag)
        words += " R² out of bag is " + fixedText(*found.outOfBag, 2) +
                 ": 1 predicts unseen cells exactly, 0 no better than their mean.";
    return words;
}

Line decidesWords(const PedAnova& found) {
    const std::string question = "Which setting must be right to be among the best 10 % (PED-ANOVA): ";
    if (!isSound(found.verdict)) return question + unanswered(found.verdict, found.tried) + '.';
    return question + "the bars say it; " + std::to_string(found.best) + " of " + std::to_string(found.tried) +
           " cells are among them.";
}

}  // namespace

Blocks sweepImportance(const SweepFacts& facts, const SweepAnswers& answers) {
    if (!facts.objective || facts.cells.empty()) return {};
    Blocks blocks{{Heading{"Which settings mattered"}}};
    if (isKnown(answers))
        blocks.push_back({Figure{"importance", "Importance of the settings", importanceSvg(facts, answers)}});
    blocks.push_back({BulletList{{explainsWords(answers.explains), decidesWords(answers.decides)}}});
    if (!facts.tried.empty()) blocks.push_back({Paragraph{askedOf(facts)}});
    return blocks;
}

}  // namespace lockstep::report
