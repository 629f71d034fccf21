// Running the tool as a person does.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

inline const std::string tool = GRADUS_BIN_DIR "/gradus";

struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("gradus_tool_test_" + std::to_string(getpid()));
  Folder() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string& name) const { return (path / name).string(); }

  // --text with one that is read in no time, which the 12 MB of stories are not.
  std::string short_text() const {
    const std::filesystem::path file = path / "squares.txt";
    if (!std::filesystem::exists(file)) {
      std::ofstream text(file);
      for (int i = 0; i < 800; ++i) text << "the square of " << i << " is " << i * i << "\n";
    }
    return " --text " + file.string();
  }
};

struct Result {
  int code;
  std::string out, err;
};

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline Result run(const Folder& folder, const std::string& arguments) {
  const std::string command = tool + " " + arguments + " >" + folder / "out" + " 2>" + folder / "err";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(folder / "out"), contents(folder / "err")};
}
