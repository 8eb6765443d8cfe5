#include "engine/report/document.h"

#include <algorithm>
#include <utility>

#include "engine/report/markup.h"

namespace lockstep::report {

namespace {

constexpr const char* kPageStyle = R"(<style>
:root{color-scheme:light dark;--text:#1f2937;--soft:#5b6470;--line:#dfe3e8;--page:#f4f5f7;--sheet:#fff;--code:#f1f3f5}
@media(prefers-color-scheme:dark){:root{--text:#dfe4ec;--soft:#a3acb9;--line:#2b323c;--page:#0e1116;--sheet:#171b21;--code:#1f252d}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif}
main{max-width:900px;margin:28px auto;padding:28px 44px 44px;background:var(--sheet);border:1px solid var(--line);border-radius:12px}
h1{font-size:27px;line-height:1.25;margin:.2em 0 .5em;overflow-wrap:anywhere}
h2{font-size:18px;margin:2em 0 .6em;padding-top:1em;border-top:1px solid var(--line)}
p,li{overflow-wrap:anywhere}li{margin:.25em 0}
.scroll{overflow-x:auto;margin:.8em 0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:5px 16px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}
td{overflow-wrap:break-word}td strong{white-space:nowrap}
th{color:var(--soft);font-weight:600;font-size:13px;white-space:nowrap}
.n{text-align:right;white-space:nowrap}
.d td{font-size:13px;white-space:nowrap;padding:3px 14px 3px 0}.d th{white-space:normal;vertical-align:bottom}.d td:last-child{white-space:normal;min-width:11em}
code,pre{font-family:ui-monospace,"SFMono-Regular","DejaVu Sans Mono",Consolas,monospace;font-size:13px;background:var(--code);border-radius:5px}
code{padding:1px 5px;overflow-wrap:anywhere}
pre{padding:12px 14px;line-height:1.45;white-space:pre-wrap;overflow-wrap:anywhere}pre code{padding:0;background:none}
figure{margin:14px 0}figure svg{max-width:100%;height:auto;border:1px solid var(--line);border-radius:8px}
details{margin:.8em 0}summary{cursor:pointer;color:var(--soft)}
@media(max-width:640px){main{margin:0;border:0;border-radius:0;padding:18px}}
@media print{body{background:none}main{border:0;margin:0;max-width:none;padding:0}figure,tr{break-inside:avoid}}
</style>
)";

constexpr char kHexDigits[] = "0123456789ABCDEF";

class HtmlWriter {
public:
    std::string text(const std::vector<Block>& blocks) {
        for (const Block& block : blocks) std::visit(*this, block.content);
        return std::move(m_out);
    }

    void operator()(const Heading& block) { m_out += "<h2>" + xmlText(block.text) + "</h2>\n"; }
    void operator()(const Paragraph& block) { m_out += "<p>" + line(block.line) + "</p>\n"; }
    void operator()(const BulletList& block) {
        m_out += "<ul>\n";
        for (const Line& each : block.lines) m_out += "<li>" + line(each) + "</li>\n";
        m_out += "</ul>\n";
    }
    void operator()(const TextTable& block) {
        m_out += block.isDense ? "<div class=\"scroll\"><table class=\"d\">\n" : "<div class=\"scroll\"><table>\n";
        if (!block.header.empty()) {
            m_out += "<thead><tr>";
            for (std::size_t i = 0; i < block.header.size(); ++i)
                m_out += open("th", block, i) + xmlText(block.header[i]) + "</th>";
            m_out += "</tr></thead>\n";
        }
        m_out += "<tbody>\n";
        for (const auto& row : block.rows) {
            m_out += "<tr>";
            for (std::size_t i = 0; i < row.size(); ++i) m_out += open("td", block, i) + line(row[i]) + "</td>";
            m_out += "</tr>\n";
        }
        m_out += "</tbody></table></div>\n";
    }
    void operator()(const CodeBlock& block) { m_out += "<pre><code>" + xmlLines(block.text) + "</code></pre>\n"; }
    void operator()(const Figure& block) { m_out += "<figure>\n" + block.svg + "</figure>\n"; }
    void operator()(const Folded& block) {
        m_out += "<details><summary>" + xmlText(block.summary) + "</summary>\n" + HtmlWriter().text(block.blocks) +
                 "</details>\n";
    }

private:
    static std::string open(const std::string& element, const TextTable& table, std::size_t column) {
        return '<' + element + (table.isNumber(column) ? " class=\"n\">" : ">");
    }
    static std::string line(const Line& line) {
        std::string out;
        for (const Span& each : line.spans) {
            const std::string text = xmlText(each.text);
            if (each.kind == Span::Kind::Code) out += "<code>" + text + "</code>";
            else if (each.kind == Span::Kind::Strong) out += "<strong>" + text + "</strong>";
            else out += text;
        }
        return out;
    }

    std::string m_out;
};

class MarkdownWriter {
public:
    explicit MarkdownWriter(std::string folder) : m_folder(std::move(folder)) {}

    std::string text(const std::vector<Block>& blocks) {
        for (const Block& block : blocks) {
            if (!m_out.empty()) m_out += '\n';
            std::visit(*this, block.content);
        }
        return std::move(m_out);
    }

    void operator()(const Heading& block) { m_out += "## " + markdownText(block.text) + '\n'; }
    void operator()(const Paragraph& block) { m_out += line(block.line) + '\n'; }
    void operator()(const BulletList& block) {
        for (const Line& each : block.lines) m_out += "- " + line(each) + '\n';
    }
    void operator()(const TextTable& block) {
        std::vector<Line> header(block.header.begin(), block.header.end());
        if (header.empty() && !block.rows.empty()) header.resize(block.rows.front().size());  // GitHub wants one
        row(header);
        for (std::size_t i = 0; i < header.size(); ++i) m_out += block.isNumber(i) ? "| ---: " : "| --- ";
        m_out += "|\n";
        for (const auto& each : block.rows) row(each);
    }
    void operator()(const CodeBlock& block) { m_out += markdownFence(block.text, block.language); }
    void operator()(const Figure& block) {
        if (m_folder.empty()) m_out += "*Picture left out: " + markdownText(block.alternative) + "*\n";
        else m_out += "![" + markdownText(block.alternative) + "](<" + linked(m_folder) + '/' + block.name + ".svg>)\n";
    }
    void operator()(const Folded& block) {
        m_out += "<details><summary>" + xmlText(block.summary) + "</summary>\n\n" +
                 MarkdownWriter(m_folder).text(block.blocks) + "\n</details>\n";
    }

private:
    static std::string line(const Line& line) {
        std::string out;
        for (const Span& each : line.spans) {
            if (each.kind == Span::Kind::Code) out += markdownCode(each.text);
            else if (each.kind == Span::Kind::Strong) out += "**" + markdownText(each.text) + "**";
            else
                out += markdownText(out.empty()
                                        ? each.text.substr(std::min(each.text.find_first_not_of(' '), each.text.size()))
                                        : each.text);
        }
        return out;
    }
    void row(const std::vector<Line>& cells) {
        for (const Line& each : cells) m_out += "| " + line(each) + ' ';
        m_out += "|\n";
    }

    // Between angle brackets only these end the address, or mean something of their own.
    static std::string linked(const std::string& folder) {
        std::string out;
        for (const char c : folder) {
            const auto byte = static_cast<unsigned char>(c);
            const bool isPlain = byte >= ' ' && std::string_view("%<>\\&#?").find(c) == std::string_view::npos;
            if (isPlain) out += c;
            else out += {'%', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
        }
        return out;
    }

    std::string m_folder, m_out;
};

void collect(const std::vector<Block>& blocks, std::vector<Figure>& out) {
    for (const Block& block : blocks) {
        if (const auto* figure = std::get_if<Figure>(&block.content)) out.push_back(*figure);
        if (const auto* folded = std::get_if<Folded>(&block.content)) collect(folded->blocks, out);
    }
}

}  // namespace

Span code(std::string text) { return {std::move(text), Span::Kind::Code}; }
Span strong(std::string text) { return {std::move(text), Span::Kind::Strong}; }

std::string htmlOf(const Document& document) {
    const std::string title = xmlText(document.title);
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
           "<title>" +
           title + "</title>\n" + kPageStyle + "</head>\n<body>\n<main>\n<h1>" + title + "</h1>\n" +
           HtmlWriter().text(document.blocks) + "</main>\n</body>\n</html>\n";
}

std::string markdownOf(const Document& document, const std::string& folder) {
    return "# " + markdownText(document.title) + "\n\n" + MarkdownWriter(folder).text(document.blocks);
}

std::vector<Figure> figuresOf(const Document& document) {
    std::vector<Figure> all;
    collect(document.blocks, all);
    return all;
}

}  // namespace lockstep::report
