#include "frontend/cpp/checkpoint/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/error.h"

namespace fuselet {
namespace {

// Removes the temporary file unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target) {
    static std::atomic<int> count{0};
    name_ = concat(target, ".tmp.", ::getpid(), ".", count++);
    descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  bool write(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  bool rename_to(const std::string& path) {
    if (::fsync(descriptor_) != 0) return false;
    int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0 || std::rename(name_.c_str(), path.c_str()) != 0) return false;
    name_.clear();
    return true;
  }

 private:
  std::string name_;
  int descriptor_;
};

}  // namespace

void write_file_atomically(const std::string& path, std::span<const std::string_view> pieces) {
  TemporaryFile file(path);
  bool good = file.is_open();
  for (std::string_view piece : pieces) good = good && file.write(piece);
  good = good && file.rename_to(path);
  FUSELET_CHECK(good, "cannot write '", path, "': ", std::strerror(errno));
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  // Some file systems cannot sync a folder; the content itself is safe by now.
  if (int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); descriptor >= 0) {
    ::fsync(descriptor);
    ::close(descriptor);
  }
}

}  // namespace fuselet
