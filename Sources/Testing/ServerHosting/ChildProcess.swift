import Foundation

/// A program that was started by this one, with its output in a pipe.
package final class ChildProcess {
  private let process = Process()
  private let output = Pipe()
  /// Foundation's own waiting turns in circles when it is not on the main thread, and may not end.
  private let end = DispatchGroup()

  /// Starts a program of the directory that this one lies in.
  ///
  /// - Parameters: as those of ``init(path:_:environment:input:readsOutput:)``.
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
  ///   - environment: set over this program's own environment.
  ///   - input: what the program reads on standard input; nothing without a value.
  ///   - readsOutput: whether ``readLine()`` is going to be used; otherwise the program prints where
  ///     this one prints.
  ///   - errors: where the program complains; where this one does without a value.
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
    // The program has its own copy, which is what counts.
    if readsOutput { try? output.fileHandleForWriting.close() }
  }

  package var identifier: Int32 { process.processIdentifier }

  /// The rest of the program's output, after the lines that were read.
  package var remainingOutput: FileHandle { output.fileHandleForReading }

  /// The next line of the program's output; nil at its end. Blocks, and takes not a byte more than
  /// the line, so that the rest can be given to another program.
  package func readLine() -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(output.fileHandleForReading.fileDescriptor, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  /// Waits for the end and answers the exit status.
  package func wait() -> Int32 {
    end.wait()
    return process.terminationStatus
  }

  /// Asks the program to stop and waits until it has.
  package func stop() {
    if process.isRunning { process.terminate() }
    end.wait()
  }

  /// Ends the program at once. For those that keep nothing and heed no request: a child of a thread of
  /// the pool has SIGTERM blocked, unless it sees to its signals itself.
  package func kill() {
    if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
    end.wait()
  }

  private static var ownPath: String {
    // The name that it was started by is nearly as good.
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      ?? CommandLine.arguments[0]
  }
}
