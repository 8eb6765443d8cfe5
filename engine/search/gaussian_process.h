#pragma once
#include <Eigen/Cholesky>
#include <vector>

namespace lockstep {

// Regression by a Gaussian process with a Matérn kernel of order 5/2 and a length of its own for each axis: Rasmussen,
// Williams, "Gaussian processes for machine learning", 2006, chapters 2, 4 and 5. On an axis without an order two
// places are as far from each other as any others. Values are thought of as standardised. Pure.
class GaussianProcess {
public:
    struct Parameters {
        Eigen::VectorXd weights;  // 1 / length^2, by axis
        double scale = 1;         // variance of the function
        double noise = 1e-4;      // variance of what is observed of it
    };

    // Points are rows. Parameters are those of the greatest likelihood under wide priors.
    GaussianProcess(Eigen::MatrixXd points, Eigen::VectorXd values, std::vector<bool> isOrdered);

    // The same with points whose values are what it would have foretold: it becomes sure of them, and thinks the same
    // of all others.
    GaussianProcess believing(const Eigen::MatrixXd& points) const;

    struct Belief {
        double mean = 0, variance = 1;  // of the function, without noise
    };
    Belief at(const Eigen::VectorXd& point) const;
    // With how both change along the axes that have an order; along others: 0.
    Belief at(const Eigen::VectorXd& point, Eigen::VectorXd& meanSlope, Eigen::VectorXd& varianceSlope) const;

    const Parameters& parameters() const { return m_parameters; }
    const Eigen::MatrixXd& points() const { return m_points; }

    // Of the values under such parameters and their priors, and its slopes by the logarithms of weights, scale, noise.
    double logLikelihood(const Eigen::VectorXd& logParameters, Eigen::VectorXd& slope) const;

private:
    void fit();
    void solve();
    Eigen::VectorXd squaredDistances(const Eigen::VectorXd& point) const;

    Eigen::MatrixXd m_points;
    Eigen::VectorXd m_values;
    std::vector<bool> m_isOrdered;
    std::vector<Eigen::MatrixXd> m_squares;  // by axis, between points; while it is fitted
    Parameters m_parameters;
    Eigen::LLT<Eigen::MatrixXd> m_factor;
    Eigen::VectorXd m_solved;  // the covariance's inverse times the values
};

}  // namespace lockstep
