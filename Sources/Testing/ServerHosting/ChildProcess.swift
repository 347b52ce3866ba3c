import Foundation

/// A program that this program has started, with its output in a pipe.
///
/// One thread at a time may use it. The object does not end the program: call ``stop()`` or
/// ``kill()``.
package final class ChildProcess {
  private let process = Process()
  /// The pipe for the program's standard output. It is unused if the program prints to this
  /// program's output.
  private let output = Pipe()
  /// The group that the program's end leaves. Foundation's own `waitUntilExit` loops when it is not
  /// on the main thread, and may not return.
  private let end = DispatchGroup()

  /// Starts a program in the directory of this program's own file.
  ///
  /// - Parameters: as those of ``init(path:_:environment:input:readsOutput:errors:)``.
  package convenience init(
    _ name: String, _ arguments: [String], environment: [String: String] = [:],
    input: FileHandle = .nullDevice, readsOutput: Bool, errors: FileHandle? = nil
  ) throws {
    let directory = URL(fileURLWithPath: Self.ownPath).deletingLastPathComponent()
    try self.init(
      path: directory.appendingPathComponent(name).path, arguments, environment: environment,
      input: input, readsOutput: readsOutput, errors: errors)
  }

  /// Starts the program at a path.
  ///
  /// - Parameters:
  ///   - environment: variables that replace or extend this program's own environment.
  ///   - input: the standard input of the program; by default an empty one.
  ///   - readsOutput: whether ``readLine()`` will read the program's output. Otherwise the program
  ///     prints to this program's output.
  ///   - errors: the standard error of the program; nil for this program's.
  /// - Throws: ``ProcessError`` if the program cannot be started.
  package init(
    path: String, _ arguments: [String], environment: [String: String] = [:],
    input: FileHandle = .nullDevice, readsOutput: Bool, errors: FileHandle? = nil
  ) throws {
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = input
    if readsOutput { process.standardOutput = output }
    if let errors { process.standardError = errors }
    end.enter()
    process.terminationHandler = { [end] _ in end.leave() }
    do {
      try process.run()
    } catch {
      end.leave()
      throw ProcessError("cannot start \(path): \(error)")
    }
    // A failure is ignored: the program has a copy of this end, which counts.
    if readsOutput { try? output.fileHandleForWriting.close() }
  }

  /// The process ID.
  package var identifier: Int32 { process.processIdentifier }

  /// The rest of the program's output, after the lines that were read.
  package var remainingOutput: FileHandle { output.fileHandleForReading }

  /// Returns the next line of the program's output, without its end; nil at the end of the output.
  ///
  /// It blocks, and reads no byte beyond the line, so that ``remainingOutput`` can be given to
  /// another program.
  package func readLine() -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(output.fileHandleForReading.fileDescriptor, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  /// Waits for the end, and returns the exit status.
  package func wait() -> Int32 {
    end.wait()
    return process.terminationStatus
  }

  /// Sends SIGTERM, and waits for the end.
  package func stop() {
    if process.isRunning { process.terminate() }
    end.wait()
  }

  /// Sends SIGKILL, and waits for the end.
  ///
  /// Use it for programs that keep no data and ignore SIGTERM. A child that a thread of the pool
  /// has started has SIGTERM blocked, unless it sets its signal mask itself.
  package func kill() {
    if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
    end.wait()
  }

  /// The path of this program's file.
  private static var ownPath: String {
    // Without `/proc`, the name by which the program was started serves.
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      ?? CommandLine.arguments[0]
  }
}
