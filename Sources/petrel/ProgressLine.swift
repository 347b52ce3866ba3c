import Foundation
import Storage
import Synchronization

/// Shows on a terminal how far a copy is; elsewhere nothing.
final class CopyProgress: Sendable {
  private let isShown = isatty(STDERR_FILENO) == 1
  private let last = Mutex(ContinuousClock.now - .seconds(1))

  func show(_ progress: StoreBackup.Progress) {
    guard isShown else { return }
    let isDue = last.withLock { last in
      guard ContinuousClock.now - last > .milliseconds(100) else { return false }
      last = .now
      return true
    }
    guard isDue else { return }
    let percent = progress.pages == 0 ? 0 : progress.copiedPages * 100 / progress.pages
    write("\rdatabase \(percent) %, assets \(progress.copiedAssets) of \(progress.assets) ")
  }

  /// Takes the line away.
  func end() {
    if isShown { write("\r\u{1B}[K") }
  }

  private func write(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}
