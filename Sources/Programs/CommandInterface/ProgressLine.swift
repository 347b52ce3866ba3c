import Foundation
import Synchronization

/// A line on standard error that shows the progress of a long operation. Nothing is shown if
/// standard error is no terminal.
///
/// Any thread may call the methods.
package final class ProgressLine: Sendable {
  private let isShown = isatty(STDERR_FILENO) == 1
  /// The time of the last update; one second before the creation if there was none.
  private let last = Mutex(ContinuousClock.now - .seconds(1))

  package init() {}

  /// Replaces the line with this text, at most ten times a second. A text that comes sooner is
  /// neither evaluated nor shown.
  package func show(_ text: @autoclosure () -> String) {
    guard isShown else { return }
    let isDue = last.withLock { last in
      guard ContinuousClock.now - last > .milliseconds(100) else { return false }
      last = .now
      return true
    }
    if isDue { Output.writeError("\r\u{1B}[K" + text()) }
  }

  /// Clears the line.
  package func end() {
    if isShown { Output.writeError("\r\u{1B}[K") }
  }
}
