#include "nn/text/bpe_trainer.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "autograd/error.h"
#include "nn/text/byte_alphabet.h"

namespace gradus::nn {

namespace {

using Pair = std::uint64_t;  // left id, right id

Pair pair_of(int left, int right) { return static_cast<Pair>(left) << 32 | static_cast<std::uint32_t>(right); }
int left_of(Pair pair) { return static_cast<int>(pair >> 32); }
int right_of(Pair pair) { return static_cast<int>(pair & 0xFFFFFFFF); }

// All different pre-tokens one behind the other. A merge leaves its token at the left place and nothing at the right
// one, so places keep their meaning.
class Merger {
 public:
  explicit Merger(const auto& words);  // texts and how often each is there

  // The pair to be merged now; nullopt where there is none.
  std::optional<Pair> best();
  // Makes one token of a pair everywhere.
  void merge(Pair pair);

  const std::vector<std::string>& tokens() const { return tokens_; }

 private:
  static constexpr int nothing = -1;
  static constexpr std::size_t no_place = std::numeric_limits<std::size_t>::max();

  struct Candidate {
    std::uint64_t count;
    Pair pair;
  };
  struct Occurrences {
    std::uint64_t count = 0;          // weighted with how often each word is there
    std::vector<std::size_t> places;  // of the left token; some may no longer hold the pair
  };

  bool less(const Candidate& a, const Candidate& b) const;
  void propose(Pair pair);
  void add(std::size_t place);
  void remove(std::size_t place);

