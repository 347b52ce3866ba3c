import Foundation

/// A program in a process of its own, which ends with this one.
///
/// It is not Foundation's: that one waits for the end of a process in ways which take the time of a whole
/// processor where many are ended.
final class RunningProgram: @unchecked Sendable {
  /// Where this program lies, and others of the package.
  static let ownFolder = URL(
    fileURLWithPath: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      ?? CommandLine.arguments[0]
  ).deletingLastPathComponent().path

  let identifier: pid_t
  private let output: Int32
  private let lock = NSLock()
  // Guarded by the lock.
  private var status: Int32?

  /// - Parameters:
  ///   - environment: set over that of this program.
  ///   - log: the file that takes what it complains of.
  init(
    path: String, _ arguments: [String], environment: [String: String] = [:], log: String
  ) throws {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw TrialError("a pipe cannot be created: error \(errno)") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    output = ends[0]
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_APPEND, 0o644)
    let words = [path] + arguments
    let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      .map { "\($0)=\($1)" }
    var argv = words.map { strdup($0) } + [nil]
    var envp = variables.map { strdup($0) } + [nil]
    defer { for text in argv + envp { free(text) } }
    var process: pid_t = 0
    let result = posix_spawn(&process, path, &actions, nil, &argv, &envp)
    close(ends[1])
    guard result == 0 else {
      close(output)
      throw TrialError("\(path) cannot be started: \(String(cString: strerror(result)))")
    }
    identifier = process
  }

  deinit {
    if !hasEnded { kill() }
    close(output)
  }

  var hasEnded: Bool {
    lock.withLock {
      if status != nil { return true }
      var found: Int32 = 0
      guard waitpid(identifier, &found, WNOHANG) == identifier else { return false }
      status = found
      return true
    }
  }

  /// How it ended, in words; nil while it runs.
  var end: String? {
    guard hasEnded, let status = lock.withLock({ status }) else { return nil }
    let signal = status & 0x7F
    return signal == 0 ? "exit status \((status >> 8) & 0xFF)" : "signal \(signal)"
  }

  /// Whether it ended by SIGKILL, as one does that is struck.
  var wasKilled: Bool { end == "signal \(SIGKILL)" }

  func signal(_ number: Int32) {
    if !hasEnded { Foundation.kill(identifier, number) }
  }

  /// Takes it away without a chance to put anything in order, and waits until it is gone.
  func kill() {
    lock.withLock {
      guard status == nil else { return }
      Foundation.kill(identifier, SIGKILL)
      var found: Int32 = 0
      while waitpid(identifier, &found, 0) < 0, errno == EINTR {}
      status = found
    }
  }

  /// Asks it to end, and waits.
  func stop(seconds: Double = 20) -> Bool {
    signal(SIGTERM)
    return TrialClock.wait(seconds: seconds) { hasEnded }
  }

  /// The next line of its output; nil at the end.
  func readLine() -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      let count = read(output, &byte, 1)
      if count < 0, errno == EINTR { continue }
      guard count == 1 else { return line.isEmpty ? nil : String(decoding: line, as: UTF8.self) }
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
  }

  /// Runs a program to its end and answers what it printed.
  static func output(path: String, _ arguments: [String], log: String) throws -> String {
    let program = try RunningProgram(path: path, arguments, log: log)
    var lines: [String] = []
    while let line = program.readLine() { lines.append(line) }
    _ = TrialClock.wait(seconds: 60) { program.hasEnded }
    guard program.end == "exit status 0" else {
      throw TrialError(
        "\(path) \(arguments.joined(separator: " ")): \(program.end ?? "it did not end in time")")
    }
    return lines.joined(separator: "\n")
  }
}
