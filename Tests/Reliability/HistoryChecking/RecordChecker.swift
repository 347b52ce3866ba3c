/// Whether each record was one thing at a time: all saves, deletions and looks may have happened in some
/// order that agrees with the clock, with change tags, and with atomic requests.
struct RecordChecker {
  private let history: History
  private let sightings: Sightings
  private var violations: [Violation] = []

  init(_ history: History, _ sightings: Sightings) {
    self.history = history
    self.sightings = sightings
  }

  /// A look at a record, be it for itself or as a part of a zone's changes.
  private struct Look {
    var span: Span
    var sight: Sight
    var description: String
  }

  mutating func check() -> [Violation] {
    checkRequests()
    let writes = Dictionary(grouping: history.writes, by: \.key)
    var looks: [RecordKey: [Look]] = [:]
    for read in history.reads {
      looks[read.key, default: []].append(
        Look(span: read.span, sight: read.sight, description: "\(read.user) fetched it"))
    }
    addFeeds(to: &looks, writes)
    for key in Set(writes.keys).union(looks.keys).sorted() {
      check(key, writes[key] ?? [], looks[key] ?? [])
    }
    return violations
  }

  /// Nothing of a request that was refused may be seen.
  private mutating func checkRequests() {
    for write in history.writes {
      guard let mark = write.mark, sightings.ends[mark] != nil,
        case .not = sightings.certainty(of: write)
      else { continue }
      violations.append(
        Violation(
          .atomicity,
          "\(write.key): \(mark) was read, but its request was refused (\(write.outcome))"))
    }
  }

  /// Adds the readings of feeds. A reader's knowledge of a zone after each reading counts as a look
  /// at each of its records.
  private func addFeeds(to looks: inout [RecordKey: [Look]], _ writes: [RecordKey: [RecordWrite]]) {
    struct Reader: Hashable {
      var name: String
      var database: String
      var zone: String
    }
    let byZone = Dictionary(grouping: writes.keys) { [$0.database, $0.zone] }
    for (reader, feeds) in Dictionary(
      grouping: history.feeds,
      by: { Reader(name: $0.reader, database: $0.database, zone: $0.zone) })
    {
      let keys = byZone[[reader.database, reader.zone]] ?? []
      var known: [String: Sight] = [:]
      var lastBegan = Int64.min
      for feed in feeds.sorted(by: { $0.span.began < $1.span.began }) {
        if !feed.continues {
          known = [:]
          lastBegan = .min
        }
        for entry in feed.entries { known[entry.name] = entry.sight }
        let told = Set(feed.entries.map(\.name))
        for key in keys {
          // Of the others it knew before what it knows now, and nothing has happened to them since.
          let mayHaveChanged = writes[key]?.contains {
            $0.span.ended >= lastBegan && $0.span.began <= feed.span.ended
          }
          guard told.contains(key.name) || mayHaveChanged == true else { continue }
          looks[key, default: []].append(
            Look(
              span: feed.span, sight: known[key.name] ?? .absent,
              description: "the feed of \(feed.reader) contained it"))
        }
        for name in told where !keys.contains(where: { $0.name == name }) {
          let key = RecordKey(database: reader.database, zone: reader.zone, name: name)
          looks[key, default: []].append(
            Look(span: feed.span, sight: known[name] ?? .absent, description: "a feed contained it")
          )
        }
        lastBegan = feed.span.began
      }
    }
  }

