#include "ui/train/problem_list.h"

#include <QJsonObject>

namespace lockstep::ui {

Problems problemsFrom(const QJsonArray& rows) {
    Problems problems;
    for (const auto& row : rows) {
        const auto object = row.toObject();
        if (!object["code"].isString()) continue;
        Problem problem{object["field"].toString().toStdString(), object["code"].toString().toStdString(), {}};
        for (const auto& arg : object["args"].toArray())
            problem.args.push_back(arg.toVariant().toString().toStdString());
        problems.push_back(std::move(problem));
    }
    return problems;
}

}  // namespace lockstep::ui
