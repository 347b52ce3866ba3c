/// Whether a zone's changes came in the order in which they were made.
struct FeedOrderChecker {
  private let history: History

  init(_ history: History) {
    self.history = history
  }

  func check() -> [Violation] {
    let byMark = history.writesByMark
    var violations: [Violation] = []
    for feed in history.feeds {
      // From the end: the earliest time until which something that comes later was carried out.
      var earliest: (end: Int64, mark: String)?
      for entry in feed.entries.reversed() {
        guard let mark = entry.sight.mark, let write = byMark[mark] else { continue }
        if let earliest, earliest.end < write.span.began {
          violations.append(
            Violation(
              .order,
              "\(feed.database)/\(feed.zone): the feed of \(feed.reader) has \(mark) before "
                + "\(earliest.mark), which was saved before it"))
          break
        }
        if write.span.ended < earliest?.end ?? .max { earliest = (write.span.ended, mark) }
      }
    }
    return violations
  }
}
