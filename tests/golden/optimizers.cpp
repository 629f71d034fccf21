// Adam and AdamW, clipping, and learning-rate schedules.
#include <cmath>

#include "autograd/error.h"
#include "optim/adamw.h"
#include "optim/clip.h"
#include "optim/schedule.h"
#include "tests/golden/golden.h"

namespace gradus::golden {

// The metadata name Adam or AdamW; its groups have their own rates, decays, betas and ε, or those of "defaults".
static void read_adam(File& file) {
  const bool decoupled = file.text("optimizer") == "AdamW";
  file.require(decoupled || file.text("optimizer") == "Adam", "there is no optimizer " + file.text("optimizer"));
  const Json groups = file.json("groups"), defaults = file.json("defaults");
  const std::vector<double> rates = file.numbers("lr");  // (steps, groups)
  const std::size_t steps = rates.size() / groups.size();
  file.require(!defaults.value("amsgrad", false), "amsgrad is not supported");

  for (std::size_t group = 0; group < groups.size(); ++group) {
    file.count_case();
    Json settings = defaults;
    settings.update(groups[group]);
    const auto names = settings.at("params").get<std::vector<std::string>>();
    std::vector<Tensor> parameters, gradients;
    for (const std::string& name : names) {
      parameters.push_back(file.leaf(name + "/init"));
      gradients.push_back(file.tensor(name + "/grads"));
    }
    optim::AdamW adam({{parameters, settings.at("weight_decay")}},
                      {.beta1 = settings.at("betas").at(0),
                       .beta2 = settings.at("betas").at(1),
                       .epsilon = settings.at("eps"),
                       .decay = decoupled ? optim::Decay::decoupled : optim::Decay::penalty});

    std::vector<std::vector<double>> trajectories(names.size());
    for (std::size_t step = 0; step < steps; ++step) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        const std::size_t size = parameters[i].size();
        const std::span<const Real> gradient = gradients[i].values().subspan(step * size, size);
        std::ranges::copy(gradient, parameters[i].mutable_grad().begin());
      }
      adam.step(rates[step * groups.size() + group]);
      for (std::size_t i = 0; i < names.size(); ++i)
        trajectories[i].insert(trajectories[i].end(), parameters[i].values().begin(), parameters[i].values().end());
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      file.compare(names[i] + "/traj", trajectories[i], optimizer);
      file.compare(names[i] + "/exp_avg", adam.states()[i].first_moment, optimizer);
      file.compare(names[i] + "/exp_avg_sq", adam.states()[i].second_moment, optimizer);
      // Upstream's own float run; ours in double is as far from it as from the last row of the trajectory.
      file.compare(names[i] + "/final.f32", parameters[i], {optimizer.f32, optimizer.f32});
    }
  }
}

// Here only the Euclidean norm clips. Gradients of an infinite norm, or one that is not a number, are left as they are,
// where PyTorch makes zeros and NaN of them.
static void read_clip(File& file) {
  for (const Case& c : cases(file)) {
    std::vector<Tensor> gradients;
    for (std::size_t i = 0; c.has(message("g{}", i)); ++i) {
      const Tensor g = c.tensor(message("g{}", i));
      gradients.push_back(Tensor::zeros(g.shape()).set_requires_grad());
      std::ranges::copy(g.values(), gradients.back().mutable_grad().begin());
    }
    if (c.get<std::string>("norm_type") != "2.0") {
      file.by_rule_where([&](const std::string& name) { return name.starts_with(c.prefix()); });
      continue;
    }
    const double norm = optim::clip_grad_norm(gradients, c["max_norm"]);
    file.compare(c.prefix() + "total_norm", std::vector<double>{norm}, optimizer);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const std::string name = message("g{}", i);
      if (std::isfinite(norm)) {
        c.compare_gradient(name + ".clipped", gradients[i], optimizer);
      } else {
        c.compare_gradient(name, gradients[i], optimizer);
        file.by_rule(c.prefix() + name + ".clipped");
      }
    }
  }
}

// (peak, floor) of minimind's cosine over all steps, without a climb.
static void compare_cosine(File& file, const std::string& prefix, const std::vector<int>& steps, double peak,
                           double floor, std::uint64_t total) {
  const optim::Schedule schedule({.peak = peak, .floor = floor, .warmup_steps = 0, .decay_steps = total});
  std::vector<double> rates;
  for (int step : steps) rates.push_back(schedule.rate(static_cast<std::uint64_t>(step)));
  // Beyond the last step upstream's cosine rises again; ours stays on the floor.
  file.compare(prefix + "lr", rates, optimizer,
               [&](std::size_t i) { return static_cast<std::uint64_t>(steps[i]) <= total; });
}

static void read_schedules(File& file) {
  std::map<std::string, std::size_t> seen;  // the cases of each kind are numbered from 0
  for (const Json& settings : file.json("cases")) {
    file.count_case();
    const std::string kind = settings.at("kind");
    const std::size_t number = settings.value("case", seen[kind]++);
    const std::string which = message("/c{}/", number);
    const double rate = settings.at("lr");
    const std::uint64_t total = settings.at("total_steps");
    const std::vector<int> steps = file.ids(kind + which + "step");
    if (kind == "minimind") {
      compare_cosine(file, kind + which, steps, rate, 0.1 * rate, total);
      // The older rule adds half the whole cosine to the floor and begins at 1.1 times the rate.
      if (file.has("minimind_april2025" + which + "lr"))
        compare_cosine(file, "minimind_april2025" + which, steps, 1.1 * rate, 0.1 * rate, total);
    } else if (kind == "happy") {
      // Its climb takes step 0 at rate 0, a step that ours does not take: from there on all is one step later.
      const std::uint64_t warmup = settings.at("warmup_iters"), late = warmup > 0 ? 1 : 0;
      const optim::Schedule schedule(
          {.peak = rate, .floor = 0.1 * rate, .warmup_steps = warmup - late, .decay_steps = total - late});
      std::vector<double> rates;
      for (int step : steps)
        rates.push_back(step == 0 && late == 1 ? 0 : schedule.rate(static_cast<std::uint64_t>(step) - late));
      file.compare(kind + which + "lr", rates, optimizer);
    } else {
      file.require(false, "there is no schedule " + kind);
    }
  }
}

// optim.adam, optim.adamw, optim.adamw_sched: the metadata say which, and when the rate changes.
static bool is_adam(const File& file) { return file.form().starts_with("optim.adam"); }
static const Kind adam("optim.adam*", is_adam, read_adam), clip("optim.clip_grad_norm", read_clip),
    schedules("optim.lr_schedules", read_schedules);

}  // namespace gradus::golden
