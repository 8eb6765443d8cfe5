#include "engine/report/svg_parts.h"

#include <cmath>

#include "engine/core/number_text.h"
#include "engine/report/markup.h"

namespace lockstep::report::svg {

namespace {

// Blue, orange, green, purple, red, grey: told apart also by those who see fewer colours, and dashed beyond the first.
constexpr const char* kStyle = R"(<style>
.lk{font:11px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif}
.lk text{fill:#4b5563}.lk .lk-t{font-size:13px;font-weight:600;fill:#1f2937}.lk .lk-c{fill:#1f2937}.lk .lk-in{fill:#fff}
.lk .lk-bg{fill:#fff}.lk .lk-g{stroke:#e5e7eb}.lk .lk-a{stroke:#9ca3af}
.lk polyline{fill:none;stroke-width:1.8;stroke-linejoin:round}.lk .lk-r{stroke-width:1;opacity:.28}
.lk .lk-0{stroke:#2563a8}.lk .lk-1{stroke:#c2570c}.lk .lk-2{stroke:#2f7d4f}.lk .lk-3{stroke:#7c4fb0}.lk .lk-4{stroke:#b4304a}.lk .lk-5{stroke:#5b6470}
.lk circle{fill:#fff;stroke-width:1.6}.lk .lk-hit{fill:#2563a8}.lk .lk-miss{fill:#c2570c}.lk .lk-few{fill:#9ca3af}
@media(prefers-color-scheme:dark){.lk text{fill:#a3acb9}.lk .lk-t,.lk .lk-c{fill:#e5e9f0}
.lk .lk-bg{fill:#171b21}.lk .lk-g{stroke:#2b323c}.lk .lk-a{stroke:#5b6470}
.lk .lk-0{stroke:#6aa9e9}.lk .lk-1{stroke:#f0975a}.lk .lk-2{stroke:#6cc492}.lk .lk-3{stroke:#b794e6}.lk .lk-4{stroke:#ef7f93}.lk .lk-5{stroke:#a3acb9}
.lk circle{fill:#171b21}.lk .lk-hit{fill:#4583c4}.lk .lk-miss{fill:#d9742c}.lk .lk-few{fill:#5b6470}}
</style>
)";
}  // namespace

std::string number(double value) {
    std::string text = formatted("%.1f", value);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text == "-0" ? "0" : text;
}

std::string attribute(const char* name, double value) { return std::string(" ") + name + "=\"" + number(value) + '"'; }

std::string lineFrom(double x1, double y1, double x2, double y2, const char* kind) {
    return "<line class=\"" + std::string(kind) + '"' + attribute("x1", x1) + attribute("y1", y1) +
           attribute("x2", x2) + attribute("y2", y2) + "/>\n";
}

std::string rectangle(double x, double y, double width, double height, const std::string& more) {
    return "<rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) + attribute("height", height) +
           more + "/>\n";
}

std::string textAt(double x, double y, Anchor anchor, const std::string& text, const std::string& more) {
    const char* word = anchor == Anchor::Start    ? ""
                       : anchor == Anchor::Middle ? " text-anchor=\"middle\""
                                                  : " text-anchor=\"end\"";
    return "<text" + attribute("x", x) + attribute("y", y) + word + more + '>' + xmlText(text) + "</text>\n";
}

std::string turned(double degrees, double x, double y) {
    return " transform=\"rotate(" + number(degrees) + ' ' + number(x) + ' ' + number(y) + ")\"";
}

std::string picture(double width, double height, const std::string& title, const std::string& body,
                    const std::string& style) {
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"lk\" role=\"img\"" + attribute("width", width) +
           attribute("height", height) + " viewBox=\"0 0 " + number(width) + ' ' + number(height) + "\">\n<title>" +
           xmlText(title) + "</title>\n" + kStyle + style + "<rect class=\"lk-bg\"" + attribute("width", width) +
           attribute("height", height) + " rx=\"8\"/>\n" + textAt(14, 22, Anchor::Start, title, " class=\"lk-t\"") +
           body + "</svg>\n";
}

std::string axesOf(const Plot& plot, const std::string& xTitle, const std::string& yTitle) {
    std::string out;
    const double right = plot.left + plot.width, bottom = plot.top + plot.height;
    for (const double tick : plot.y.ticks) {
        out += lineFrom(plot.left, plot.atY(tick), right, plot.atY(tick), "lk-g");
        out += textAt(plot.left - 7, plot.atY(tick) + 4, Anchor::End, tickText(plot.y, tick));
    }
    for (const double tick : plot.x.ticks) {
        out += lineFrom(plot.atX(tick), bottom, plot.atX(tick), bottom + 4, "lk-a");
        out += textAt(plot.atX(tick), bottom + 17, Anchor::Middle, tickText(plot.x, tick));
    }
    out += lineFrom(plot.left, bottom, right, bottom, "lk-a");
    const double middle = plot.top + plot.height / 2;
    out += textAt(plot.left + plot.width / 2, bottom + 35, Anchor::Middle, xTitle);
    return out + textAt(16, middle, Anchor::Middle, yTitle, turned(-90, 16, middle));
}

// Points in a row without a gap between them.
std::string polylines(const Plot& plot, std::span<const ChartPoint> points, const std::string& more) {
    std::string out, line;
    const auto close = [&] {
        if (!line.empty()) out += "<polyline" + more + " points=\"" + line + "\"/>\n";
        line.clear();
    };
    for (const ChartPoint& point : points) {
        if (!std::isfinite(point.y)) {
            close();
            continue;
        }
        line += (line.empty() ? "" : " ") + number(plot.atX(point.x)) + ',' + number(plot.atY(point.y));
    }
    close();
    return out;
}

}  // namespace lockstep::report::svg
