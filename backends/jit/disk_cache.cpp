#include "backends/jit/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <set>

namespace fuselet::jit {
namespace {

constexpr const char* kTemporary = ".writing-";
// Seconds after which a file that a writer has left behind is nobody's.
constexpr time_t kAbandoned = 3600;

// The end of an entry's file.
struct Trailer {
  char magic[8];
  uint64_t object_bytes, key_bytes, checksum;
};
constexpr char kMagic[9] = "fuselet1";

uint64_t checksum_of(const std::string& object, const std::string& key) {
  const uint64_t first = hash_bytes(object.data(), object.size(), object.size());
  return hash_bytes(key.data(), key.size(), first);
}

bool make_folders(const std::string& path) {
  for (size_t at = 1; at != std::string::npos;) {
    at = path.find('/', at + 1);
    const std::string part = path.substr(0, at);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES) return false;
  }
  struct stat s;
  return stat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode);
}

std::optional<std::string> read_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::string bytes;
  struct stat s;
  if (fstat(file, &s) == 0 && S_ISREG(s.st_mode)) bytes.resize(static_cast<size_t>(s.st_size));
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = read(file, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  close(file);
  bytes.resize(done);
  return bytes;
}

// Empty, or why not.
std::string write_file(const std::string& path, const std::string& bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return std::strerror(errno);
  size_t done = 0;
  std::string problem;
  while (done < bytes.size()) {
    const ssize_t n = write(file, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      problem = std::strerror(n < 0 ? errno : ENOSPC);
      break;
    }
    done += static_cast<size_t>(n);
  }
  if (close(file) != 0 && problem.empty()) problem = std::strerror(errno);
  if (!problem.empty()) unlink(path.c_str());
  return problem;
}

std::string replace_file(const std::string& folder, const std::string& name, const std::string& bytes) {
  static std::atomic<unsigned> count{0};
  const std::string temporary =
      folder + "/" + kTemporary + std::to_string(getpid()) + "-" + std::to_string(count.fetch_add(1));
  std::string problem = write_file(temporary, bytes);
  if (problem.empty() && rename(temporary.c_str(), (folder + "/" + name).c_str()) != 0) {
    problem = std::strerror(errno);
    unlink(temporary.c_str());
  }
  return problem;
}

// Removes what killed writers have left.
void sweep(const std::string& folder) {
  DIR* entries = opendir(folder.c_str());
  if (!entries) return;
  while (const dirent* entry = readdir(entries)) {
    if (std::strncmp(entry->d_name, kTemporary, std::strlen(kTemporary)) != 0) continue;
    const std::string path = folder + "/" + entry->d_name;
    struct stat s;
    std::error_code ignored;
    if (stat(path.c_str(), &s) == 0 && s.st_mtime + kAbandoned < time(nullptr))
      std::filesystem::remove_all(path, ignored);
  }
  closedir(entries);
}

std::string entry_folder(const char* name) {
  const std::string folder = cache_folder();
  return folder.empty() ? "" : folder + "/" + name;
}

// Once a process and folder.
void sweep_once(const std::string& folder) {
  static std::mutex mutex;
  static std::set<std::string> swept;
  std::lock_guard lock(mutex);
  if (swept.insert(folder).second) sweep(folder);
}

}  // namespace

std::string cache_folder() {
  auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value ? value : "";
  };
  if (const std::string own = variable("FUSELET_CACHE_DIR"); !own.empty()) return own;
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache + "/fuselet";
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.cache/fuselet";
}

std::optional<std::string> find_on_disk(const CacheKey& key) {
  const std::string folder = entry_folder(key.folder);
  if (folder.empty()) return std::nullopt;
  std::optional<std::string> bytes = read_file(folder + "/" + key.name());
  Trailer trailer;
  if (!bytes || bytes->size() < sizeof trailer) return std::nullopt;
  std::memcpy(&trailer, bytes->data() + bytes->size() - sizeof trailer, sizeof trailer);
  const size_t rest = bytes->size() - sizeof trailer;
  if (std::memcmp(trailer.magic, kMagic, sizeof trailer.magic) != 0 || trailer.object_bytes > rest ||
      trailer.key_bytes != rest - trailer.object_bytes) {
    return std::nullopt;
  }
  if (bytes->compare(trailer.object_bytes, trailer.key_bytes, key.text) != 0) return std::nullopt;
  bytes->resize(trailer.object_bytes);
  if (trailer.checksum != checksum_of(*bytes, key.text)) return std::nullopt;
  return bytes;
}

std::string store_on_disk(const CacheKey& key, const std::string& object) {
  const std::string folder = entry_folder(key.folder);
  if (folder.empty()) return "neither FUSELET_CACHE_DIR nor HOME is set";
  if (!make_folders(folder)) return folder + " cannot be made";
  sweep_once(folder);
  Trailer trailer{{}, object.size(), key.text.size(), checksum_of(object, key.text)};
  std::memcpy(trailer.magic, kMagic, sizeof trailer.magic);
  const std::string problem = replace_file(
      folder, key.name(), object + key.text + std::string(reinterpret_cast<const char*>(&trailer), sizeof trailer));
  return problem.empty() ? "" : folder + ": " + problem;
}

std::string make_work_folder(const char* folder) {
  const char* tmp = std::getenv("TMPDIR");
  const std::string entries = entry_folder(folder);
  std::string inside = entries + "/" + kTemporary + "XXXXXX";
  if (!entries.empty() && make_folders(entries) && mkdtemp(inside.data())) return inside;
  std::string outside = std::string(tmp && *tmp ? tmp : "/tmp") + "/fuselet-XXXXXX";
  return mkdtemp(outside.data()) ? outside : "";
}

std::string keep_failure(const CacheKey& key, const char* extension, const std::string& source,
                         const std::string& messages) {
  const std::string folder = cache_folder() + "/failed";
  if (cache_folder().empty() || !make_folders(folder)) return "";
  if (!replace_file(folder, key.name() + extension, source).empty()) return "";
  replace_file(folder, key.name() + ".log", messages);
  return folder + "/" + key.name() + extension;
}

}  // namespace fuselet::jit
