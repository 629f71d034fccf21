#include "optim/token_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "autograd/error.h"
#include "optim/fnv.h"

namespace gradus::optim {

static_assert(std::endian::native == std::endian::little, "token files are little-endian");

namespace {

struct Header {
  std::array<char, 8> magic{'G', 'R', 'A', 'D', 'U', 'S', 'T', 'K'};
  std::uint32_t version = 1;
  std::uint32_t token_bytes = 0;
  std::uint64_t size = 0;
  std::uint64_t hash = 0;
};
static_assert(sizeof(Header) == 32);

}  // namespace

std::uint64_t hash_of(const nn::Tokenizer& tokenizer) { return fnv(tokenizer.to_json()); }

static std::string reason() { return std::generic_category().message(errno); }

TokenFile::TokenFile(const std::filesystem::path& path, const nn::Tokenizer& tokenizer)
    : path_(path), descriptor_(open(path.c_str(), O_RDONLY)), vocab_size_(tokenizer.vocab_size()) {
  expect<FileError>(descriptor_ >= 0, "{}: the tokens cannot be read: {}", path.string(), reason());
  try {
    struct stat status{};
    expect<FileError>(fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode), "{}: expected a file of tokens, found "
                      "what is no file", path.string());
    const auto bytes = static_cast<std::uint64_t>(status.st_size);
    Header header;
    expect<FileError>(bytes >= sizeof header, "{}: expected a file of tokens, at least {} bytes, found {}", path.string(),
                      sizeof header, bytes);
    read_bytes(0, &header, sizeof header);
    expect<FileError>(header.magic == Header().magic, "{}: expected a file of tokens, which begins with GRADUSTK, found "
                      "another kind of file", path.string());
    expect<FileError>(header.version == 1 && (header.token_bytes == 2 || header.token_bytes == 4),
                      "{}: expected version 1 with 2 or 4 bytes a token, found version {} with {}; encode the text again",
                      path.string(), header.version, header.token_bytes);
    const std::uint64_t room = (bytes - sizeof header) / header.token_bytes;
    expect<FileError>(room == header.size && (bytes - sizeof header) % header.token_bytes == 0,
                      "{}: expected {} tokens of {} bytes, found {} bytes behind the header; was the file cut?", path.string(),
                      header.size, header.token_bytes, bytes - sizeof header);
    expect<FileError>(header.hash == hash_of(tokenizer), "{}: the tokens are another tokenizer's: expected the hash {:016x}, "
                      "found {:016x}; encode the text again", path.string(), hash_of(tokenizer), header.hash);
    size_ = header.size;
    token_bytes_ = header.token_bytes;
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

TokenFile::~TokenFile() { close(descriptor_); }

void TokenFile::read_bytes(std::uint64_t offset, void* data, std::size_t bytes) const {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t count = pread(descriptor_, static_cast<char*>(data) + done, bytes - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    expect<FileError>(count > 0, "{}: expected {} bytes at {}, reading them ended with: {}", path_.string(), bytes, offset,
                      count == 0 ? "the file's end; did it become shorter?" : reason());
    done += static_cast<std::size_t>(count);
  }
}

void TokenFile::read(std::uint64_t begin, std::span<int> tokens) const {
  std::vector<unsigned char> bytes(tokens.size() * token_bytes_);
  read_bytes(sizeof(Header) + begin * token_bytes_, bytes.data(), bytes.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::uint32_t id = 0;
    std::memcpy(&id, bytes.data() + i * token_bytes_, token_bytes_);
    expect<FileError>(id < vocab_size_, "{}: token {} is {}, which is not below the tokenizer's {}", path_.string(), begin + i,
                      id, vocab_size_);
    tokens[i] = static_cast<int>(id);
  }
}

TokenFileWriter::TokenFileWriter(const std::filesystem::path& path, const nn::Tokenizer& tokenizer)
    : file_(path),
      hash_(hash_of(tokenizer)),
      vocab_size_(tokenizer.vocab_size()),
      token_bytes_(vocab_size_ <= 65536 ? 2 : 4) {
  const Header room;
  file_.write(&room, sizeof room);
}

void TokenFileWriter::write(std::span<const int> tokens) {
  std::vector<unsigned char> bytes(tokens.size() * token_bytes_);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    expect(tokens[i] >= 0 && static_cast<std::size_t>(tokens[i]) < vocab_size_,
           "token file: id {} of token {} must be below the tokenizer's {}", tokens[i], size_ + i, vocab_size_);
    std::memcpy(bytes.data() + i * token_bytes_, &tokens[i], token_bytes_);
  }
  file_.write(bytes.data(), bytes.size());
  size_ += tokens.size();
}

void TokenFileWriter::commit() {
  const Header header{.token_bytes = static_cast<std::uint32_t>(token_bytes_), .size = size_, .hash = hash_};
  file_.write_at(0, &header, sizeof header);
  file_.commit();
}

}  // namespace gradus::optim
