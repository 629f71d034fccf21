// YaRN: reading texts longer than those a model was trained on. Peng et al., "YaRN" (2023), section 3.2.
//
// Point i of a head turns by θ^(−2i/D) from one position to the next. Over the L positions of the training the first
// points make many turns, and their angles hold the distance of near tokens; the last make less than one, and only of
// them would a longer text ask angles that were never seen. YaRN leaves the fast points as they are, slows the slow
// ones down by `factor`, and goes from the one to the other along a ramp.
#pragma once

#include <cstddef>
#include <vector>

namespace gradus {

// Two simpler ways do the same at any context: linear slows every point down alike; llama3 leaves points alone and
// slows them down as YaRN does, but its ramp between the two runs over turns and not over points.
enum class RopeScalingKind { none, linear, llama3, yarn };

struct RopeScaling {
  RopeScalingKind kind = RopeScalingKind::none;  // none: the other numbers are not read
  double factor = 1;                             // how many times slower the slowest points turn
  std::size_t original_context = 0;              // L, the positions the model was trained on
  double beta_fast = 32;                         // points that make more turns over L are left alone; llama3 has 4
  double beta_slow = 1;                          // points that make fewer are slowed down in full
  // YaRN's alone. On every cosine and sine, whether or not a point is slowed down, so its square on every score: it
  // makes up for the flatter attention over more tokens. The paper has 0.1 ln(factor) + 1, MiniMind has 1.
  double attention_factor = 1;

  // Errors: numbers that make no sense, by name.
  void validate() const;
};

// The angle by which each point turns from one position to the next, D/2 numbers, for a model of at most `context`
// positions. Unless they are more than original_context, YaRN slows nothing down.
// Errors: head_dim is odd or 0; theta is not above 0, or with YaRN not above 1; those of RopeScaling::validate.
std::vector<double> rope_speeds(std::size_t head_dim, double theta, const RopeScaling& scaling, std::size_t context);

}  // namespace gradus
