#include "engine/search/gaussian_process.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "engine/search/minimise.h"

namespace lockstep {

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr int kFittingSteps = 40;
constexpr double kLeastVariance = 1e-12;
constexpr double kShortest = 0.02, kLongest = 30;  // lengths, in units of an axis
constexpr double kLeastNoise = 1e-6, kMostNoise = 1;

// The kernel, whose scale is 1, by squared distances, and its slope by them.
template <class Squares>
Eigen::ArrayXXd kernelOf(const Squares& squares, Eigen::ArrayXXd* slope = nullptr) {
    const Eigen::ArrayXXd r = (5 * squares.array()).sqrt(), decay = (-r).exp();
    if (slope) *slope = -5.0 / 6 * (1 + r) * decay;
    return (1 + r + r.square() / 3) * decay;
}

// Gamma distributions of scale and noise, and exponential ones of squared lengths and of their inverses: an axis
// must be seen not to matter before the process is sure of what lies far along it. (Found by Hartmann's function in six
// dimensions, where lengths that grow early keep one of two of its valleys from being seen.)
constexpr double kAgainstLong = 4, kAgainstShort = 0.02;
constexpr double kScaleRate = 1, kNoiseShape = 0.1, kNoiseRate = 30;

// The logarithm; adds its slopes.
double logPrior(const Vector& parameters, Vector& slope) {
    const Eigen::Index axes = parameters.size() - 2;
    double log = 0;
    for (Eigen::Index i = 0; i < axes; ++i) {
        const double weight = std::exp(parameters[i]);
        log -= kAgainstLong / weight + kAgainstShort * weight;
        slope[i] += kAgainstLong / weight - kAgainstShort * weight;
    }
    const double scale = std::exp(parameters[axes]), noise = std::exp(parameters[axes + 1]);
    log += parameters[axes] - kScaleRate * scale + kNoiseShape * parameters[axes + 1] - kNoiseRate * noise;
    slope[axes] += 1 - kScaleRate * scale;
    slope[axes + 1] += kNoiseShape - kNoiseRate * noise;
    return log;
}

Matrix squaresOn(const Vector& axis, bool isOrdered) {
    const Matrix gaps = axis.replicate(1, axis.size()) - axis.transpose().replicate(axis.size(), 1);
    if (isOrdered) return gaps.cwiseAbs2();
    return (gaps.array().abs() > 1e-9).cast<double>();
}

}  // namespace

GaussianProcess::GaussianProcess(Matrix points, Vector values, std::vector<bool> isOrdered)
    : m_points(std::move(points)), m_values(std::move(values)), m_isOrdered(std::move(isOrdered)) {
    fit();
    solve();
}

double GaussianProcess::logLikelihood(const Vector& logParameters, Vector& slope) const {
    const Eigen::Index count = m_points.rows(), axes = m_points.cols();
    const double scale = std::exp(logParameters[axes]), noise = std::exp(logParameters[axes + 1]);
    Matrix square = Matrix::Zero(count, count);
    for (Eigen::Index i = 0; i < axes; ++i)
        square += std::exp(logParameters[i]) * m_squares[static_cast<std::size_t>(i)];
    Eigen::ArrayXXd kernelSlope;
    const Matrix kernel = scale * kernelOf(square, &kernelSlope);
    const Eigen::LLT<Matrix> factor(kernel + noise * Matrix::Identity(count, count));
    slope = Vector::Zero(axes + 2);
    if (factor.info() != Eigen::Success) return -std::numeric_limits<double>::infinity();
    const Vector solved = factor.solve(m_values);
    // Half of it times the slope of the covariance is that of the likelihood.
    const Matrix pull = solved * solved.transpose() - factor.solve(Matrix::Identity(count, count));
    const Matrix slopes = 0.5 * scale * pull.array() * kernelSlope;
    for (Eigen::Index i = 0; i < axes; ++i)
        slope[i] = std::exp(logParameters[i]) * slopes.cwiseProduct(m_squares[static_cast<std::size_t>(i)]).sum();
    slope[axes] = 0.5 * pull.cwiseProduct(kernel).sum();
    slope[axes + 1] = 0.5 * noise * pull.trace();
    const double logRoot = factor.matrixLLT().diagonal().array().log().sum();
    return -0.5 * m_values.dot(solved) - logRoot + logPrior(logParameters, slope);
}

