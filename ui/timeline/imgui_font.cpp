#include "ui/timeline/imgui_font.h"

#include <imgui.h>

#include <QFontMetricsF>
#include <QImage>
#include <QPainter>
#include <cmath>
#include <vector>

namespace lockstep::ui {

namespace {

struct Glyph {
    char16_t code;
    int rect, width;
};
constexpr int kBleed = 1;  // device pixels beside a glyph: slanted ones reach out

std::vector<char16_t> characters() {
    std::vector<char16_t> codes;
    const auto add = [&](int from, int to) {
        for (int code = from; code <= to; ++code) codes.push_back(static_cast<char16_t>(code));
    };
    add(0x20, 0x7e);
    add(0xa0, 0x17f);
    add(0x391, 0x3c9);
    for (const char16_t sign : u"–—…•→←↑↓−×≤≥≈∞") codes.push_back(sign);
    codes.pop_back();  // the literal's end
    return codes;
}

void drawGlyph(ImFontAtlas& atlas, const Glyph& glyph, const QFont& font, double ascent) {
    const ImFontAtlasCustomRect& rect = *atlas.GetCustomRectByIndex(glyph.rect);
    QImage image(rect.Width, rect.Height, QImage::Format_Grayscale8);
    image.fill(Qt::black);
    QPainter painter(&image);
    painter.setRenderHint(QPainter::TextAntialiasing);
    painter.setFont(font);
    painter.setPen(Qt::white);
    painter.drawText(QPointF(kBleed, ascent), QString(QChar(glyph.code)));
    painter.end();
    for (int y = 0; y < rect.Height; ++y) {
        unsigned char* const to = atlas.TexPixelsAlpha8 + (rect.Y + y) * atlas.TexWidth + rect.X;
        std::copy_n(image.constScanLine(y), rect.Width, to);
    }
}

}  // namespace

void buildImguiFont(ImFontAtlas& atlas, const QFont& font, double scale) {
    QFont scaled = font;
    scaled.setPixelSize(std::max(static_cast<int>(std::lround(QFontInfo(font).pixelSize() * scale)), 6));
    const QFontMetricsF metrics(scaled);
    const int height = static_cast<int>(std::ceil(metrics.ascent() + metrics.descent()));

    atlas.Clear();
    static const ImWchar onlySpace[] = {' ', ' ', 0};
    ImFontConfig config;
    config.SizePixels = static_cast<float>(height);
    config.GlyphRanges = onlySpace;
    ImFont* const target = atlas.AddFontDefault(&config);
    std::vector<Glyph> glyphs;
    for (const char16_t code : characters()) {
        const double advance = metrics.horizontalAdvance(QChar(code));
        const int width = static_cast<int>(std::ceil(advance)) + 2 * kBleed;
        const int rect = atlas.AddCustomRectFontGlyph(
            target, code, width, height, static_cast<float>(std::round(advance)), {-static_cast<float>(kBleed), 0});
        glyphs.push_back({code, rect, width});
    }
    atlas.Build();
    for (const Glyph& glyph : glyphs) drawGlyph(atlas, glyph, scaled, std::round(metrics.ascent()));
}

}  // namespace lockstep::ui
