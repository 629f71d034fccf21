#include "optim/metrics.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>

#include "autograd/error.h"
#include "nn/atomic_file.h"

namespace gradus::optim {

static constexpr std::string_view header =
    "step,tokens,loss,validation_loss,gradient_norm,rate,tokens_per_second,seconds\n";

// The shortest text that reads back as the same number, whatever the locale.
template <class Number>
static std::string text_of(Number number) {
  std::array<char, 32> text;
  return std::string(text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr);
}

static std::string line_of(const Metrics& row) {
  std::string line = text_of(row.step) + ',' + text_of(row.tokens) + ',' + text_of(row.loss) + ',';
  if (row.validation_loss) line += text_of(*row.validation_loss);
  for (double number : {row.gradient_norm, row.rate, row.tokens_per_second, row.seconds}) line += ',' + text_of(number);
  return line + '\n';
}

static void check_written(const std::ofstream& file, const std::filesystem::path& path) {
  expect<FileError>(file.good(), "{}: cannot write it; is the folder there, yours to write to, and the disk not full?",
                    path.string());
}

MetricsWriter::MetricsWriter(const std::filesystem::path& path) : path_(path), file_(path) {
  file_ << header << std::flush;
  check_written(file_, path_);
}

MetricsWriter::MetricsWriter(const std::filesystem::path& path, std::uint64_t last_step) : path_(path) {
  std::string kept(header);
  if (std::filesystem::exists(path))
    for (const Metrics& row : read_metrics(path))
      if (row.step <= last_step) kept += line_of(row);
  nn::AtomicFile file(path);
  file.write(kept.data(), kept.size());
  file.commit();
  file_.open(path, std::ios::app);
  check_written(file_, path_);
}

void MetricsWriter::write(const Metrics& row) {
  file_ << line_of(row) << std::flush;
  check_written(file_, path_);
}

static bool parse(const std::string& text, std::uint64_t& number) {
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end;
}

static bool parse(const std::string& text, double& number) {
  char* end = nullptr;
  number = std::strtod(text.c_str(), &end);
  return !text.empty() && end == text.data() + text.size();
}

static bool parse(const std::string& text, std::optional<double>& number) {
  return text.empty() || parse(text, number.emplace());
}

static bool parse(std::string_view line, Metrics& row) {
  std::vector<std::string> fields(1);
  for (char c : line)
    if (c == ',')
      fields.emplace_back();
    else
      fields.back() += c;
  return fields.size() == 8 && parse(fields[0], row.step) && parse(fields[1], row.tokens) &&
         parse(fields[2], row.loss) && parse(fields[3], row.validation_loss) && parse(fields[4], row.gradient_norm) &&
         parse(fields[5], row.rate) && parse(fields[6], row.tokens_per_second) && parse(fields[7], row.seconds);
}

std::vector<Metrics> read_metrics(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  expect<FileError>(file.good() || file.eof(), "{}: cannot read it; there is no such file, or it is not yours to read",
                    path.string());
  expect<FileError>(content.starts_with(header), "{}: its first line is not {}; was it written by another program?",
                    path.string(), header.substr(0, header.size() - 1));
  std::vector<Metrics> rows;
  std::size_t begin = header.size();
  for (std::size_t line = 2;; ++line) {
    const std::size_t end = content.find('\n', begin);
    if (end == std::string::npos) return rows;
    const std::string_view text = std::string_view(content).substr(begin, end - begin);
    expect<FileError>(parse(text, rows.emplace_back()), "{}: line {} is not eight numbers with commas between: {}",
                      path.string(), line, text);
    begin = end + 1;
  }
}

}  // namespace gradus::optim
