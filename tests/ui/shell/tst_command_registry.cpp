#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QtTest>

#include "ui/shell/command_registry.h"
#include "ui/shell/page_frame.h"

using namespace lockstep::ui;

namespace {

// A page that the window has never heard of.
class StrangePage : public Page {
public:
    StrangePage() : m_own("Wave", this) { m_own.setObjectName("strange.wave"); }
    static PageFace face() {
        return {"strange", "&Strange", [] { return QIcon(); }};
    }
    QList<QAction*> commands() const override { return {const_cast<QAction*>(&m_own)}; }
    std::optional<EmptyState> emptyState() const override {
        return isEmpty ? std::optional(EmptyState{"Nothing here", "Yet", {{"window.fill", "Fill it"}}}) : std::nullopt;
    }
    void setEmpty(bool empty) {
        isEmpty = empty;
        emit emptyStateChanged();
    }
    bool isEmpty = true;

private:
    QAction m_own;
};

QStringList idsOf(const QList<QAction*>& actions) {
    QStringList ids;
    for (const QAction* each : actions) ids << (each->isSeparator() ? "-" : each->objectName());
    return ids;
}

}  // namespace

class TestCommandRegistry : public QObject {
    Q_OBJECT
private slots:
    void commandsAreFoundAndRunByTheirIds() {
        QWidget window;
        CommandRegistry registry;
        int runs = 0;
        QAction* fill = registry.add("window.fill", "&Fill", QKeySequence("Ctrl+F"), &window, [&] { ++runs; });
        StrangePage page;
        bool inFront = false;
        registry.setFront([&] { return inFront ? page.commands() : QList<QAction*>(); });
        QCOMPARE(registry.find("window.fill"), fill);
        QVERIFY(window.actions().contains(fill));  // where its shortcut holds
        QVERIFY(!registry.find("strange.wave"));
        inFront = true;
        QCOMPARE(idsOf(registry.commands()), QStringList({"strange.wave", "window.fill"}));
        QVERIFY(registry.run("window.fill"));
        fill->setEnabled(false);
        QVERIFY(!registry.run("window.fill") && !registry.run("nobody.knows"));
        QCOMPARE(runs, 1);
    }

    void menusAreMadeOfIds() {
        QWidget window;
        CommandRegistry registry;
        for (const char* id : {"page.a", "other", "page.b"}) registry.add(id, id, {}, &window, [] {});
        QMenu menu;
        registry.fill(menu, {"other", "-", "page.*", "not.there"});
        QCOMPARE(idsOf(menu.actions()), QStringList({"other", "-", "page.a", "page.b"}));
    }

    void anEmptyPageLeadsOn() {
        std::unique_ptr<PageFrame> whole;
        PageOf<StrangePage> entry([] { return std::make_unique<StrangePage>(); });
        whole = std::make_unique<PageFrame>(&entry);
        PageFrame& frame = *whole;
        auto* page = entry.get();
        QSignalSpy wanted(page, &Page::commandWanted);
        frame.show();
        frame.open();
        QVERIFY(frame.currentWidget() != page);
        auto* button = frame.findChild<QPushButton*>();
        QCOMPARE(button->text(), QString("Fill it"));
        button->click();
        QCOMPARE(wanted.front().front().toString(), QString("window.fill"));
        page->setEmpty(false);
        QCOMPARE(frame.currentWidget(), page);
    }

    void aPageIsMadeWhenItIsOpened() {
        int made = 0;
        std::unique_ptr<PageFrame> whole;
        PageOf<StrangePage> entry([&] {
            ++made;
            return std::make_unique<StrangePage>();
        });
        const QSignalSpy told(&entry, &PageEntry::pageMade);
        QCOMPARE(entry.face().title, QString("&Strange"));
        whole = std::make_unique<PageFrame>(&entry);
        PageFrame& frame = *whole;
        frame.show();
        QVERIFY(made == 0 && !entry.made());
        frame.open();
        frame.open();
        QVERIFY(made == 1 && told.size() == 1);
        QCOMPARE(frame.page(), entry.made());
        QVERIFY(frame.isAncestorOf(entry.get()));
    }
};

QTEST_MAIN(TestCommandRegistry)
#include "tst_command_registry.moc"
