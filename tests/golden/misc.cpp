// Widths and numbers of parameters, and what a fresh model's weights look like.
#include <cmath>

#include "nn/decoder.h"
#include "nn/swiglu.h"
#include "tests/golden/upstream.h"

namespace gradus::golden {

// A tensor MODEL_multiple_of_M has the feed-forward width for each of `dims`, rounded up to M.
static void read_sizes(File& file) {
  const std::vector<double> dims = file.numbers("dims");
  for (const std::string& name : file.names()) {
    const std::size_t at = name.find("_multiple_of_");
    if (at == std::string::npos) continue;
    const std::size_t multiple_of = std::stoul(name.substr(at + 13));
    std::vector<double> widths;
    for (double dim : dims)
      widths.push_back(static_cast<double>(nn::swiglu_hidden(static_cast<std::size_t>(dim), multiple_of)));
    file.compare(name, widths, exact);
  }
  std::vector<double> counts;
  for (const Json& settings : file.json("cases")) {
    file.count_case();
    const std::string who = settings.at("model");
    file.require(who == "minimind" || who == "happy", "there is no model " + who);
    const Json config = settings.at("config (rest default)");
    const nn::Config ours = who == "happy" ? happy_config(config, 10000) : minimind_config(config);
    counts.push_back(static_cast<double>(ours.parameter_count()));
  }
  file.compare("unique_params", counts, exact);
}

struct Statistics {
  double count, mean, deviation;
};

static Statistics statistics_of(const Tensor& tensor) {
  const double n = static_cast<double>(tensor.size());
  double sum = 0, squares = 0;
  for (Real value : tensor.values()) sum += static_cast<double>(value);
  for (Real value : tensor.values()) squares += std::pow(static_cast<double>(value) - sum / n, 2);
  return {n, sum / n, std::sqrt(squares / n)};
}

// Whether upstream draws this weight as we do.
//   gains are 1 everywhere;
//   minimind draws from PyTorch's uniform distribution, we never do;
//   happy gives wo and w3 the small deviation, we give it to wo and w2, which end the two branches.
static bool drawn_alike(const std::string& name, bool happy) {
  if (name.find("norm") != std::string::npos) return true;
  return happy && name.find(".w2.") == std::string::npos && name.find(".w3.") == std::string::npos;
}

static void read_init_stats(File& file) {
  const auto columns = file.json("columns").get<std::vector<std::string>>();
  const auto column = [&](const char* name) {
    return static_cast<std::size_t>(std::ranges::find(columns, name) - columns.begin());
  };
  for (const std::string who : {"happy", "minimind"}) {
    if (!file.has(who + "/stats")) continue;
    file.count_case();
    const bool happy = who == "happy";
    const Json config = file.json(who + "_config");
    nn::Decoder decoder(happy ? happy_config(config, 10000) : minimind_config(config));
    Rng rng(1);
    nn::initialise(decoder, rng);
    std::map<std::string, Tensor> parameters;  // by upstream's names
    for (const auto& [name, tensor] : nn::parameters(decoder))
      parameters[(happy ? happy_place : minimind_place)(name).tensor] = tensor;

    const std::vector<double> stats = file.numbers(who + "/stats");
    const auto names = file.json(who + "_names").get<std::vector<std::string>>();
    file.require(names.size() == parameters.size(), who + ": another number of parameters");
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string what = who + "/" + names[i];
      const auto found = parameters.find(names[i]);
      file.require(found != parameters.end(), what + ": our decoder has none");
      if (found == parameters.end()) continue;
      const Statistics ours = statistics_of(found->second);
      const double* const theirs = &stats[i * columns.size()];
      const auto compare = [&](const char* name, double number, double tolerance) {
        const double expected = theirs[column(name)];
        const std::span<const double> one(&number, 1), other(&expected, 1);
        file.compare_numbers(what + " " + name, one, other, {tolerance, tolerance});
      };
      compare("numel", ours.count, 0);
      if (drawn_alike(names[i], happy)) {
        // Five standard errors of the difference of two samples, or rounding where nothing is drawn.
        const double error = ours.deviation * std::sqrt(2 / ours.count);
        compare("mean", ours.mean, 5 * error + 1e-12);
        compare("std", ours.deviation, 5 * error / std::sqrt(2.0) + 1e-12);
      } else {
        file.count_by_rule();
      }
      file.count_by_rule();  // smallest and largest are chance
    }
  }
}

static const Kind sizes("misc.sizes", read_sizes), init_stats("misc.init_stats", read_init_stats);

}  // namespace gradus::golden
