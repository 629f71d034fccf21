#include "optim/progress.h"

#include <algorithm>
#include <iostream>
#include <string_view>
#include <vector>

#include "autograd/error.h"

#if __has_include(<sys/ioctl.h>) && __has_include(<unistd.h>)
#include <sys/ioctl.h>
#include <unistd.h>
#define GRADUS_KNOWS_TERMINALS
#endif

namespace gradus::optim {

static bool stderr_is_terminal() {
#ifdef GRADUS_KNOWS_TERMINALS
  return isatty(STDERR_FILENO) != 0;
#else
  return false;
#endif
}

static std::size_t terminal_width() {
#ifdef GRADUS_KNOWS_TERMINALS
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
#endif
  return 80;
}

std::string duration(double seconds) {
  if (!(seconds >= 0 && seconds < 1e9)) return "?";
  const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
  const std::uint64_t minutes = whole / 60, hours = minutes / 60, days = hours / 24;
  if (days > 0) return message("{}d{:02}h", days, hours % 24);
  if (hours > 0) return message("{}h{:02}m", hours, minutes % 60);
  if (minutes > 0) return message("{}m{:02}s", minutes, whole % 60);
  return message("{}s", whole);
}

// 950, 12.3k, 4.5M
static std::string short_number(double number) {
  if (number < 1000) return message("{:.0f}", number);
  if (number < 1e6) return message("{:.1f}k", number / 1e3);
  return message("{:.1f}M", number / 1e6);
}

static double fraction_done(std::uint64_t step, std::uint64_t total) {
  return total == 0 ? 1 : std::min(1.0, static_cast<double>(step) / static_cast<double>(total));
}

static std::string bar(double fraction, std::size_t width) {
  const std::size_t inside = width - 2, done = static_cast<std::size_t>(fraction * static_cast<double>(inside));
  std::string text(inside, ' ');
  std::fill_n(text.begin(), done, '=');
  if (done < inside) text[done] = '>';
  return "[" + text + "]";
}

std::string progress_line(const Metrics& now, std::uint64_t total_steps, std::size_t width) {
  std::vector<std::string> fields = {message("{}/{}", now.step, total_steps), message("loss {:.4f}", now.loss)};
  if (now.validation_loss) fields.push_back(message("validation {:.4f}", *now.validation_loss));
  if (now.step >= total_steps) {
    fields.push_back("done in " + duration(now.seconds));
  } else if (now.step > 0) {
    const double tokens_per_step = static_cast<double>(now.tokens) / static_cast<double>(now.step);
    const double tokens_left = tokens_per_step * static_cast<double>(total_steps - now.step);
    fields.push_back(duration(tokens_left / now.tokens_per_second) + " left");
  }
  fields.push_back(short_number(now.tokens_per_second) + " tokens/s");
  fields.push_back(message("gradient {:.2f}", now.gradient_norm));
  fields.push_back(message("rate {:.2e}", now.rate));

  std::string line;
  for (const std::string& field : fields) {
    const std::string_view gap = line.empty() ? "" : "  ";
    if (line.size() + gap.size() + field.size() > width) break;
    line.append(gap).append(field);
  }
  constexpr std::size_t shortest_bar = 12, longest_bar = 32;
  const std::size_t room = width - std::min(width, line.size() + 2);
  if (room >= shortest_bar) line += "  " + bar(fraction_done(now.step, total_steps), std::min(room, longest_bar));
  return line;
}

Progress::Progress(std::uint64_t total_steps)
    : Progress(total_steps, std::cerr, stderr_is_terminal(), stderr_is_terminal() ? terminal_width() : 120) {}

Progress::Progress(std::uint64_t total_steps, std::ostream& out, bool terminal, std::size_t width)
    : total_steps_(total_steps), out_(out), terminal_(terminal), width_(width) {}

Progress::~Progress() { end_line(); }

bool Progress::due(const Metrics& now) const {
  if (!shown_ || now.step >= total_steps_) return true;
  const double seconds = now.seconds - shown_->seconds;
  if (terminal_) return seconds >= 0.1;
  return seconds >= 5 && fraction_done(now.step - shown_->step, total_steps_) >= 0.05;
}

void Progress::update(const Metrics& now) {
  if (now.validation_loss) validation_loss_ = now.validation_loss;
  if (!due(now)) return;
  shown_ = now;
  Metrics row = now;
  row.validation_loss = validation_loss_;
  // The last column stays free: some terminals go to the next line when it is written.
  const std::string line = progress_line(row, total_steps_, terminal_ ? width_ - 1 : width_);
  if (terminal_)
    out_ << '\r' << line << "\x1b[K" << std::flush;  // clears what is left of a longer line
  else
    out_ << line << std::endl;
  line_open_ = terminal_;
}

void Progress::end_line() {
  if (line_open_) out_ << std::endl;
  line_open_ = false;
}

}  // namespace gradus::optim
