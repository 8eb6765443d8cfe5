#include <QtTest>
#include <cmath>

#include "engine/search/gaussian_process.h"
#include "engine/search/gp_search.h"
#include "engine/search/minimise.h"

using namespace lockstep;

namespace {

// A wave on one axis, and a second axis without an order.
GaussianProcess waves(int count) {
    Eigen::MatrixXd points(count, 2);
    Eigen::VectorXd values(count);
    for (int i = 0; i < count; ++i) {
        points(i, 0) = (i + 0.5) / count;
        points(i, 1) = i % 2 == 0 ? 0.25 : 0.75;
        values[i] = std::sin(6 * points(i, 0)) + (i % 2 == 0 ? 0 : 0.5);
    }
    return {points, values, {true, false}};
}

Eigen::VectorXd pair(double a, double b) {
    Eigen::VectorXd point(2);
    point << a, b;
    return point;
}

}  // namespace

class TestGaussianProcess : public QObject {
    Q_OBJECT
private slots:
    void itForetells() {
        const GaussianProcess process = waves(20);
        for (const double u : {0.1, 0.33, 0.62, 0.9}) {
            QVERIFY(std::abs(process.at(pair(u, 0.25)).mean - std::sin(6 * u)) < 0.02);
            QVERIFY(std::abs(process.at(pair(u, 0.75)).mean - std::sin(6 * u) - 0.5) < 0.02);
        }
        QVERIFY(process.at(pair(0.525, 0.25)).variance < 1e-3 * process.parameters().scale);
    }

    // Kernel, prior, and the covariance's inverse, by hand for a single observation of 1.
    void oneObservation() {
        Eigen::MatrixXd point(1, 1);
        point << 0.5;
        const GaussianProcess process(point, Eigen::VectorXd::Ones(1), {true});
        const auto& p = process.parameters();
        const double r = std::sqrt(5 * p.weights[0]) * 0.2, kernel = p.scale * (1 + r + r * r / 3) * std::exp(-r);
        const auto belief = process.at(Eigen::VectorXd::Constant(1, 0.7));
        QVERIFY(std::abs(belief.mean - kernel / (p.scale + p.noise)) < 1e-12);
        QVERIFY(std::abs(belief.variance - (p.scale - kernel * kernel / (p.scale + p.noise))) < 1e-12);
    }

    void slopesAreThoseOfDifferences() {
        const GaussianProcess process = waves(9);
        Eigen::VectorXd mean(2), variance(2);
        process.at(pair(0.37, 0.25), mean, variance);
        const auto above = process.at(pair(0.37 + 1e-5, 0.25)), below = process.at(pair(0.37 - 1e-5, 0.25));
        QVERIFY(std::abs(mean[0] - (above.mean - below.mean) / 2e-5) < 1e-4);
        QVERIFY(std::abs(variance[0] - (above.variance - below.variance) / 2e-5) < 1e-4);
        QCOMPARE(mean[1], 0.0);
    }

    void whatIsBelievedChangesNoMean() {
        const GaussianProcess process = waves(8);
        Eigen::MatrixXd running(2, 2);
        running << 0.2, 0.25, 0.9, 0.75;
        const GaussianProcess sure = process.believing(running);
        const auto place = pair(0.21, 0.25);
        QVERIFY(std::abs(sure.at(place).mean - process.at(place).mean) < 1e-6);
        QVERIFY(sure.at(pair(0.2, 0.25)).variance < 0.5 * process.at(pair(0.2, 0.25)).variance + 1e-9);
    }

    // log(density + z * share below z), with sixty digits.
    void improvementKeepsItsDigits() {
        const std::pair<double, double> known[] = {{0, -0.9189385332046727},      {1, 0.08002621884930705},
                                                   {-1, -2.4851210257126413},     {-10, -55.55312203612236},
                                                   {-29.999, -457.6945878133436}, {-30.001, -457.75472070565206},
                                                   {-1000, -500014.73445209116}};
        for (const auto& [z, log] : known)
            QVERIFY2(std::abs(logImprovement(z) - log) < 1e-7 * (1 + std::abs(log)), qPrintable(QString::number(z)));
    }

    void downhillToTheBottomOfABox() {
        const Slope banana = [](const Eigen::VectorXd& x, Eigen::VectorXd& gradient) {
            const double bend = x[1] - x[0] * x[0];
            gradient[0] = -400 * x[0] * bend - 2 * (1 - x[0]), gradient[1] = 200 * bend;
            return 100 * bend * bend + (1 - x[0]) * (1 - x[0]);
        };
        const auto bottom = minimise(banana, pair(-1.2, 1), pair(-2, -2), pair(2, 2), 200);
        QVERIFY(std::abs(bottom[0] - 1) < 1e-3 && std::abs(bottom[1] - 1) < 1e-3);
        const auto corner = minimise(banana, pair(-1.2, 1), pair(-2, -2), pair(0.5, 2), 200);
        QVERIFY(std::abs(corner[0] - 0.5) < 1e-6 && std::abs(corner[1] - 0.25) < 1e-3);
    }
};

QTEST_GUILESS_MAIN(TestGaussianProcess)
#include "tst_gaussian_process.moc"
