// See Isolated.h.
#include "test/conformance/Isolated.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <sys/wait.h>
#include <unistd.h>

namespace cleave::conformance {
namespace {

struct Child {
  size_t index;
  int pipe;
};

std::string readAll(int pipe) {
  std::string text;
  char block[4096];
  for (ssize_t count; (count = ::read(pipe, block, sizeof block)) > 0;)
    text.append(block, static_cast<size_t>(count));
  ::close(pipe);
  return text;
}

// In memory where there is such a file system.
std::string makeScratch() {
  namespace fs = std::filesystem;
  fs::path base = fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
  std::string name = (base / "cleave-conformance-XXXXXX").string();
  return ::mkdtemp(name.data()) ? name : "";
}

[[noreturn]] void runChild(int pipe, unsigned seconds, const std::function<std::string()> &work) {
  ::alarm(seconds);
  std::string text;
  try {
    text = work();
  } catch (const std::exception &error) {
    text = std::string("exception: ") + error.what();
  }
  for (size_t done = 0; done < text.size();) {
    ssize_t count = ::write(pipe, text.data() + done, text.size() - done);
    if (count <= 0)
      break;
    done += static_cast<size_t>(count);
  }
  ::_exit(0);
}

std::string ending(int status) {
  if (WIFEXITED(status))
    return WEXITSTATUS(status) ? "ended with " + std::to_string(WEXITSTATUS(status)) : "";
  return WTERMSIG(status) == SIGALRM ? "takes too long"
                                     : std::string("crashes: ") + ::strsignal(WTERMSIG(status));
}

} // namespace

std::vector<std::string>
runIsolated(size_t count, int jobs, unsigned seconds,
            const std::function<std::string(size_t, const std::string &)> &work) {
  std::vector<std::string> texts(count);
  std::map<pid_t, Child> running;
  std::string scratch = makeScratch();
  for (size_t next = 0; next < count || !running.empty();) {
    if (next < count && running.size() < static_cast<size_t>(jobs)) {
      int ends[2];
      if (::pipe(ends) != 0)
        return texts;
      std::fflush(nullptr);
      pid_t child = ::fork();
      if (child == 0) {
        std::string own = scratch + "/" + std::to_string(next);
        std::filesystem::create_directory(own);
        runChild(ends[1], seconds, [&] { return work(next, own); });
      }
      ::close(ends[1]);
      running[child] = {next++, ends[0]};
      continue;
    }
    int status = 0;
    pid_t ended = ::wait(&status);
    auto found = running.find(ended);
    if (found == running.end())
      continue;
    auto [index, pipe] = found->second;
    std::string text = readAll(pipe), problem = ending(status);
    texts[index] = problem.empty() ? text : problem;
    std::filesystem::remove_all(scratch + "/" + std::to_string(index));
    running.erase(found);
  }
  std::filesystem::remove_all(scratch);
  return texts;
}

} // namespace cleave::conformance
