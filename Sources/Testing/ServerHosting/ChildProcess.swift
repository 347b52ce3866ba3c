import Foundation

/// A child process: a program that this program has started. This program can read its output
/// through a pipe.
///
/// Only one thread at a time may use the object. The child continues to run when the object is
/// gone, so call ``stop()`` or ``kill()``.
package final class ChildProcess {
  private let process = Process()
  /// The pipe for the child's standard output. It is unused if the child prints to this program's
  /// output.
  private let output = Pipe()
  /// A dispatch group that is empty when the child has ended. It replaces Foundation's
  /// `waitUntilExit`, which may never return on a thread other than the main thread.
  private let end = DispatchGroup()

  /// Starts the program with this name, from the directory that contains this program's own file.
  ///
  /// - Parameters: the same as those of ``init(path:_:environment:input:readsOutput:errors:)``.
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
  ///   - environment: environment variables that are added to those of this program, or replace
  ///     them.
  ///   - input: the standard input of the child; empty by default.
  ///   - readsOutput: whether the child's output goes to the pipe, so that ``readLine()`` can read
  ///     it. Otherwise the child prints to this program's output.
  ///   - errors: the standard error of the child; nil for this program's.
  /// - Throws: ``ProcessError`` if the child cannot be started.
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
    // A failure is ignored: the child has its own copy of the pipe's writing end, and this copy is
    // not needed.
    if readsOutput { try? output.fileHandleForWriting.close() }
  }

  package var identifier: Int32 { process.processIdentifier }

  /// The reading end of the pipe, with the output after the lines that were read.
  package var remainingOutput: FileHandle { output.fileHandleForReading }

  /// Reads and returns the next line of the child's output, without the line break; nil at the end
  /// of the output.
  ///
  /// The method blocks its thread. It reads no byte after the line, so another program can read the
  /// rest from ``remainingOutput``.
  package func readLine() -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(output.fileHandleForReading.fileDescriptor, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  package func wait() -> Int32 {
    end.wait()
    return process.terminationStatus
  }

  package func stop() {
    if process.isRunning { process.terminate() }
    end.wait()
  }

  /// Sends SIGKILL, and waits until the child has ended.
  ///
  /// Use it for programs that keep no data and may not get SIGTERM. A child inherits the signal
  /// mask of the thread that started it. Threads of a pool block SIGTERM, so such a child gets the
  /// signal only if it changes its mask.
  package func kill() {
    if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
    end.wait()
  }

  private static var ownPath: String {
    // If `/proc` cannot be read, the name with which this program was started is used.
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      ?? CommandLine.arguments[0]
  }
}
