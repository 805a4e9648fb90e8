// A user's program: one value through the tensors and autograd of an installed fuselet.
#include <fuselet/fuselet.h>

#include <cstdio>

int main() {
  fuselet::Tensor x = fuselet::full({3}, 2.0).requires_grad_();
  fuselet::Tensor loss = (x * x).sum();
  loss.backward();
  double value = loss.item();
  double gradient = x.grad().sum().item();
  std::printf("loss %g, gradient %g\n", value, gradient);
  // sum(x^2) = 3 * 2^2 and its gradient 2x sums to 3 * 4.
  return value == 12.0 && gradient == 12.0 ? 0 : 1;
}
