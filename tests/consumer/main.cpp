#include "nn/decoder.h"

int main() {
  gradus::nn::Decoder decoder(gradus::nn::find_preset("book").config);
  gradus::Rng rng(1);
  gradus::nn::initialise(decoder, rng);
  const int ids[] = {1, 2, 3}, targets[] = {2, 3, 4};
  const gradus::Tensor loss = decoder.loss(ids, targets, 1);
  loss.backward();
  return loss.item() > 2 && decoder.embedding.weight.has_grad() ? 0 : 1;
}
