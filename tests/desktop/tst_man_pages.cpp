#include <QRegularExpression>
#include <QSet>
#include <QTemporaryDir>
#include <QtTest>

#include "tests/desktop/outside_program.h"

// The manual pages say what the programs' own help says, no more and no less.
namespace {

using Words = QSet<QString>;

Words matches(const QString& text, const char* pattern) {
    const QRegularExpression expression(pattern, QRegularExpression::MultilineOption);
    Words found;
    for (auto it = expression.globalMatch(text); it.hasNext();) found << it.next().captured(1);
    return found;
}

QString page(const QString& name) { return textOf(sourceFile("packaging/man/" + name + ".1")); }

// Of a page, what stands under a heading (".Sh X" or ".Ss x"), up to the next one; empty where there is none.
QString part(const QString& page, const QString& heading) {
    const auto lines = QRegularExpression::MultilineOption;
    const auto start = QRegularExpression("^\\." + heading + "(?= |$).*\n", lines).match(page);
    if (!start.hasMatch()) return {};
    const auto end = page.indexOf(QRegularExpression("^\\.S[hs] ", lines), start.capturedEnd());
    return page.mid(start.capturedStart(), end < 0 ? -1 : end - start.capturedStart());
}

// The options that a page's items are about: ".It Fl -batch Ar n", ".It Fl -input , -classes".
Words itemOptions(const QString& text) {
    Words out;
    for (const QString& line : text.split('\n')) {
        if (line.startsWith(".It Fl ")) out += matches(line, "(?<= -)([a-z][a-z-]+)");
    }
    return out;
}

Words helpOptions(const QString& help) { return matches(help, "^  (?:-h,)?--([a-z][a-z-]+)"); }

// Of a help text, what stands under a title, up to the next empty line; empty where there is none.
QString section(const QString& help, const QString& title) {
    const auto from = help.indexOf(title);
    return from < 0 ? QString() : help.mid(from, help.indexOf("\n\n", from) - from);
}

Words commands() { return matches(section(run(LOCKSTEP_PROGRAM, {"--help"}).text, "Subcommands:\n"), "^  ([a-z-]+) "); }

QString listed(const Words& words) {
    auto list = words.values();
    list.sort();
    return list.join(' ');
}

}  // namespace

class TestManPages : public QObject {
    Q_OBJECT
private slots:
    void areWellFormed_data() {
        QTest::addColumn<QString>("name");
        QTest::newRow("lockstep") << "lockstep";
        QTest::newRow("lockstep-studio") << "lockstep-studio";
    }
    void areWellFormed() {
        QFETCH(QString, name);
        const auto said = run("mandoc", {"-T", "lint", "-W", "warning", sourceFile("packaging/man/" + name + ".1")});
        QVERIFY2(said.status == 0, qPrintable(said.text));
        QVERIFY(page(name).contains(".Os Lockstep " LOCKSTEP_VERSION "\n"));
    }

    void everyCommandHasItsPart() {
        QVERIFY(commands().size() > 10);
        QCOMPARE(listed(matches(page("lockstep"), "^\\.Ss ([a-z-]+)")), listed(commands()));
    }

    void everyOptionIsExplained_data() {
        QTest::addColumn<QString>("command");
        for (const QString& command : commands()) QTest::newRow(qPrintable(command)) << command;
    }
    void everyOptionIsExplained() {
        QFETCH(QString, command);
        const auto help = run(LOCKSTEP_PROGRAM, {command, "--help"}).text;
        const auto text = part(page("lockstep"), "Ss " + command);
        QCOMPARE(listed(itemOptions(text)), listed(helpOptions(help) - Words{"help"}));
        const auto positionals = matches(section(help, "Positionals:\n"), "^  ([a-z]+) ");
        QCOMPARE(listed(matches(text.section('\n', 0, 0), "Ar ([a-z]+)")), listed(positionals));
    }

    void whatHoldsForAllCommandsIsThere() {
        const auto help = run(LOCKSTEP_PROGRAM, {"--help"}).text;
        const auto text = page("lockstep");
        QCOMPARE(listed(itemOptions(part(text, "Sh DESCRIPTION"))), listed(helpOptions(help)));
        const auto variables = matches(help, "(LOCKSTEP_[A-Z]+)");
        QVERIFY(variables.size() >= 3);
        QCOMPARE(listed(matches(part(text, "Sh ENVIRONMENT"), "^\\.It Ev (LOCKSTEP_[A-Z]+)")), listed(variables));
        QCOMPARE(listed(matches(part(text, "Sh EXIT STATUS"), "^\\.It ([0-9]+)")),
                 listed(matches(help.mid(help.indexOf("Exit status:")), "(?:: |; |;\n)([0-9]+) ")));
    }

    void theStudiosOptionsAreThere() {
        const auto help = run(LOCKSTEP_STUDIO, {"--help"}).text;
        QVERIFY2(help.contains("lockstep-studio [options]"), qPrintable(help));
        const auto text = part(page("lockstep-studio"), "Sh DESCRIPTION");
        QCOMPARE(listed(itemOptions(text)), listed(matches(help, "^  (?:-h, )?--([a-z]+)")));
    }

    // In one home, from top to bottom, as a reader would type them; the trainings of real data themselves take minutes.
    void theExamplesWork() {
        QTemporaryDir home;
        QFile notes(home.filePath("notes.txt"));
        QVERIFY(notes.open(QIODevice::WriteOnly) &&
                notes.write(QByteArray("Dear diary, today it rained.\n").repeated(100)) > 0);
        notes.close();
        const auto examples =
            part(page("lockstep"), "Sh EXAMPLES").split('\n').filter(QRegularExpression("^lockstep "));
        QVERIFY(examples.size() >= 5);
        for (QString example : examples) {
            if (example.contains("--preset") || example.contains("notes.txt")) example += " --print-spec";
            const auto said = run("sh", {"-c", example}, home.path());
            QVERIFY2(said.status == 0, qPrintable(example + '\n' + said.text));
        }
    }
};

QTEST_GUILESS_MAIN(TestManPages)
#include "tst_man_pages.moc"
