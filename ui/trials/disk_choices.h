#pragma once
#include <QString>
#include <vector>

#include "engine/trials/disk_service.h"

namespace lockstep::ui {

// What a person chose in the dialog that frees disk space; and the words for what it comes to. Needs no window.
struct DiskChoices {
    bool freesCheckpoints = true;
    enum class Keep { Newest, Best, None } keep = Keep::Newest;
    int best = 1;  // with Best: so many beside the newest
    bool traces = false;
    bool onlyOlder = false;
    int days = 30;
    bool onlyThese = false;
    QString trials;  // "3,5,7-9"
    bool caches = false, orphans = false;
};
Result<FreeRequest> requestOf(const DiskChoices& choices);  // Problem "disk.trials"

QString rangesOf(std::vector<std::int64_t> trials);  // {9, 3, 5, 8, 7} -> "3,5,7-9"

namespace disk_text {
QString bytes(std::uint64_t bytes);       // "1.2 GiB"
QString line(const DiskWeight& weight);   // "History: 1.2 GiB in 203 trials; 51 GiB free"
QString parts(const DiskWeight& weight);  // what takes how much
QString plan(const FreePlan& plan);       // what would go, and that it cannot be undone
QString spared(const FreePlan& plan);     // of trials that have not ended, or may go on; empty: none
QString freed(const Freed& freed);        // what went
QString button(const FreePlan* plan);     // "Free 1.2 GiB"; null: none yet
QString name(const TrialWeight& trial);   // its title, or what it trained
}  // namespace disk_text

}  // namespace lockstep::ui
