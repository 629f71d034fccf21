#include "nn/text/as_bpe.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "autograd/error.h"
#include "nn/text/byte_alphabet.h"
#include "nn/text/char_tokenizer.h"
#include "nn/text/utf8.h"

namespace gradus::nn {

static constexpr int first_byte = 3, first_piece = first_byte + 256;  // ids in llama2.c's vocabularies

static BpeModel bytes_as_bpe() {
  BpeModel model;
  for (int byte = 0; byte < 256; ++byte)
    model.spellings.push_back(spell_bytes(std::string(1, static_cast<char>(byte))));
  return model;
}

static BpeModel characters_as_bpe(const CharTokenizer& tokenizer) {
  BpeModel model;
  model.alphabet = BpeModel::Alphabet::characters;
  for (const std::string& character : tokenizer.vocabulary()) {
    expect(character != space_mark, "tokenizer: the character {} stands for a space in a tokenizer.json; this vocabulary "
           "cannot be written as one", space_mark);
    model.spellings.push_back(character == " " ? std::string(space_mark) : character);
  }
  return model;
}

using Ids = std::unordered_map<std::string, int>;

// Every two tokens whose spellings together are `spelling`, by their ids.
static std::vector<std::pair<int, int>> splits(const std::string& spelling, const Ids& ids) {
  std::vector<std::pair<int, int>> pairs;
  for (std::size_t length = 1; length < spelling.size(); ++length) {
    const auto left = ids.find(spelling.substr(0, length)), right = ids.find(spelling.substr(length));
    if (left != ids.end() && right != ids.end()) pairs.emplace_back(left->second, right->second);
  }
  std::ranges::sort(pairs);
  return pairs;
}

static Ids ids_of_text(const std::vector<std::string>& spellings) {
  Ids ids;
  for (std::size_t id = first_byte; id < spellings.size(); ++id)
    if (byte_of(spellings[id]) < 0) ids.emplace(spellings[id], static_cast<int>(id));
  return ids;
}

static BpeModel llama2c_as_bpe(const Llama2cTokenizer& tokenizer) {
  BpeModel model;
  model.alphabet = BpeModel::Alphabet::characters;
  for (const Llama2cTokenizer::Piece& piece : tokenizer.pieces()) {
    expect(is_utf8(piece.text), "tokenizer: the piece {} is not UTF-8; this vocabulary cannot be written as a "
           "tokenizer.json", model.spellings.size());
    model.spellings.push_back(mark_spaces(piece.text));
  }
  const std::pair<std::string, std::string> framed[] = {{"\n<s>\n", "<s>"}, {"\n</s>\n", "</s>"}};
  for (int id = 0; id < first_byte; ++id) {
    std::string& spelling = model.spellings[id];
    for (const auto& [there, here] : framed)
      if (spelling == there) spelling = here;
    model.added.push_back({spelling, id});
  }
  model.begin = Llama2cTokenizer::begin;
  model.end = Llama2cTokenizer::begin;

  const Ids ids = ids_of_text(model.spellings);
  model.prefix_space = ids.contains(std::string(space_mark));
  std::vector<int> order;
  for (const auto& item : ids) order.push_back(item.second);
  std::ranges::sort(order, {}, [&](int id) { return std::tuple(-tokenizer.pieces()[id].score, id); });
  for (const int id : order)
    for (const auto& pair : splits(model.spellings[id], ids)) model.merges.push_back(pair);
  return model;
}

BpeModel as_bpe(const Tokenizer& tokenizer) {
  if (const auto* bpe = dynamic_cast<const BpeTokenizer*>(&tokenizer)) return bpe->model();
  if (const auto* characters = dynamic_cast<const CharTokenizer*>(&tokenizer)) return characters_as_bpe(*characters);
  if (const auto* llama2c = dynamic_cast<const Llama2cTokenizer*>(&tokenizer)) return llama2c_as_bpe(*llama2c);
  expect(tokenizer.name() == "bytes", "tokenizer: {} cannot be said as byte-pair encoding", tokenizer.name());
  return bytes_as_bpe();
}

// The pieces of a vocabulary that has llama2.c's form; their scores fall with their ids.
static std::vector<Llama2cTokenizer::Piece> pieces_of(const BpeModel& model) {
  const auto need = [](bool holds, std::string_view what) {
    expect(holds, "llama2.c: its tokenizers have {}; this one has not, and cannot be written as one", what);
  };
  need(model.alphabet == BpeModel::Alphabet::characters && model.prefix_space,
       "characters, and a space before each text");
  need(model.spellings.size() >= first_piece && model.begin == Llama2cTokenizer::begin,
       "<unk>, begin and end as ids 0 to 2, and 256 bytes");
  for (int byte = 0; byte < 256; ++byte)
    need(byte_of(model.spellings[first_byte + byte]) == byte, "the bytes as ids 3 to 258");
  for (const AddedToken& token : model.added) need(token.id < first_byte, "no special tokens but the first three");

  const Ids ids = ids_of_text(model.spellings);
  std::set<std::pair<int, int>> merges(model.merges.begin(), model.merges.end()), needed;
  for (const auto& item : ids)
    for (const auto& pair : splits(item.first, ids)) needed.insert(pair);
  need(merges == needed, "a merge for every two pieces that spell a third");
  int last = 0;
  for (const auto& [left, right] : model.merges) {
    const int merged = ids.at(model.spellings[left] + model.spellings[right]);
    need(merged >= last, "pieces in the order of their merges");
    last = merged;
  }

  std::vector<Llama2cTokenizer::Piece> pieces;
  for (int id = 0; id < static_cast<int>(model.spellings.size()); ++id)
    pieces.push_back({.text = unmark_spaces(model.spellings[id]),
                      .score = id < first_piece ? 0 : -static_cast<float>(id - first_piece),
                      .byte = byte_of(model.spellings[id])});
  for (int id : {1, 2}) pieces[id].text = "\n" + pieces[id].text + "\n";
  return pieces;
}

void write_llama2c_tokenizer(const std::filesystem::path& path, const Tokenizer& tokenizer) {
  if (const auto* llama2c = dynamic_cast<const Llama2cTokenizer*>(&tokenizer)) return llama2c->write(path);
  Llama2cTokenizer(pieces_of(as_bpe(tokenizer))).write(path);
}

}  // namespace gradus::nn
