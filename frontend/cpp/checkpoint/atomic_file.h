// Writes a file so that its name always holds either the old content or the whole new one, also after a power cut:
// a temporary file in the same folder, fsync, rename, fsync of the folder. Error naming the file where that fails; then
// nothing is left behind.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace fuselet {

void write_file_atomically(const std::string& path, std::span<const std::string_view> pieces);

}  // namespace fuselet
