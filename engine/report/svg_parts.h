#pragma once
#include <span>
#include <string>

#include "engine/report/chart_scale.h"

namespace lockstep::report::svg {

// What charts are written of. Lengths are pixels; `more` and `style` are SVG as they are, texts are plain.

inline constexpr double kLeft = 74, kTitleHeight = 34, kUnder = 46;  // room for an axis' numbers, a title, a lower axis
inline constexpr double kLetter = 5.9;                               // of a letter of 11 pixels, about

std::string number(double value);  // with one digit behind the dot at most
std::string attribute(const char* name, double value);
std::string lineFrom(double x1, double y1, double x2, double y2, const char* kind);
std::string rectangle(double x, double y, double width, double height, const std::string& more);
enum class Anchor { Start, Middle, End };
std::string textAt(double x, double y, Anchor anchor, const std::string& text, const std::string& more = {});
std::string turned(double degrees, double x, double y);

// The whole of it, on a background of its own, in the reader's light or dark scheme. `style`: an element <style> beside
// that of all charts.
std::string picture(double width, double height, const std::string& title, const std::string& body,
                    const std::string& style = {});

// Where the plot lies, and its scales.
struct Plot {
    double left = kLeft, top = 0, width = 0, height = 0;
    ChartScale x = {}, y = {};
    double atX(double value) const { return left + width * x.place(value); }
    double atY(double value) const { return top + height * (1 - y.place(value)); }
};
std::string axesOf(const Plot& plot, const std::string& xTitle, const std::string& yTitle);
// Points in a row without a gap between them; one whose y is no number is a gap.
std::string polylines(const Plot& plot, std::span<const ChartPoint> points, const std::string& more);

}  // namespace lockstep::report::svg
