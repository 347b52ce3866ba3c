import Foundation
import Synchronization

/// A line on a terminal that tells how far a long work is; elsewhere nothing.
package final class ProgressLine: Sendable {
  private let isShown = isatty(STDERR_FILENO) == 1
  private let last = Mutex(ContinuousClock.now - .seconds(1))

  package init() {}

  /// Shows the text in the place of the one before, ten times a second at most.
  package func show(_ text: @autoclosure () -> String) {
    guard isShown else { return }
    let isDue = last.withLock { last in
      guard ContinuousClock.now - last > .milliseconds(100) else { return false }
      last = .now
      return true
    }
    if isDue { write("\r\u{1B}[K" + text()) }
  }

  /// Takes the line away.
  package func end() {
    if isShown { write("\r\u{1B}[K") }
  }

  private func write(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}