void GaussianProcess::fit() {
    const Eigen::Index axes = m_points.cols();
    for (Eigen::Index i = 0; i < axes; ++i)
        m_squares.push_back(squaresOn(m_points.col(i), m_isOrdered[static_cast<std::size_t>(i)]));
    Vector low = Vector::Constant(axes + 2, -2 * std::log(kLongest));
    Vector high = Vector::Constant(axes + 2, -2 * std::log(kShortest));
    low[axes] = std::log(1e-2), high[axes] = std::log(1e3);
    low[axes + 1] = std::log(kLeastNoise), high[axes + 1] = std::log(kMostNoise);
    const Slope down = [this](const Vector& x, Vector& gradient) {
        const double log = logLikelihood(x, gradient);
        gradient = -gradient;
        return -log;
    };
    Vector best, ignored(axes + 2);
    double most = -std::numeric_limits<double>::infinity();
    for (const double length : {0.3, 1.0}) {
        Vector start = Vector::Constant(axes + 2, -2 * std::log(length));
        start[axes] = 0, start[axes + 1] = std::log(1e-4);
        const Vector end = minimise(down, start, low, high, kFittingSteps);
        const double log = logLikelihood(end, ignored);
        if (best.size() > 0 && !(log > most)) continue;
        most = log;
        best = end;
    }
    m_squares.clear();
    m_parameters = {best.head(axes).array().exp(), std::exp(best[axes]), std::exp(best[axes + 1])};
}

void GaussianProcess::solve() {
    const Eigen::Index count = m_points.rows();
    Matrix covariance(count, count);
    for (Eigen::Index i = 0; i < count; ++i)
        covariance.col(i) = m_parameters.scale * kernelOf(squaredDistances(m_points.row(i).transpose()));
    covariance.diagonal().array() += m_parameters.noise;
    m_factor.compute(covariance);
    m_solved = m_factor.solve(m_values);
}

GaussianProcess GaussianProcess::believing(const Matrix& points) const {
    GaussianProcess all = *this;
    const Eigen::Index known = m_points.rows(), added = points.rows();
    all.m_points.conservativeResize(known + added, Eigen::NoChange);
    all.m_values.conservativeResize(known + added);
    all.m_points.bottomRows(added) = points;
    for (Eigen::Index i = 0; i < added; ++i) all.m_values[known + i] = at(points.row(i).transpose()).mean;
    all.solve();
    return all;
}

Vector GaussianProcess::squaredDistances(const Vector& point) const {
    Vector sum = Vector::Zero(m_points.rows());
    for (Eigen::Index i = 0; i < m_points.cols(); ++i) {
        const auto gaps = (m_points.col(i).array() - point[i]).eval();
        if (m_isOrdered[static_cast<std::size_t>(i)]) sum.array() += m_parameters.weights[i] * gaps.square();
        else sum.array() += m_parameters.weights[i] * (gaps.abs() > 1e-9).cast<double>();
    }
    return sum;
}

GaussianProcess::Belief GaussianProcess::at(const Vector& point) const {
    const Vector near = m_parameters.scale * kernelOf(squaredDistances(point));
    const double known = m_factor.matrixL().solve(near).squaredNorm();
    return {near.dot(m_solved), std::max(m_parameters.scale - known, kLeastVariance)};
}

GaussianProcess::Belief GaussianProcess::at(const Vector& point, Vector& meanSlope, Vector& varianceSlope) const {
    Eigen::ArrayXXd kernelSlope;
    const Vector near = m_parameters.scale * kernelOf(squaredDistances(point), &kernelSlope);
    const Vector nearSlope = m_parameters.scale * kernelSlope;
    const Vector solved = m_factor.solve(near);
    for (Eigen::Index i = 0; i < m_points.cols(); ++i) {
        Vector change = Vector::Zero(m_points.rows());
        if (m_isOrdered[static_cast<std::size_t>(i)])
            change = nearSlope.array() * 2 * m_parameters.weights[i] * (point[i] - m_points.col(i).array());
        meanSlope[i] = change.dot(m_solved);
        varianceSlope[i] = -2 * change.dot(solved);
    }
    return {near.dot(m_solved), std::max(m_parameters.scale - near.dot(solved), kLeastVariance)};
}

}  // namespace lockstep
