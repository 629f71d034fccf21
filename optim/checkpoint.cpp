#include "optim/checkpoint.h"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "autograd/error.h"
#include "nn/atomic_file.h"
#include "nn/json_text.h"
#include "nn/safetensors.h"
#include "optim/fnv.h"

namespace gradus::optim {

using Json = nlohmann::ordered_json;

static constexpr const char* run_file = "trainer.json";
static constexpr const char* moments_file = "moments.safetensors";

static std::uint64_t mixed(std::uint64_t hash, const std::vector<int>& numbers) {
  return fnv({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int)}, hash);
}

std::uint64_t fingerprint_of(Data& data) {
  constexpr std::size_t rows = 64;
  const std::vector<std::uint64_t> state = data.state();
  std::uint64_t hash = fnv_begin;
  for (const Batch& batch : {data.training(rows), data.validation(0, rows)})
    hash = mixed(mixed(hash, batch.inputs), batch.targets);
  data.restore(state);
  return hash;
}

// The names under which trainer.json keeps the parts of a state.
static void state_fields(auto& state, auto&& visit) {
  visit("step", state.step);
  visit("tokens", state.tokens);
  visit("seconds", state.seconds);
  visit("last_loss", state.last_loss);
  visit("skipped", state.skipped);
  visit("skipped_in_row", state.skipped_in_row);
  visit("validations_without_best", state.validations_without_best);
}

static std::vector<nn::Parameter> moments_of(const Trainer& trainer) {
  std::unordered_map<const Node*, std::string> names;
  for (const nn::Parameter& weight : trainer.weights()) names[&weight.tensor.node()] = weight.name;
  std::vector<nn::Parameter> moments;
  for (const AdamW::State& state : trainer.optimizer().states()) {
    const std::string& name = names.at(&state.parameter.node());
    moments.push_back({name + ".first_moment", state.first_moment});
    moments.push_back({name + ".second_moment", state.second_moment});
  }
  return moments;
}

void save_checkpoint(const std::filesystem::path& folder, const Trainer& trainer, const nn::Tokenizer& tokenizer,
                     const DataSource& source) {
  nn::save_model(folder, trainer.decoder(), tokenizer);
  nn::write_safetensors(folder / moments_file, moments_of(trainer), {}, nn::exact_format);

  Json json;
  TrainerOptions::fields(trainer.options(), [&](const char* name, const auto& value) {
    if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(value)>>)
      json["settings"][name] = word_of(value);
    else
      json["settings"][name] = value;
  });
  json["data"] = {{"kind", source.kind}, {"paths", source.paths}, {"separator", source.separator}, {"fingerprint", source.fingerprint}};
  const Trainer::State state = trainer.state();
  state_fields(state, [&](const char* name, const auto& value) { json["state"][name] = value; });
  json["state"]["best_validation_loss"] =
      state.best_validation_loss ? Json(*state.best_validation_loss) : Json(nullptr);
  json["state"]["dropout"] = state_words(state.dropout);
  json["state"]["data"] = trainer.data().state();
  json["state"]["optimizer_steps"] = trainer.optimizer().steps();
  nn::AtomicFile file(folder / run_file);
  const std::string text = json.dump(2) + "\n";
  file.write(text.data(), text.size());
  file.commit();
}

static nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  expect<FileError>(file.good(), "{}: cannot be read; the folder holds a model, but no run that could go on", path.string());
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const nlohmann::json json = nn::parse_json(text);
  expect<FileError>(json.is_object(), "{}: expected a JSON object, found something else", path.string());
  return json;
}

SavedRun read_run(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / run_file;
  const nlohmann::json json = read_json(path);
  SavedRun run;
  try {
    TrainerOptions::fields(run.options, [&](const char* name, auto& value) {
      const nlohmann::json& setting = json.at("settings").at(name);
      if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(value)>>)
        from_word(setting.get<std::string>(), value);
      else
        setting.get_to(value);
    });
    const nlohmann::json& source = json.at("data");
    source.at("kind").get_to(run.source.kind);
    source.at("paths").get_to(run.source.paths);
    source.at("separator").get_to(run.source.separator);
    source.at("fingerprint").get_to(run.source.fingerprint);
    const nlohmann::json& state = json.at("state");
    state_fields(run.state, [&](const char* name, auto& value) { state.at(name).get_to(value); });
    if (const nlohmann::json& best = state.at("best_validation_loss"); !best.is_null()) run.state.best_validation_loss = best.get<double>();
    run.state.dropout = state_of_words(state.at("dropout").get<std::vector<std::uint64_t>>());
    state.at("data").get_to(run.data_state);
    state.at("optimizer_steps").get_to(run.optimizer_steps);
    run.options.validate();
  } catch (const std::exception& problem) {
    throw FileError(message("{}: expected a run's settings and state, found a fault: {}", path.string(), problem.what()));
  }
  return run;
}

void restore(Trainer& trainer, const std::filesystem::path& folder, const SavedRun& run) {
  const std::uint64_t found = fingerprint_of(trainer.data());
  expect<FileError>(found == run.source.fingerprint,
                    "{}: the run learnt from other data: its first rows had the fingerprint {:016x}, those of the data given "
                    "now have {:016x}; has a file changed?",
                    (folder / run_file).string(), run.source.fingerprint, found);
  const nn::SafetensorsFile file(folder / moments_file);
  for (nn::Parameter moment : moments_of(trainer)) file.read_into(moment.name, moment.tensor);
  trainer.optimizer().set_steps(run.optimizer_steps);
  trainer.restore(run.state);
  trainer.data().restore(run.data_state);
}

}  // namespace gradus::optim
