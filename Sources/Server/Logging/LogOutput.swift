import Glibc
import Synchronization

/// The file descriptor that a log writes its lines to. A line that cannot be written is lost and
/// counted, so neither a full disk nor a reader that is gone or stands still stops the server.
///
/// The descriptor may be a file, a terminal, a pipe or a socket. Any thread may write.
final class LogOutput: Sendable {
  /// The bytes that are written at a time. A pipe that `poll` reports as writable takes this many
  /// without a wait (`PIPE_BUF`, pipe(7)).
  private static let pieceSize = 4096

  /// The state behind the lock.
  private struct State {
    /// The lines that were lost since the start.
    var lost = 0
    /// The lines that were lost since the last written line.
    var unreported = 0
    /// Whether the last bytes are a part of a line.
    var isInLine = false
  }

  private let descriptor: Int32
  private let patience: Int32
  private let state = Mutex(State())

  /// - Parameter patience: milliseconds for which a line waits for a reader that takes nothing.
  ///   After a loss no line waits, until one can be written again.
  init(descriptor: Int32, patience: Int32 = 1000) {
    self.descriptor = descriptor
    self.patience = patience
  }

  var linesLost: Int { state.withLock { $0.lost } }

  /// Writes a line. If lines were lost before, the line of `notice` about them comes first.
  func write(_ line: String, notice: (_ lost: Int) -> String) {
    state.withLock { state in
      let patience = state.unreported == 0 ? patience : 0
      if state.unreported > 0,
        append(notice(state.unreported), isInLine: &state.isInLine, patience)
      {
        state.unreported = 0
      }
      guard state.unreported == 0, append(line, isInLine: &state.isInLine, patience) else {
        state.lost += 1
        state.unreported += 1
        return
      }
    }
  }

  /// Writes a line with its line break, after that of a line of which only a part was written.
  /// Returns whether the whole line is written.
  private func append(_ line: String, isInLine: inout Bool, _ patience: Int32) -> Bool {
    let bytes = Array(((isInLine ? "\n" : "") + line + "\n").utf8)
    var written = 0
    while written < bytes.count {
      var place = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      let ready = poll(&place, 1, patience)
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else { break }
      let count = bytes[written...].withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress, min($0.count, Self.pieceSize))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      written += count
    }
    if written > 0 { isInLine = written < bytes.count }
    return written == bytes.count
  }
}
