#pragma once
#include <QString>
#include <QXmlStreamReader>
#include <string>
#include <vector>

namespace lockstep::test {

// Names that want to be more than names, in one language or another.
inline const std::vector<std::string> kHostileNames{
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onload='x",
    "a | b \\| c",
    "two\nlines\r\n# heading",
    "esc \x1b[31m red \x07",
    "nul\x01 and \x7f",
    "broken \xff\xfe utf-8",
    "noncharacter \xef\xbf\xbf",
    "\xe2\x80\xaeright to left",
    "]]> <!-- --> &amp; &#60;",
    "`code` ``more`` **bold** _it_ ~~gone~~ $x$",
    "[link](javascript:alert(1)) ![pic](x)",
    "1. one",
    "- dash",
    "@someone #1",
    "</title></svg></style><style>*{display:none}",
};

// The text of all elements but <style>, or why it is no XML.
struct ParsedXml {
    QString error;
    QStringList elements, texts;
};
inline ParsedXml parsedXml(const std::string& text) {
    ParsedXml out;
    QXmlStreamReader xml(QByteArray::fromStdString(text));
    QStringList open;
    while (!xml.atEnd()) {
        xml.readNext();
        if (xml.isStartElement()) open << xml.name().toString(), out.elements << open.last();
        if (xml.isEndElement()) open.removeLast();
        if (xml.isCharacters() && !xml.isWhitespace() && open.last() != "style") out.texts << xml.text().toString();
    }
    if (xml.hasError()) out.error = QString("line %1: %2").arg(xml.lineNumber()).arg(xml.errorString());
    return out;
}

}  // namespace lockstep::test
