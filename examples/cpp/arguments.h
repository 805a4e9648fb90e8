// Command-line options of the examples: `--name value` and `--name=value`, with defaults, and a --help made from them.
#pragma once
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

class Arguments {
 public:
  Arguments(std::string program, std::string purpose) : program_(std::move(program)), purpose_(std::move(purpose)) {}

  void add(std::string name, std::string value, std::string help) {
    options_.push_back({std::move(name), std::move(value), std::move(help)});
  }

  // Exits: with 0 after --help, with 2 after a mistake.
  void parse(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      std::string word = argv[i];
      if (word == "--help" || word == "-h") {
        print_help();
        std::exit(0);
      }
      size_t equals = word.find('=');
      Option* option =
          word.starts_with("--") ? find(word.substr(2, equals == std::string::npos ? equals : equals - 2)) : nullptr;
      if (!option) refuse("unknown option " + word);
      if (equals != std::string::npos) {
        option->value = word.substr(equals + 1);
      } else if (++i < argc) {
        option->value = argv[i];
      } else {
        refuse(word + " needs a value");
      }
    }
  }

  const std::string& text(std::string_view name) const {
    for (const Option& option : options_) {
      if (option.name == name) return option.value;
    }
    std::abort();
  }
  int64_t integer(std::string_view name) const { return number<int64_t>(name); }
  // At least 1.
  int64_t count(std::string_view name) const {
    int64_t value = integer(name);
    if (value < 1) refuse("--" + std::string(name) + " must be positive, got " + text(name));
    return value;
  }
  double real(std::string_view name) const { return number<double>(name); }

  [[noreturn]] void refuse(const std::string& what) const {
    std::fprintf(stderr, "%s: %s; see --help\n", program_.c_str(), what.c_str());
    std::exit(2);
  }

 private:
  struct Option {
    std::string name, value, help;
  };

  template <class T>
  T number(std::string_view name) const {
    const std::string& value = text(name);
    T result{};
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (error != std::errc() || end != value.data() + value.size())
      refuse("--" + std::string(name) + " needs a number, got '" + value + "'");
    return result;
  }
  Option* find(std::string_view name) {
    for (Option& option : options_) {
      if (option.name == name) return &option;
    }
    return nullptr;
  }
  void print_help() const {
    std::printf("%s: %s\n\n", program_.c_str(), purpose_.c_str());
    for (const Option& option : options_) {
      std::printf("  --%-10s %s%s\n", option.name.c_str(), option.help.c_str(),
                  option.value.empty() ? "" : (" (default " + option.value + ")").c_str());
    }
  }

  std::string program_, purpose_;
  std::vector<Option> options_;
};
