/// When the write-ahead log is copied into the database, and when its writer waits for that, as a
/// value.
///
/// SQLite begins the log anew only when all of it was copied and nobody reads from it. A pass beside
/// the writer copies what was committed when it began, and leaves what is committed meanwhile. So a
/// run takes some passes beside the writer, each with less to do than the one before, and then one
/// alone, for which the writer stands still: it copies the rest, and waits a little for those who
/// read. The writer also stands still when the log reaches its limit before the run is over: copying
/// did not keep up with it.
///
/// No pass begins when all is copied. The next commit may then begin the log anew, which SQLite up to
/// 3.51.2 does not notice while it begins a pass: of what is committed later some would never be
/// copied, and be lost (https://sqlite.org/wal.html#walresetbug). As long as something is left, no
/// commit can begin the log anew.
package struct CheckpointSchedule {
  enum Pass: Hashable {
    case besideWriter
    case alone
  }

  /// Pages in the log at which a run begins.
  package let start: Int
  /// Pages in the log at which the writer waits for the end of the run.
  package let limit: Int
  /// Pages in the log after the last commit.
  package private(set) var loggedPages = 0
  /// How many of them are in the database, as far as is known.
  private var copiedPages = 0
  /// Pages at which the next run begins.
  private var due: Int
  /// Passes beside the writer in the run that is under way; nil between runs.
  private var passes: Int?
  private var current: Pass?
  /// The log began anew while the current pass went on.
  private var isOutdated = false
  private(set) var isWriting = false
  /// What is known of the log may be outdated until the transaction under way has ended: it may have
  /// begun the log anew already.
  private var awaitsCommit = false

  private static let passLimit = 4
  /// The part of `start` that is worth a pass beside the writer; and that a log that could not begin
  /// anew grows by until the next attempt.
  private static let parts = 16

  package init(start: Int, limit: Int) {
    self.start = max(1, start)
    self.limit = max(self.start, limit)
    due = self.start
  }

  private var part: Int { max(1, start / Self.parts) }

  /// Whether the writer may not begin a transaction.
  var holdsWriter: Bool {
    current == .alone || (loggedPages >= limit && (passes != nil || hasMore))
  }

  /// The writer begins a transaction.
  package mutating func begin() {
    isWriting = true
  }

  /// The writer has committed, or has given up a transaction; the log has so many pages.
  package mutating func commit(loggedPages pages: Int) {
    isWriting = false
    awaitsCommit = false
    if pages < loggedPages {
      copiedPages = 0
      due = start
      isOutdated = true
    }
    loggedPages = pages
  }

  /// Whether ``next()`` has a pass, or one alone waits for the writer.
  package var isDue: Bool { current == .alone || (current == nil && !awaitsCommit && hasMore) }

  private var rest: Int { loggedPages - copiedPages }

  private var hasMore: Bool { rest > 0 && (passes != nil || loggedPages >= due) }

  /// The pass that is to be made now, nil when there is none. One alone begins when the writer has
  /// ended the transaction that it may be in.
  mutating func next() -> Pass? {
    guard current == nil, !awaitsCommit, hasMore else { return nil }
    let made = passes ?? 0
    let isLast = rest <= part || made >= Self.passLimit
    passes = isLast ? made : made + 1
    current = isLast ? .alone : .besideWriter
    isOutdated = false
    return current
  }

  /// The pass is over; so many pages of the log are in the database now, nil when it failed.
  ///
  /// Where the log cannot begin anew, because somebody reads from it or the disk fails, another run
  /// is made when it has grown by some more.
  package mutating func end(copiedPages pages: Int?) {
    if let pages, !isOutdated { copiedPages = pages }
    awaitsCommit = isWriting
    // It may have copied a commit that the writer has not told of yet.
    if current == .alone || pages == nil || rest <= 0 {
      passes = nil
      due = max(start, loggedPages + part)
    }
    current = nil
  }
}
