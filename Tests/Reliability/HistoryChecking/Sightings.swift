/// When marks were seen first, wherever that was: what was seen must have been carried out before.
struct Sightings {
  /// By mark, when the earliest look at it ended.
  private(set) var ends: [String: Int64] = [:]
  /// By atomic request, when the first of its marks was seen.
  private(set) var groupEnds: [Int: Int64] = [:]

  init(of history: History) {
    for read in history.reads { note(read.sight.mark, read.span.ended) }
    for write in history.writes {
      if case .refused(let sight) = write.outcome { note(sight?.mark, write.span.ended) }
    }
    for feed in history.feeds {
      for entry in feed.entries { note(entry.sight.mark, feed.span.ended) }
    }
    for log in history.logs {
      for entry in log.entries { note(entry.mark, log.span.ended) }
    }
    for write in history.writes {
      guard let group = write.group, let mark = write.mark, let end = ends[mark] else { continue }
      groupEnds[group] = min(end, groupEnds[group] ?? end)
    }
  }

  private mutating func note(_ mark: String?, _ end: Int64) {
    guard let mark else { return }
    ends[mark] = min(end, ends[mark] ?? end)
  }

  /// The knowledge about a write, from all observations together.
  enum Certainty {
    /// It was carried out, and until then.
    case carriedOut(by: Int64)
    case possible
    case not
  }

  func certainty(of write: RecordWrite) -> Certainty {
    switch write.outcome {
    case .done: return .carriedOut(by: write.span.ended)
    case .refused, .notDone: return .not
    case .unknown:
      let own = write.mark.flatMap { ends[$0] }
      let shared = write.group.flatMap { groupEnds[$0] }
      guard let end = [own, shared].compactMap({ $0 }).min() else { return .possible }
      return .carriedOut(by: end)
    }
  }
}
