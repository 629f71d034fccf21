// Ctrl-C and the system's request to end, as a question that a loop can ask.
#pragma once

namespace gradus::optim {

// While one lives, the first SIGINT or SIGTERM only makes requested() true; a second one ends the program at once.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool requested() const;
};

}  // namespace gradus::optim
