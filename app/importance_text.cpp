#include "app/importance_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/format.h"

namespace lockstep {

namespace {

constexpr double kBarWidth = 20;
constexpr double kWorthNaming = 0.1;  // a share

std::string shareBar(double share) {
    std::string bar;
    for (int i = 0; i < static_cast<int>(std::lround(share * kBarWidth)); ++i) bar += "█";
    return bar;
}

std::string quantileText(double share) { return formatted("%.3g %%", 100 * share); }
std::string importanceShare(double share) { return fmt::format("{:.1f} %", 100 * share); }

bool hasAnswer(const auto& found) { return found && found->verdict == ImportanceVerdict::Sound; }

// By setting, of either question; 0 where it is not known.
std::vector<double> fanovaShares(const Fanova& found) {
    std::vector<double> shares;
    for (const auto& each : found.shares) shares.push_back(each ? each->mean : 0);
    return shares;
}

std::vector<std::size_t> settingsByShare(const std::vector<double>& shares) {
    std::vector<std::size_t> order(shares.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return shares[i]; });
    return order;
}

// By the first question that has an answer.
std::vector<std::size_t> settingsInOrder(const ImportanceFindings& findings) {
    if (hasAnswer(findings.fanova)) return settingsByShare(fanovaShares(*findings.fanova));
    if (hasAnswer(findings.pedAnova)) return settingsByShare(findings.pedAnova->shares());
    return settingsByShare(std::vector<double>(findings.settings.size(), 0.0));
}

void addFanovaCells(std::vector<std::string>& row, const std::optional<Fanova>& found, std::size_t setting) {
    const bool isKnown = hasAnswer(found) && found->shares[setting];
    const FanovaShare share = isKnown ? *found->shares[setting] : FanovaShare{};
    row.push_back(isKnown ? fmt::format("{:5.1f} % ± {:.1f}", 100 * share.mean, 100 * share.deviation) : "–");
    row.push_back(shareBar(share.mean));
}

void addPedAnovaCells(std::vector<std::string>& row, const std::optional<PedAnova>& found, std::size_t setting) {
    const double share = hasAnswer(found) ? found->shares()[setting] : 0;
    row.push_back(hasAnswer(found) ? fmt::format("{:5.1f} %", 100 * share) : "–");
    row.push_back(shareBar(share));
}

// "learning_rate 61.2 %, batch 20.1 %": those with a tenth or more, and at least the first.
std::string settingsNamed(const ImportanceFindings& findings, const std::vector<double>& shares) {
    std::string text;
    for (const std::size_t i : settingsByShare(shares)) {
        if (!text.empty() && shares[i] < kWorthNaming) break;
        text += (text.empty() ? "" : ", ") + findings.settings[i].path + " " + importanceShare(shares[i]);
    }
    return printable(text);
}

// Why a question has no answer.
std::string noAnswerText(ImportanceVerdict verdict, std::size_t tried) {
    switch (verdict) {
        case ImportanceVerdict::Sound: return {};
        case ImportanceVerdict::NothingVaried: return "nothing to say: no setting has two values";
        case ImportanceVerdict::AllAlike: return "nothing to say: too many have come to the same";
        case ImportanceVerdict::TooFewTried:
            return fmt::format("too few trials to say: {} of at least {} have a result", tried, kFewestTried);
        case ImportanceVerdict::Unpredictable:
            return "too few trials to say: the forest can hardly predict those that it has not seen";
        case ImportanceVerdict::Chance:
            return "too few trials to say: chance alone makes as much of a setting; a larger --quantile has more of "
                   "them";
    }
    return {};
}

std::string fanovaSentence(const ImportanceFindings& findings) {
    const Fanova& found = *findings.fanova;
    std::string text = "Which setting explains the differences between all trials (fANOVA): ";
    if (!hasAnswer(findings.fanova)) text += noAnswerText(found.verdict, found.tried);
    else
        text += fmt::format("{}; {} settings do only together", settingsNamed(findings, fanovaShares(found)),
                            importanceShare(found.together()));
    if (found.tried >= kFewestTried && found.outOfBag) text += fmt::format(" (R² out of bag {:.2f})", *found.outOfBag);
    return text + ".\n";
}

std::string pedAnovaSentence(const ImportanceFindings& findings) {
    const PedAnova& found = *findings.pedAnova;
    std::string text = fmt::format("Which setting must be right to be among the best {} (PED-ANOVA): ",
                                   quantileText(findings.quantile));
    if (!hasAnswer(findings.pedAnova)) return text + noAnswerText(found.verdict, found.tried) + ".\n";
    return text + fmt::format("{} ({} of {} are).\n", settingsNamed(findings, found.shares()), found.best, found.tried);
}

Json settingJson(const ImportanceFindings& findings, std::size_t i) {
    Json out{{"setting", findings.settings[i].path}};
    if (findings.fanova) {
        const auto& share = findings.fanova->shares[i];
        out["fanova"] = share ? Json{{"share", share->mean}, {"deviation", share->deviation}} : Json();
    }
    if (findings.pedAnova)
        out["ped_anova"] = {{"importance", findings.pedAnova->importances[i]},
                            {"share", findings.pedAnova->shares()[i]}};
    return out;
}

}  // namespace

std::string importanceTable(const ImportanceFindings& findings) {
    std::vector<std::string> header{"SETTING"};
    if (findings.fanova) header.insert(header.end(), {"EXPLAINS", "THE DIFFERENCES"});
    if (findings.pedAnova) header.insert(header.end(), {"DECIDES", "ON THE BEST " + quantileText(findings.quantile)});
    Table table(header);
    for (const std::size_t i : settingsInOrder(findings)) {
        std::vector<std::string> row{findings.settings[i].path};
        if (findings.fanova) addFanovaCells(row, findings.fanova, i);
        if (findings.pedAnova) addPedAnovaCells(row, findings.pedAnova, i);
        table.add(std::move(row));
    }
    return table.text();
}

std::string importanceSentences(const ImportanceFindings& findings) {
    return (findings.fanova ? fanovaSentence(findings) : "") + (findings.pedAnova ? pedAnovaSentence(findings) : "");
}

Json importanceJson(const ImportanceFindings& findings) {
    Json out{{"settings", Json::array()}};
    for (const std::size_t i : settingsInOrder(findings)) out["settings"].push_back(settingJson(findings, i));
    if (const auto& found = findings.fanova)
        out["fanova"] = {{"verdict", text(found->verdict)},
                         {"used", found->tried},
                         {"r2_out_of_bag", found->outOfBag ? Json(*found->outOfBag) : Json()},
                         {"together", found->together()}};
    if (const auto& found = findings.pedAnova)
        out["ped_anova"] = {{"verdict", text(found->verdict)},
                            {"used", found->tried},
                            {"best", found->best},
                            {"quantile", findings.quantile}};
    return out;
}

}  // namespace lockstep
