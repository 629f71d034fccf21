#include "optim/stop_signal.h"

#include <csignal>

namespace gradus::optim {

static volatile std::sig_atomic_t stop_requested = 0;

static void note_request(int signal) {
  stop_requested = 1;
  std::signal(signal, SIG_DFL);
}

StopSignal::StopSignal() {
  stop_requested = 0;
  std::signal(SIGINT, note_request);
  std::signal(SIGTERM, note_request);
}

StopSignal::~StopSignal() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool StopSignal::requested() const { return stop_requested != 0; }

}  // namespace gradus::optim
