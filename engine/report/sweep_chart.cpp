#include "engine/report/sweep_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "engine/report/color_ramp.h"
#include "engine/report/markup.h"
#include "engine/report/svg_parts.h"
#include "engine/spec/metric_text.h"

namespace lockstep::report {

namespace {

constexpr int kRampSteps = 16;
constexpr double kRampWidth = 150;

std::string hexOf(const RampColor& color) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "#%02x%02x%02x", color.red & 255, color.green & 255, color.blue & 255);
    return text.data();
}

std::string rampStyle(bool isDark) {
    std::string out;
    for (int i = 0; i < kRampSteps; ++i) {
        const double share = static_cast<double>(i) / (kRampSteps - 1);
        out += ".lk .lk-v" + std::to_string(i) + "{color:" + hexOf(rampColor(share, isDark)) + '}';
    }
    return out + '\n';
}

constexpr const char* kShapes = R"(<style>
.lk .lk-ln{fill:none;stroke:currentColor;stroke-width:1.4;stroke-linejoin:round}.lk .lk-pt{fill:currentColor;stroke:none}
.lk .lk-ring{fill:none;stroke:currentColor;stroke-width:1.4}.lk .lk-thin{stroke-width:.8}.lk .lk-faint{stroke-opacity:.3}.lk .lk-thick{stroke-width:2.2}
.lk .lk-up{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}.lk .lk-hi{fill:#fff}.lk .lk-lo{fill:#1f2937}
.lk .lk-none{fill:none;stroke:#e5e7eb}.lk .lk-whisker{stroke:#1f2937;stroke-width:1.4}
.lk .lk-rest{color:#b9bfc9}.lk .lk-bad{color:#b4304a}.lk .lk-good{color:#2f7d4f}
.lk .lk-s0{color:#2563a8}.lk .lk-s1{color:#c2570c}.lk .lk-s2{color:#2f7d4f}.lk .lk-s3{color:#7c4fb0}.lk .lk-s4{color:#b4304a}.lk .lk-s5{color:#5b6470}
)";
constexpr const char* kDarkShapes = R"(@media(prefers-color-scheme:dark){
.lk .lk-up{stroke:#171b21}.lk .lk-hi{fill:#171b21}.lk .lk-lo{fill:#e5e9f0}
.lk .lk-none{stroke:#2b323c}.lk .lk-whisker{stroke:#e5e9f0}.lk .lk-rest{color:#454e5b}.lk .lk-bad{color:#ef7f93}.lk .lk-good{color:#6cc492}
.lk .lk-s0{color:#6aa9e9}.lk .lk-s1{color:#f0975a}.lk .lk-s2{color:#6cc492}.lk .lk-s3{color:#b794e6}.lk .lk-s4{color:#ef7f93}.lk .lk-s5{color:#a3acb9}
)";

}  // namespace

std::string sweepStyle() { return kShapes + rampStyle(false) + kDarkShapes + rampStyle(true) + "}</style>\n"; }

std::string rampClass(double goodness) {
    const double step = std::clamp(goodness, 0.0, 1.0) * (kRampSteps - 1);
    return "lk-v" + std::to_string(std::lround(step));
}

std::string rampKey(double x, double y, const ObjectiveRange& range, const Metric& metric) {
    std::string out;
    const double step = kRampWidth / kRampSteps;
    for (int i = 0; i < kRampSteps; ++i)
        out += svg::rectangle(x + step * i, y, step + 0.3, 8, " class=\"lk-pt lk-v" + std::to_string(i) + '"');
    const double worst = range.isHigherBetter ? range.low : range.high;
    const double best = range.isHigherBetter ? range.high : range.low;
    const std::string beyond = !range.isClipped ? "" : range.isHigherBetter ? "≤ " : "≥ ";
    return out + svg::textAt(x - 7, y + 8, svg::Anchor::End, beyond + metricText(metric, worst)) +
           svg::textAt(x + kRampWidth + 7, y + 8, svg::Anchor::Start, metricText(metric, best));
}

std::string titleElement(const std::string& text) { return "<title>" + xmlText(text) + "</title>"; }

std::string dot(double x, double y, double radius, const std::string& classes, const std::string& more) {
    return "<circle class=\"" + classes + '"' + svg::attribute("cx", x) + svg::attribute("cy", y) +
           svg::attribute("r", radius) + (more.empty() ? "/>\n" : '>' + more + "</circle>\n");
}

std::string cross(double x, double y, double reach, const std::string& classes) {
    const auto stroke = [&](double up) {
        return 'M' + svg::number(x - reach) + ' ' + svg::number(y - up) + 'L' + svg::number(x + reach) + ' ' +
               svg::number(y + up);
    };
    return "<path class=\"lk-ln " + classes + "\" d=\"" + stroke(reach) + stroke(-reach) + "\"/>\n";
}

}  // namespace lockstep::report
