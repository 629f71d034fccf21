#include "nn/atomic_file.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include "autograd/error.h"

#if __has_include(<unistd.h>)
#include <fcntl.h>
#include <unistd.h>
#define GRADUS_HAS_FSYNC
#endif

namespace gradus::nn {

// A rename is only durable once the numbers it points to are, and then the folder's list of names.
static bool reach_disk([[maybe_unused]] std::FILE* file) {
#ifdef GRADUS_HAS_FSYNC
  return fsync(fileno(file)) == 0;
#else
  return true;
#endif
}

void sync_folder([[maybe_unused]] const std::filesystem::path& folder) {
#ifdef GRADUS_HAS_FSYNC
  const int descriptor = open(folder.c_str(), O_RDONLY);
  if (descriptor < 0) return;
  fsync(descriptor);  // not every file system can; the file is whole either way
  close(descriptor);
#endif
}

AtomicFile::AtomicFile(const std::filesystem::path& target)
    : target_(target), temporary_(target.string() + ".partial"), file_(std::fopen(temporary_.string().c_str(), "wb")) {
  if (file_ == nullptr) fail("create");
}

AtomicFile::~AtomicFile() {
  if (file_ != nullptr) std::fclose(file_);
  std::error_code ignored;
  if (!committed_) std::filesystem::remove(temporary_, ignored);
}

void AtomicFile::fail(const char* action) const {
  const std::string reason = std::generic_category().message(errno);
  throw FileError(message("{}: cannot {} it: {}; the file of that name is as it was before", target_.string(), action,
                          reason));
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  if (std::fwrite(data, 1, bytes, file_) != bytes) fail("write");
}

void AtomicFile::write_at(long offset, const void* data, std::size_t bytes) {
  if (std::fseek(file_, offset, SEEK_SET) != 0) fail("write");
  write(data, bytes);
  if (std::fseek(file_, 0, SEEK_END) != 0) fail("write");
}

void AtomicFile::commit() {
  if (std::fflush(file_) != 0 || !reach_disk(file_)) fail("write");
  if (std::fclose(std::exchange(file_, nullptr)) != 0) fail("write");
  std::error_code error;
  std::filesystem::rename(temporary_, target_, error);
  errno = error.value();
  if (error) fail("replace");
  committed_ = true;
  sync_folder(target_.has_parent_path() ? target_.parent_path() : ".");
}

}  // namespace gradus::nn
