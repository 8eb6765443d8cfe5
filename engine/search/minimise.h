#pragma once
#include <Eigen/Core>
#include <functional>

namespace lockstep {

// A function of several numbers and its gradient.
using Slope = std::function<double(const Eigen::VectorXd& x, Eigen::VectorXd& gradient)>;

// Downhill from x, within a box, by the limited-memory quasi-Newton method (L-BFGS: Liu, Nocedal, Mathematical
// Programming 45, 1989), whose steps are cut at the box. Returns where it ends: after so many steps, or where it gets
// no lower. Pure.
Eigen::VectorXd minimise(const Slope& slope, Eigen::VectorXd x, const Eigen::VectorXd& low, const Eigen::VectorXd& high,
                         int steps);

}  // namespace lockstep