  std::vector<std::string> tokens_;           // the bytes of each id
  std::unordered_map<std::string, int> ids_;  // of those bytes: two merges may spell the same token
  std::vector<int> id_at_;
  std::vector<std::size_t> before_, after_;   // no_place at a word's ends
  std::vector<std::uint64_t> weight_;         // of the word at each place
  std::unordered_map<Pair, Occurrences> pairs_;
  std::vector<Candidate> heap_;  // a pair stands here with counts that it had, never only with lower ones than it has
  std::vector<Pair> grown_;      // pairs that the merge at work has made more frequent
};

Merger::Merger(const auto& words) {
  for (int byte = 0; byte < 256; ++byte) {
    tokens_.emplace_back(1, static_cast<char>(byte));
    ids_.emplace(tokens_.back(), byte);
  }
  std::size_t length = 0;
  for (const auto& [word, count] : words) length += word.size();
  id_at_.reserve(length), before_.reserve(length), after_.reserve(length), weight_.reserve(length);
  for (const auto& [word, count] : words) {
    for (std::size_t i = 0; i < word.size(); ++i) {
      const std::size_t place = id_at_.size();
      id_at_.push_back(static_cast<unsigned char>(word[i]));
      before_.push_back(i == 0 ? no_place : place - 1);
      after_.push_back(i + 1 == word.size() ? no_place : place + 1);
      weight_.push_back(count);
    }
  }
  for (std::size_t place = 0; place < length; ++place)
    if (after_[place] != no_place) add(place);
  grown_.clear();
  for (const auto& [pair, occurrences] : pairs_) propose(pair);
}

bool Merger::less(const Candidate& a, const Candidate& b) const {
  if (a.count != b.count) return a.count < b.count;
  const std::string& left_a = tokens_[left_of(a.pair)];
  const std::string& left_b = tokens_[left_of(b.pair)];
  return left_a != left_b ? left_a < left_b : tokens_[right_of(a.pair)] < tokens_[right_of(b.pair)];
}

void Merger::propose(Pair pair) {
  heap_.push_back({pairs_[pair].count, pair});
  std::ranges::push_heap(heap_, [this](const Candidate& a, const Candidate& b) { return less(a, b); });
}

// Counts the pair whose left token is at `place`, or no longer.
void Merger::add(std::size_t place) {
  const Pair pair = pair_of(id_at_[place], id_at_[after_[place]]);
  Occurrences& occurrences = pairs_[pair];
  occurrences.count += weight_[place];
  occurrences.places.push_back(place);
  grown_.push_back(pair);
}
void Merger::remove(std::size_t place) {
  pairs_[pair_of(id_at_[place], id_at_[after_[place]])].count -= weight_[place];
}

std::optional<Pair> Merger::best() {
  while (!heap_.empty()) {
    std::ranges::pop_heap(heap_, [this](const Candidate& a, const Candidate& b) { return less(a, b); });
    const auto [count, pair] = heap_.back();
    heap_.pop_back();
    const std::uint64_t now = pairs_[pair].count;
    if (now == count && count > 0) return pair;
    if (now > 0 && now < count) propose(pair);  // it has become rarer since
  }
  return std::nullopt;
}

void Merger::merge(Pair pair) {
  const int left = left_of(pair), right = right_of(pair);
  std::string bytes = tokens_[left] + tokens_[right];
  const auto [entry, fresh] = ids_.emplace(bytes, static_cast<int>(tokens_.size()));
  if (fresh) tokens_.push_back(std::move(bytes));

  std::vector<std::size_t> places = std::move(pairs_[pair].places);
  std::ranges::sort(places);  // in a run of one token, the leftmost two are merged
  grown_.clear();
  for (const std::size_t place : places) {
    const std::size_t second = after_[place];
    if (id_at_[place] != left || second == no_place || id_at_[second] != right) continue;
    const std::size_t previous = before_[place], next = after_[second];
    remove(place);
    if (previous != no_place) remove(previous);
    if (next != no_place) remove(second);
    id_at_[place] = entry->second;
    id_at_[second] = nothing;
    after_[place] = next;
    if (next != no_place) before_[next] = place;
    if (previous != no_place) add(previous);
    if (next != no_place) add(place);
  }
  std::ranges::sort(grown_);
  const auto repeated = std::ranges::unique(grown_);
  grown_.erase(repeated.begin(), repeated.end());
  for (const Pair changed : grown_)
    if (pairs_[changed].count > 0) propose(changed);
  pairs_.erase(pair);
}

}  // namespace

static AddedTokens added_tokens(const std::vector<std::string>& texts) {
  std::vector<AddedToken> tokens;
  for (const std::string& text : texts) tokens.push_back({text, 0});
  return AddedTokens(std::move(tokens));
}

BpeTrainer::BpeTrainer(const BpeTrainerOptions& options) : options_(options), specials_(added_tokens(options.specials)) {
  const std::size_t fixed = 256 + options.specials.size();
  expect(options.vocab_size >= fixed,
         "bpe: a vocabulary of {} is too small for 256 bytes and {} special tokens; ask for {} or more",
         options.vocab_size, options.specials.size(), fixed);
  expect(options.vocab_size <= std::numeric_limits<int>::max(), "bpe: a vocabulary of {} is too large",
         options.vocab_size);
}

void BpeTrainer::read(std::string_view text) {
  const auto count = [&](std::string_view stretch) {
    while (!stretch.empty()) {
      const std::string_view word = stretch.substr(0, first_pre_token(options_.pattern, stretch));
      stretch.remove_prefix(word.size());
      if (const auto found = words_.find(word); found != words_.end())
        ++found->second;
      else
        words_.emplace(word, 1);
    }
  };
  specials_.split(text, Specials::allowed, count, [](const AddedToken&) {});
}

BpeTokenizer BpeTrainer::train() const {
  BpeModel model;
  model.pattern = options_.pattern;
  Merger merger(words_);
  while (merger.tokens().size() + options_.specials.size() < options_.vocab_size) {
    const std::optional<Pair> pair = merger.best();
    if (!pair) break;
    merger.merge(*pair);
    model.merges.emplace_back(left_of(*pair), right_of(*pair));
  }
  for (const std::string& token : merger.tokens()) model.spellings.push_back(spell_bytes(token));
  for (const std::string& text : options_.specials) {
    model.added.push_back({text, static_cast<int>(model.spellings.size())});
    model.spellings.push_back(text);
  }
  return BpeTokenizer(std::move(model));
}

BpeTokenizer train_bpe(std::span<const std::string_view> texts, const BpeTrainerOptions& options) {
  BpeTrainer trainer(options);
  for (const std::string_view text : texts) trainer.read(text);
  return trainer.train();
}

}  // namespace gradus::nn
