// See DataCommand.h.
#include "runtime/data/DataCommand.h"

#include "runtime/base/Units.h"
#include "runtime/data/BatchFormat.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace cleave::data {
namespace {

// The environment of this process with additions, which come first.
std::vector<std::string>
environmentWith(const std::vector<std::pair<std::string, std::string>> &added) {
  std::vector<std::string> all;
  for (const auto &[name, value] : added)
    all.push_back(name + "=" + value);
  for (char **entry = environ; *entry; ++entry) {
    std::string text = *entry;
    bool isReplaced = false;
    for (const auto &[name, value] : added)
      isReplaced |= text.starts_with(name + "=");
    if (!isReplaced)
      all.push_back(text);
  }
  return all;
}

// Starts `sh -c COMMAND` whose standard output is `output`; returns its process id, or an errno as
// a negative number.
int spawn(const std::string &command, const std::vector<std::string> &environment, int output) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults, none;
  sigemptyset(&defaults);
  sigemptyset(&none);
  for (int signal : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM})
    sigaddset(&defaults, signal);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  std::vector<char *> variables;
  for (const std::string &entry : environment)
    variables.push_back(const_cast<char *>(entry.c_str()));
  variables.push_back(nullptr);
  std::string shell = "sh", option = "-c", text = command;
  char *arguments[] = {shell.data(), option.data(), text.data(), nullptr};
  pid_t process = -1;
  int error = posix_spawn(&process, "/bin/sh", &files, &attributes, arguments, variables.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error ? -error : int(process);
}

} // namespace

std::string DataCommand::name() const {
  return concat("the data command '", options_.command, "'");
}

Result<std::unique_ptr<DataCommand>> DataCommand::start(CommandOptions options) {
  std::unique_ptr<DataCommand> command(new DataCommand(std::move(options)));
  int output[2];
  if (::pipe2(output, O_CLOEXEC) != 0)
    return Status::userError("could not make a pipe: ", std::strerror(errno));
  command->pipe_ = output[0];
  command->process_ =
      spawn(command->options_.command, environmentWith(command->options_.environment), output[1]);
  ::close(output[1]);
  if (command->process_ < 0)
    return Status::userError("could not start ", command->name(), ": ",
                             std::strerror(-command->process_));
  if (::pipe2(command->wake_, O_CLOEXEC) != 0)
    return Status::userError("could not make a pipe: ", std::strerror(errno));
  command->reader_ = std::thread([made = command.get()] { made->readAll(); });
  return command;
}

DataCommand::~DataCommand() {
  {
    std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  if (wake_[1] >= 0)
    ::close(wake_[1]);
  if (process_ > 0)
    ::kill(-process_, SIGTERM); // also if sh has ended: its children are in the same group
  if (reader_.joinable())
    reader_.join();
  if (pipe_ >= 0)
    ::close(pipe_);
  if (wake_[0] >= 0)
    ::close(wake_[0]);
  for (int tries = 0; process_ > 0 && !hasExited_ && tries < 100; ++tries) {
    hasExited_ = ::waitpid(process_, nullptr, WNOHANG) != 0;
    if (!hasExited_)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (process_ > 0 && !hasExited_) {
    ::kill(-process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
}

// Reads until `bytes` are there or the stream ends; whoever waits for a micro-batch sees to it that
// this does not take too long.
Result<size_t> DataCommand::readSome(char *to, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    pollfd waited[] = {{pipe_, POLLIN, 0}, {wake_[0], POLLIN, 0}};
    if (::poll(waited, 2, -1) < 0 && errno != EINTR)
      return Status::userError("could not be read: ", std::strerror(errno));
    if (waited[1].revents)
      return Status::userError("was stopped");
    if (!waited[0].revents)
      continue;
    ssize_t found = ::read(pipe_, to + done, bytes - done);
    if (found < 0 && errno == EINTR)
      continue;
    if (found < 0)
      return Status::userError("could not be read: ", std::strerror(errno));
    if (found == 0)
      break;
    done += size_t(found);
  }
  return done;
}

Status DataCommand::atEnd() {
  int status = 0;
  // A command that has closed its output ends soon, or is ended with this object.
  for (int tries = 0; tries < 200 && !hasExited_; ++tries) {
    hasExited_ = ::waitpid(process_, &status, WNOHANG) == process_;
    if (!hasExited_)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::string after = concat(" after ", batches_, batches_ == 1 ? " batch" : " batches");
  if (hasExited_ && WIFSIGNALED(status))
    return Status::userError("was ended by signal ", WTERMSIG(status), after);
  if (hasExited_ && WEXITSTATUS(status) != 0)
    return Status::userError("ended with exit code ", WEXITSTATUS(status), after);
  return Status::ok();
}

void DataCommand::readAll() {
  Status end;
  while (true) {
    Result<std::string> batch =
        readBatch([this](char *to, size_t bytes) { return readSome(to, bytes); }, options_.arrays);
    if (!batch) {
      Status failed = atEnd(); // its exit code tells more than where the data end
      end = failed ? batch.status() : failed;
      break;
    }
    if (batch->empty()) {
      end = atEnd();
      break;
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stops_ || ready_.size() < options_.readAhead; });
    if (stops_)
      return;
    ready_.push_back(std::move(*batch));
    ++batches_;
    changed_.notify_all();
  }
  std::lock_guard lock(mutex_);
  end_ = end;
  hasEnded_ = true;
  changed_.notify_all();
}

Result<std::string> DataCommand::next() {
  std::unique_lock lock(mutex_);
  bool isThere =
      changed_.wait_for(lock, options_.patience, [&] { return !ready_.empty() || hasEnded_; });
  if (!isThere)
    return Status::userError(name(), " wrote no whole batch for ",
                             secondsText(std::chrono::duration<double>(options_.patience).count()),
                             "; --timeout waits longer");
  if (ready_.empty())
    return end_ ? Result<std::string>(std::string())
                : Result<std::string>(Status::userError(name(), " ", end_.message()));
  std::string batch = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  return batch;
}

} // namespace cleave::data
