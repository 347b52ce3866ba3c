/// The rules that decide when the write-ahead log is copied into the database, and when the writer
/// waits for the copying. The type is a value without I/O; ``Checkpointer`` carries out its
/// decisions.
///
/// SQLite restarts the log (writes it from its beginning again) only after all pages were copied,
/// and while no connection reads from the log. One call that copies pages is a pass. A pass beside
/// the writer copies only the pages that were committed when the pass began. So a run is a series
/// of passes: some beside the writer, each with fewer pages than the pass before, and then one
/// alone, while the writer waits. The pass alone copies the remaining pages, and waits a few
/// milliseconds for readers. The writer also waits if the log reaches its limit before the run has
/// ended.
///
/// No pass begins when all pages are copied. Otherwise the next commit might restart the log while
/// the pass begins, which SQLite up to 3.51.2 does not detect. Some later commits would then never
/// be copied, and would be lost (https://sqlite.org/wal.html#walresetbug). While pages are left to
/// copy, no commit can restart the log.
package struct CheckpointSchedule {
  /// The kind of a pass.
  enum Pass: Hashable {
    /// The writer may commit meanwhile.
    case besideWriter
    /// The writer waits, so that the whole log is copied and can restart.
    case alone
  }

  /// The pages at which a run begins.
  package let start: Int
  /// The pages at which the writer waits for the end of the run.
  package let limit: Int
  package private(set) var loggedPages = 0
  private var copiedPages = 0
  /// The pages at which the next run begins. After a run, at least ``part`` more than the log has;
  /// a restart of the log resets it to ``start``.
  private var due: Int
  /// The passes beside the writer in the current run; nil between runs.
  private var passes: Int?
  private var current: Pass?
  /// Whether the log was restarted during the pass, which then reports copied pages of the log
  /// before its restart.
  private var isOutdated = false
  private(set) var isWriting = false
  /// Whether no pass may begin before the transaction ends: it may have restarted the log, so
  /// `loggedPages` and `copiedPages` may be outdated.
  private var awaitsCommit = false

  private static let passLimit = 4
  private static let parts = 16

  /// A `start` below 1 counts as 1, and a `limit` below `start` as `start`.
  package init(start: Int, limit: Int) {
    self.start = max(1, start)
    self.limit = max(self.start, limit)
    due = self.start
  }

  /// The pages for which a pass beside the writer is worth its cost. A log that could not restart
  /// grows by as many before the next run.
  private var part: Int { max(1, start / Self.parts) }

  var holdsWriter: Bool {
    current == .alone || (loggedPages >= limit && (passes != nil || hasMore))
  }

  package mutating func begin() {
    isWriting = true
  }

  /// The writer has committed or rolled back. Fewer pages than before mean that SQLite restarted
  /// the log.
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

  package var isDue: Bool { current == .alone || (current == nil && !awaitsCommit && hasMore) }

  private var rest: Int { loggedPages - copiedPages }

  private var hasMore: Bool { rest > 0 && (passes != nil || loggedPages >= due) }

  /// Notes that the returned pass is under way. The caller begins a pass alone only after the
  /// writer has ended its transaction.
  mutating func next() -> Pass? {
    guard current == nil, !awaitsCommit, hasMore else { return nil }
    let made = passes ?? 0
    let isLast = rest <= part || made >= Self.passLimit
    passes = isLast ? made : made + 1
    current = isLast ? .alone : .besideWriter
    isOutdated = false
    return current
  }

  /// `pages` is the number of the log's pages that are now in the database; nil if the pass
  /// failed.
  ///
  /// If a reader or the disk keeps the log from restarting, the next run begins when the log has
  /// grown by ``part``.
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
