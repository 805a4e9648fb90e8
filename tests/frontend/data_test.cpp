// Data sets, the loader's order and threads, IDX files and text.
#include <doctest/doctest.h>
#include <fuselet/fuselet.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

using namespace fuselet;

namespace {

data::TensorDataset numbers(int64_t n) { return data::TensorDataset(arange(n)); }

std::vector<double> epoch_of(data::DataLoader& loader) {
  std::vector<double> seen;
  for (const data::Example& batch : loader) {
    for (double v : batch[0].to_vector()) seen.push_back(v);
    seen.push_back(-1);
  }
  return seen;
}

// Fails at one example; slow ones come late, so that threads finish out of order.
struct Unsteady : data::Dataset {
  int64_t bad;
  explicit Unsteady(int64_t bad) : bad(bad) {}
  int64_t size() const override { return 24; }
  data::Example get(int64_t i) const override {
    if (i == bad) fail("example ", i, " is broken");
    std::this_thread::sleep_for(std::chrono::microseconds(i % 3 == 0 ? 2000 : 10));
    return {tensor(i)};
  }
};

std::string write_temporary(const char* name, std::string_view bytes) {
  std::string path = std::filesystem::temp_directory_path() / concat("fuselet_data_", ::getpid(), "_", name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace

TEST_CASE("batches come in order, the last one short or dropped") {
  data::DataLoader loader(numbers(5), {.batch_size = 2});
  CHECK(loader.num_batches() == 3);
  CHECK(epoch_of(loader) == std::vector<double>{0, 1, -1, 2, 3, -1, 4, -1});
  data::DataLoader dropping(numbers(5), {.batch_size = 2, .drop_last = true});
  CHECK(epoch_of(dropping) == std::vector<double>{0, 1, -1, 2, 3, -1});
  data::DataLoader nothing(numbers(0), {.batch_size = 2});
  CHECK(epoch_of(nothing).empty());
}

TEST_CASE("the order depends on seed and epoch, never on the number of threads") {
  std::vector<std::vector<double>> first;
  for (int workers : {0, 1, 3}) {
    data::DataLoader loader(Unsteady(-1), {.batch_size = 3, .shuffle = true, .seed = 5, .workers = workers});
    std::vector<double> a = epoch_of(loader), b = epoch_of(loader);
    CHECK(a != b);
    std::vector<double> sorted = a;
    std::erase(sorted, -1);
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i) CHECK(sorted[i] == static_cast<double>(i));
    first.push_back(a);
  }
  CHECK(first[0] == first[1]);
  CHECK(first[0] == first[2]);
  data::DataLoader other(Unsteady(-1), {.batch_size = 3, .shuffle = true, .seed = 6});
  CHECK(epoch_of(other) != first[0]);
}

TEST_CASE("a permutation is the same on every platform") {
  std::vector<int64_t> order = data::permutation(1000, 1);
  std::vector<int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t i = 0; i < 1000; ++i) CHECK(sorted[static_cast<size_t>(i)] == i);
  CHECK(order == data::permutation(1000, 1));
  CHECK(order != data::permutation(1000, 1, 1));
  CHECK(data::permutation(1, 0) == std::vector<int64_t>{0});
  CHECK(data::permutation(0, 0).empty());
}

TEST_CASE("a loader resumes inside an epoch and keeps the later ones") {
  data::LoaderOptions options{.batch_size = 2, .shuffle = true, .seed = 9};
  data::DataLoader whole(numbers(9), options);
  std::vector<double> expected;
  for (int e = 0; e < 3; ++e) {
    for (double v : epoch_of(whole)) expected.push_back(v);
  }
  for (size_t stop = 1; stop <= 5; ++stop) {
    data::DataLoader before(numbers(9), options), after(numbers(9), {.batch_size = 2, .shuffle = true, .seed = 1});
    std::vector<double> seen = epoch_of(before);
    State state;
    size_t batches = 0;
    for (const data::Example& batch : before) {
      for (double v : batch[0].to_vector()) seen.push_back(v);
      seen.push_back(-1);
      if (++batches == stop) {
        state = before.state_dict();
        break;
      }
    }
    after.load_state_dict(state);
    for (int e = 0; e < 2; ++e) {
      for (double v : epoch_of(after)) seen.push_back(v);
    }
    CHECK(seen == expected);
  }
  data::DataLoader different(numbers(8), options);
  CHECK_THROWS_WITH_AS(different.load_state_dict(whole.state_dict()), doctest::Contains("examples 9, this loader 8"),
                       Error);
}

TEST_CASE("a loop left early is followed by the next epoch") {
  data::DataLoader loader(numbers(6), {.batch_size = 2});
  for (const data::Example& batch : loader) {
    CHECK(batch[0].to_vector()[0] == 0);
    break;
  }
  CHECK(epoch_of(loader).size() == 9);
  CHECK(loader.epoch() == 2);
}

TEST_CASE("an exception of the data set reaches the loop, after the batches before it") {
  for (int workers : {0, 2}) {
    data::DataLoader loader(Unsteady(7), {.batch_size = 2, .workers = workers});
    int batches = 0;
    auto run = [&] {
      for (const data::Example& batch : loader) batches += batch.size() == 1;
    };
    CHECK_THROWS_WITH_AS(run(), "example 7 is broken", Error);
    CHECK(batches == 3);
  }
}

TEST_CASE("random_split is disjoint, complete and depends on its seed alone") {
  auto parts = data::random_split(numbers(10), {7, 3}, 4);
  std::vector<int64_t> all = parts[0].indices();
  all.insert(all.end(), parts[1].indices().begin(), parts[1].indices().end());
  std::sort(all.begin(), all.end());
  for (int64_t i = 0; i < 10; ++i) CHECK(all[static_cast<size_t>(i)] == i);
  manual_seed(99);
  CHECK(data::random_split(numbers(10), {7, 3}, 4)[1].indices() == parts[1].indices());
  CHECK(parts[1].get(0)[0].item_int() == parts[1].indices()[0]);
  CHECK_THROWS_AS(data::random_split(numbers(10), {7, 4}), Error);
  CHECK_THROWS_AS(parts[1].get(3), IndexError);
  CHECK_THROWS_AS(data::TensorDataset(zeros({3}), zeros({4})), Error);
}

TEST_CASE("the digits are read") {
  std::string folder = std::string(FUSELET_SOURCE_DIR) + "/examples/data/";
  Tensor images = data::read_idx(folder + "digits-images.idx3-ubyte"),
         labels = data::read_idx(folder + "digits-labels.idx1-ubyte");
  CHECK(to_string(images.sizes()) == "[1797, 8, 8]");
  CHECK(labels.size(0) == 1797);
  std::vector<double> values = images.to_vector();
  CHECK(*std::max_element(values.begin(), values.end()) == 16);
  CHECK(labels[0].item_int() == 0);
}

TEST_CASE("damaged IDX files are refused with the reason") {
  std::string good("\0\0\x0c\2\0\0\0\1\0\0\0\2\0\0\0\5\xff\xff\xff\xfe", 20);
  std::string path = write_temporary("idx", good);
  CHECK(data::read_idx(path).to_vector() == std::vector<double>{5, -2});
  for (size_t length = 0; length < good.size(); ++length) {
    write_temporary("idx", std::string_view(good).substr(0, length));
    CHECK_THROWS_WITH_AS(data::read_idx(path), doctest::Contains("truncated"), Error);
  }
  write_temporary("idx", good + "x");
  CHECK_THROWS_WITH_AS(data::read_idx(path), doctest::Contains("too long"), Error);
  write_temporary("idx", "PK\3\4 something else");
  CHECK_THROWS_WITH_AS(data::read_idx(path), doctest::Contains("no IDX file"), Error);
  write_temporary("idx", std::string("\0\0\x08\3\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16));
  CHECK_THROWS_WITH_AS(data::read_idx(path), doctest::Contains("truncated"), Error);
  std::filesystem::remove(path);
  CHECK_THROWS_WITH_AS(data::read_idx(path), doctest::Contains("cannot open"), Error);
}

TEST_CASE("a character vocabulary encodes and decodes UTF-8") {
  data::CharVocabulary vocabulary("hällo €😀");
  CHECK(vocabulary.size() == 7);
  std::string text = "lö";
  CHECK_THROWS_WITH_AS(vocabulary.encode(text), doctest::Contains("'ö' at place 1"), Error);
  Tensor tokens = vocabulary.encode("😀 hä");
  CHECK(tokens.dtype() == kInt64);
  CHECK(tokens.size(0) == 4);
  CHECK(vocabulary.decode(tokens) == "😀 hä");
  CHECK(data::CharVocabulary(vocabulary.characters()).encode("€").item_int() == vocabulary.encode("€").item_int());
  CHECK_THROWS_AS(data::CharVocabulary("\xff"), Error);
  CHECK_THROWS_AS(data::CharVocabulary("\xe2\x82"), Error);
}

TEST_CASE("windows of a text hold the next tokens as targets") {
  data::TextWindows windows(arange(6), 3);
  CHECK(windows.size() == 3);
  CHECK(windows.get(2)[0].to_vector() == std::vector<double>{2, 3, 4});
  CHECK(windows.get(2)[1].to_vector() == std::vector<double>{3, 4, 5});
  CHECK_THROWS_AS(data::TextWindows(arange(3), 3), Error);
}
