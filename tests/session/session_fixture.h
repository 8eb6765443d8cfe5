#pragma once
#include <QTemporaryDir>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "engine/session/run_session.h"

namespace lockstep::test {

// The reference backend, all models, and the synthetic dataset under its own name and others: "broken", whose third
// image is on a bad disk; "unlucky", with which a device fails once; "endless", which is read until somebody stops it;
// "changing", made of dataOfToday().
const Environment& environment();

// What lies where the dataset "changing" is: the files of a person who adds, removes and edits.
std::map<std::string, ParamValue>& dataOfToday();

TrialSpec smallSpec(std::int64_t epochs);

// A place of its own for everything that runs leave, and gone with it.
struct Home {
    Home() {
        const std::filesystem::path base = folder.path().toStdString();
        places = {base, base / "cache", base / "sockets", base / "config"};
    }
    std::unique_ptr<TrialQuery> query() const { return std::move(TrialQuery::open(places.history())).value(); }
    std::unique_ptr<TrialStore> store() const { return std::move(TrialStore::open(places.history())).value(); }
    // As whoever accepts a spec does, and then the engine that runs its row.
    Result<SessionResult> run(const TrialSpec& spec) const { return run({.trial = accept(spec)}); }
    Result<SessionResult> run(const SessionRequest& request) const {
        return runSession(request, environment(), places);
    }
    Result<SessionResult> resume(std::int64_t trial, RunControl* control = nullptr) const {
        return run({.trial = trial, .resume = true, .control = control});
    }
    std::int64_t accept(const TrialSpec& spec) const {
        if (!preparePlaces(places).ok()) qFatal("no home");
        return store()->createTrial(spec, places.runs());
    }
    QTemporaryDir folder;
    Places places;
};

template <class T>
std::string codeOf(const Result<T>& result) {
    return result.ok() ? "" : result.problems().front().code;
}

}  // namespace lockstep::test
