// Compiled kernels on disk, one file an entry: the shared object, the key's text, and a checksum of both.
//
// An entry appears by one rename. What is damaged, or holds another key, is no entry; storing replaces it. The folder
// is FUSELET_CACHE_DIR, else XDG_CACHE_HOME/fuselet, else ~/.cache/fuselet, read anew in each call.
#pragma once
#include <optional>
#include <string>

#include "backends/jit/cache_key.h"

namespace fuselet::jit {

// Empty if the environment names none.
std::string cache_folder();

// The shared object of the key.
std::optional<std::string> find_on_disk(const CacheKey& key);
// Empty, or why it could not be stored.
std::string store_on_disk(const CacheKey& key, const std::string& object);
// An empty folder for a compilation, in the cache or else in TMPDIR; empty if neither can be written.
std::string make_work_folder(const char* folder);
// Keeps a source that does not compile, with the flags and what the compiler said; returns where, empty if nowhere.
// `extension`: of the source, ".cpp".
std::string keep_failure(const CacheKey& key, const char* extension, const std::string& source,
                         const std::string& messages);

}  // namespace fuselet::jit
