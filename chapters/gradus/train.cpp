#include "chapters/gradus/train.h"

#include <cstdio>

#include "autograd/error.h"
#include "autograd/parallel.h"
#include "chapters/gradus/run_setup.h"
#include "nn/text/generate.h"
#include "optim/metrics.h"
#include "optim/plot.h"
#include "optim/progress.h"
#include "optim/run_folder.h"
#include "optim/stop_signal.h"

namespace gradus::tool {

static void say(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

// Where the run's checkpoints go; an error before any work if that cannot be.
static std::filesystem::path folder_of(const TrainOptions& options) {
  if (!options.resume.empty()) {
    expect(options.out.empty() || options.out == options.resume,
           "train: --resume {} goes on in its own folder, not in --out {}", options.resume, options.out);
    expect<FileError>(optim::RunFolder::has_checkpoint(options.resume),
                      "{}: holds no run that could go on; `gradus train --out DIR` makes one", options.resume);
    return options.resume;
  }
  expect(!options.out.empty(), "train: --out DIR must say where the model goes, or --resume DIR which run goes on");
  expect<FileError>(!optim::RunFolder::has_checkpoint(options.out),
                    "{}: already holds a run, which training would overwrite; go on with it by --resume {}, or choose "
                    "another --out",
                    options.out, options.out);
  return options.out;
}

static void show_sample(const nn::Model& model, std::size_t tokens, std::uint64_t seed) {
  Rng rng(seed, 3);
  const std::vector<int> prompt = model.tokenizer->encode("\n");
  const std::vector<int> ids = nn::generate(model.decoder, prompt, {.tokens = tokens, .sampler = {.temperature = 0.8}, .end_token = model.tokenizer->end_token()}, rng);
  say("  | " + model.tokenizer->decode(ids));
}

static void introduce(const RunSetup& run, const optim::Trainer& trainer) {
  const nn::Config& config = run.model.decoder.config;
  say(message("{} parameters, {} layers, width {}, context {}; {} rows kept for validation, tokens are {}; {} threads",
              nn::count_parameters(run.model.decoder), config.n_layers, config.width, config.context_length,
              run.data->validation_rows(), run.model.tokenizer->name(), thread_count()));
  if (trainer.state().step > 0) say(message("going on after step {}", trainer.state().step));
  if (run.floor) say(message("no model can have a loss below {:.3f} nats per token on this text", *run.floor));
}

void train(const TrainOptions& options) {
  if (options.threads != 0) set_thread_count(options.threads);
  const std::filesystem::path out = folder_of(options);
  const bool resuming = !options.resume.empty();
  const std::filesystem::path checkpoint = resuming ? nn::resolve_checkpoint(out) : "";
  std::optional<optim::SavedRun> saved;
  if (resuming) saved = optim::read_run(checkpoint);
  RunSetup run = resuming ? resumed_run(options, checkpoint, *saved) : new_run(options);
  optim::Trainer trainer(run.model.decoder, *run.data, run.settings);
  if (resuming) optim::restore(trainer, checkpoint, *saved);
  introduce(run, trainer);

  optim::RunFolder folder(out);
  const auto save = [&](bool best) {
    folder.save(trainer.state().step, best, [&](const std::filesystem::path& files) {
      optim::save_checkpoint(files, trainer, *run.model.tokenizer, run.source);
    });
  };
  if (!resuming) save(false);
  const std::filesystem::path metrics = out / "metrics.csv";
  optim::MetricsWriter log(metrics, trainer.state().step);
  optim::Progress progress(run.settings.steps);
  const optim::StopSignal stop;
  try {
    while (!trainer.finished() && !stop.requested()) {
      if (!trainer.step()) {
        progress.end_line();
        say(trainer.problem());
        continue;
      }
      const optim::Metrics& now = trainer.metrics();
      log.write(now);
      progress.update(now);
      if (now.validation_loss || (options.save_every != 0 && now.step % options.save_every == 0)) save(trainer.is_best());
      if (now.validation_loss && options.sample_tokens > 0) {
        progress.end_line();
        show_sample(run.model, options.sample_tokens, run.settings.seed);
      }
    }
  } catch (const optim::TrainingError& problem) {
    progress.end_line();
    throw optim::TrainingError(message("{}. The last good checkpoint is {}", problem.what(), folder.latest().string()));
  }
  progress.end_line();
  save(false);
  const bool drawn = optim::plot_loss(optim::read_metrics(metrics), out / "loss.svg",
                                      {.title = out.filename().string(), .floor = run.floor});
  if (stop.requested()) say(message("stopped as asked after step {}; `gradus train --resume {}` goes on", trainer.state().step,
                                    out.string()));
  if (trainer.out_of_patience()) say(message("stopped after {} validations without a new best; the best checkpoint is named in {}",
                                             run.settings.patience, (out / "best").string()));
  const optim::Metrics& last = trainer.metrics();
  if (last.step == 0) return say(message("no step was taken: the run stands at {} of {}; --steps makes it longer", trainer.state().step,
                                         run.settings.steps));
  say(message("loss {:.4f}{} after {} tokens in {}; checkpoints, metrics.csv{} in {}", last.loss,
              last.validation_loss ? message(", validation {:.4f}", *last.validation_loss) : "", last.tokens,
              optim::duration(last.seconds), drawn ? " and loss.svg" : "", out.string()));
}

}  // namespace gradus::tool