  private mutating func check(_ key: RecordKey, _ writes: [RecordWrite], _ looks: [Look]) {
    guard let marks = marks(of: key, writes, looks) else { return }
    var operations: [LinearizabilitySearch.Operation] = []
    var descriptions: [String] = []
    func add(
      _ span: Span, _ condition: LinearizabilitySearch.Condition, result: Int? = nil,
      isOptional: Bool = false, _ description: String
    ) {
      operations.append(
        .init(
          span: span, condition: condition, result: result, isOptional: isOptional,
          label: descriptions.count))
      descriptions.append(
        "\(description) [\(span.began / 1000)…\(span.ended == Span.never ? "" : "\(span.ended / 1000)") µs]"
      )
    }
    for look in looks {
      let state = look.sight.mark.map { marks.states[$0] ?? -1 } ?? 0
      add(look.span, .equal(state), "\(look.description): \(look.sight)")
    }
    for write in writes {
      let description = "\(write.user) \(write.effect) if \(write.condition): \(write.outcome)"
      if case .refused(let sight) = write.outcome {
        add(write.span, refusal(of: write, seeing: sight, marks), description)
        continue
      }
      var span = write.span
      var isOptional = false
      switch sightings.certainty(of: write) {
      case .not: continue
      case .carriedOut(let end): span.ended = end
      case .possible:
        // A save that nobody saw may as well have been overwritten at once.
        if write.mark != nil { continue }
        isOptional = true
      }
      let result = write.mark.map { marks.states[$0] ?? -1 } ?? 0
      add(span, condition(of: write, marks), result: result, isOptional: isOptional, description)
    }
    do {
      _ = try LinearizabilitySearch(operations).order()
    } catch {
      let isLost = error.blocked.count == 1
      let state = marks.states.first { $0.value == error.state }?.key ?? "no record"
      violations.append(
        Violation(
          .nothingAcknowledgedIsLost,
          "\(key): no allowed step \(isLost ? "comes before" : "can be the next of") "
            + error.blocked.prefix(4).map { descriptions[$0] }.joined(separator: " | ")
            + "; the record is \(state) after "
            + error.order.suffix(4).map { descriptions[$0] }.joined(separator: " | ")))
    }
  }

  private func condition(
    of write: RecordWrite, _ marks: Marks
  ) -> LinearizabilitySearch.Condition {
    switch write.condition {
    case .none: .any
    case .absent: .equal(0)
    case .tag(let tag): .equal(marks.byTag[tag].flatMap { marks.states[$0] } ?? -1)
    }
  }

  /// Returns the state that the record must have had for the write to be refused.
  private func refusal(
    of write: RecordWrite, seeing sight: Sight?, _ marks: Marks
  ) -> LinearizabilitySearch.Condition {
    if let sight { return .equal(sight.mark.map { marks.states[$0] ?? -1 } ?? 0) }
    return switch write.condition {
    case .none: .any
    case .absent: .present(not: nil)
    case .tag(let tag): .notEqual(marks.byTag[tag].flatMap { marks.states[$0] } ?? -1)
    }
  }

  private struct Marks {
    var states: [String: Int] = [:]
    var byTag: [String: String] = [:]
  }

  /// Returns the values of marks and their change tags; `nil` if the assignment is not one to one.
  private mutating func marks(
    of key: RecordKey, _ writes: [RecordWrite], _ looks: [Look]
  ) -> Marks? {
    var marks = Marks()
    for mark in writes.compactMap(\.mark) { marks.states[mark] = marks.states.count + 1 }
    var tags: [String: String] = [:]
    var seen = looks.map(\.sight)
    for write in writes {
      switch write.outcome {
      case .done(let tag?): if let mark = write.mark { seen.append(.record(tag: tag, mark: mark)) }
      case .refused(let sight?): seen.append(sight)
      default: break
      }
    }
    for case .record(let tag, let mark) in seen {
      if marks.states[mark] == nil {
        violations.append(
          Violation(.nothingAcknowledgedIsLost, "\(key): \(mark) was read, but nobody saved it"))
        return nil
      }
      if let other = tags.updateValue(tag, forKey: mark), other != tag {
        violations.append(
          Violation(.nothingAcknowledgedIsLost, "\(key): \(mark) has the tags \(other) and \(tag)"))
        return nil
      }
      if let other = marks.byTag.updateValue(mark, forKey: tag), other != mark {
        violations.append(
          Violation(
            .nothingAcknowledgedIsLost, "\(key): \(other) and \(mark) have the same tag \(tag)"))
        return nil
      }
    }
    return marks
  }
}
