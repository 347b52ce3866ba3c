/// The rules that decide when the write-ahead log is copied into the database, and when the writer
/// waits for that. A value without I/O; ``Checkpointer`` carries out its decisions.
///
/// SQLite restarts the log only after all of it was copied and while no connection reads from it. A
/// pass beside the writer copies what was committed when the pass began. So a run takes some passes
/// beside the writer, each with less to do than the one before. The last pass runs alone, while the
/// writer waits: it copies the rest, and waits a little for readers. The writer also waits when the
/// log reaches its limit before the run is over, because copying did not keep up.
///
/// No pass begins when all is copied. The next commit may then restart the log while a pass begins,
/// which SQLite up to 3.51.2 does not detect: some later commits would never be copied, and would
/// be lost (https://sqlite.org/wal.html#walresetbug). As long as something is left, no commit can
/// restart the log.
package struct CheckpointSchedule {
  /// The kind of a pass that copies the log.
  enum Pass: Hashable {
    /// The writer may commit meanwhile.
    case besideWriter
    /// The writer waits, so that the whole log is copied and can restart.
    case alone
  }

  /// Pages in the log at which a run begins.
  package let start: Int
  /// Pages in the log at which the writer waits for the end of the run.
  package let limit: Int
  /// Pages in the log after the last commit.
  package private(set) var loggedPages = 0
  /// The number of those pages that are in the database, as far as is known.
  private var copiedPages = 0
  /// The pages in the log at which the next run begins.
  private var due: Int
  /// Passes beside the writer in the current run; nil between runs.
  private var passes: Int?
  /// The pass under way; nil if there is none.
  private var current: Pass?
  /// Whether the log was restarted during the current pass, so that the pass's number of copied
  /// pages is of the log before.
  private var isOutdated = false
  /// Whether a transaction of the writer is under way.
  private(set) var isWriting = false
  /// Whether `loggedPages` and `copiedPages` may be outdated until the transaction under way ends:
  /// it may have restarted the log already.
  private var awaitsCommit = false

  /// The most passes beside the writer in one run.
  private static let passLimit = 4
  /// The fraction of `start` that is worth a pass beside the writer. A log that could not restart
  /// grows by this much before the next attempt.
  private static let parts = 16

  /// Creates a schedule for an empty log.
  ///
  /// - Parameters:
  ///   - start: raised to 1.
  ///   - limit: raised to `start`.
  package init(start: Int, limit: Int) {
    self.start = max(1, start)
    self.limit = max(self.start, limit)
    due = self.start
  }

  /// The pages that are worth a pass beside the writer.
  private var part: Int { max(1, start / Self.parts) }

  /// Whether the writer may not begin a transaction.
  var holdsWriter: Bool {
    current == .alone || (loggedPages >= limit && (passes != nil || hasMore))
  }

  /// Notes that the writer begins a transaction.
  package mutating func begin() {
    isWriting = true
  }

  /// Notes that the writer has committed or rolled back, and the log has `pages` pages. Fewer pages
  /// than before mean that SQLite restarted the log.
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

  /// Whether ``next()`` has a pass, or a pass alone waits for the writer.
  package var isDue: Bool { current == .alone || (current == nil && !awaitsCommit && hasMore) }

  /// The pages of the log that are not copied.
  private var rest: Int { loggedPages - copiedPages }

  /// Whether a run is due or under way, and pages are left to copy.
  private var hasMore: Bool { rest > 0 && (passes != nil || loggedPages >= due) }

  /// Returns the pass to make now; nil if there is none. A pass alone begins when the writer has
  /// ended its transaction.
  mutating func next() -> Pass? {
    guard current == nil, !awaitsCommit, hasMore else { return nil }
    let made = passes ?? 0
    let isLast = rest <= part || made >= Self.passLimit
    passes = isLast ? made : made + 1
    current = isLast ? .alone : .besideWriter
    isOutdated = false
    return current
  }

  /// Notes the end of the pass: `pages` pages of the log are now in the database; nil if the pass
  /// failed.
  ///
  /// If the log cannot restart because a connection reads from it or the disk fails, another run is
  /// made when the log has grown by `part`.
  package mutating func end(copiedPages pages: Int?) {
    if let pages, !isOutdated { copiedPages = pages }
    awaitsCommit = isWriting
    // The pass may have copied a commit that the writer has not reported yet.
    if current == .alone || pages == nil || rest <= 0 {
      passes = nil
      due = max(start, loggedPages + part)
    }
    current = nil
  }
}
