import CloudKitModel

extension RecordTypeIndex {
  /// A term with the words of its program.
  struct Encoded: Sendable {
    var words: [UInt64]
    var term: Term

    /// The points of a term that is about points.
    var points: [UInt32] { words.dropFirst().map { UInt32($0) } }
  }

  /// How an entry can be found.
  struct Choice {
    enum Place {
      case nothing
      case points([UInt32])
      case stretches(OrderedPath, low: UInt64, high: UInt64)
      case cells(FieldKey, level: UInt8, [UInt64])
      /// In the list of an ordered path.
      case bound(Int, UInt64, isUpper: Bool)
    }

    var place = Place.nothing
    /// The term that holds for every record that comes there.
    var proves: Int?
    /// Whether a record may come to the entry by several ways.
    var isMetAgain = false
    /// How many of a thousand changes are thought to come there.
    var cost = 1_000.0
  }

  /// Chooses the term by which the fewest records come to the entry in vain.
  func choose(_ terms: [Encoded]) -> Choice {
    var best = Choice()
    for (index, term) in terms.enumerated() {
      guard var choice = choice(for: term) else { continue }
      if choice.proves != nil { choice.proves = index }
      if choice.cost < best.cost { best = choice }
    }
    return best
  }

  private func choice(for term: Encoded) -> Choice? {
    switch term.term {
    case .any(let path, _, isNegated: false):
      let points = term.points
      return Choice(
        place: .points(points), proves: 0,
        isMetAgain: points.count > 1 && path.hasManyPoints,
        cost: points.reduce(0) { $0 + cost(of: $1, path) })
    case .all(let path, _, isNegated: false):
      let points = term.points
      let best = points.map { ($0, cost(of: $0, path)) }.min { $0.1 < $1.1 }
      return best.map {
        Choice(place: .points([$0.0]), proves: points.count == 1 ? 0 : nil, cost: $0.1)
      }
    case .range(let path, let low, let high):
      guard low > 0, high < .max else {
        let isUpper = low == 0
        guard let number = orderedPaths.firstIndex(of: path) else { return nil }
        return Choice(
          place: .bound(number, isUpper ? high : low, isUpper: isUpper), proves: 0, cost: 400)
      }
      return Choice(place: .stretches(path, low: low, high: high), cost: 30)
    case .near(let field, let center, let distance):
      let (level, cells) = SphereGrid.cover(center: center, distance: distance)
      return Choice(place: .cells(field, level: level, cells), cost: 20)
    case .filter, .any, .all, .always, .never:
      return nil
    }
  }

  /// How many of a thousand changes are thought to have a point.
  private func cost(of point: UInt32, _ path: Path) -> Double {
    let known = Double(points[point].candidates.count)
    // What many are interested in occurs the more often.
    return path.typicalCost + known / (known + 1_000)
  }

  /// What has to be asked of a record at the place where the entry is filed.
  func candidate(_ slot: Int32, _ terms: [Encoded], _ choice: Choice) -> Candidate {
    var rest = terms
    if let proven = choice.proves { rest.remove(at: proven) }
    var check = Candidate.Check.program
    var (path, low, high) = (0, UInt64(0), UInt64(0))
    if rest.isEmpty {
      check = .nothing
    } else if rest.count == 1 {
      let words = rest[0].words
      switch Program.operation(words[0]) {
      case .range:
        (check, path, low, high) = (.range, Program.number(words[0]), words[1], words[2])
      case .near:
        if case .near(_, let center, let distance) = rest[0].term {
          let box = PlaceBox(center: center, distance: distance).words
          (check, path, low, high) = (.box, Program.number(words[0]), box.low, box.high)
        }
      case .any where words.count == 2, .all where words.count == 2:
        (check, low) = (.point, words[1])
      case .all where words.count == 3:
        // Where the entry is filed under one of the two, the other is left.
        guard case .points(let filed) = choice.place, filed.count == 1,
          rest[0].points.contains(filed[0]),
          let other = rest[0].points.first(where: { $0 != filed[0] })
        else { break }
        (check, low) = (.point, UInt64(other))
      default:
        break
      }
    }
    return Candidate(
      entry: UInt32(slot), events: entries[slot].events, check: check,
      isMetAgain: choice.isMetAgain, path: path, low: low, high: high)
  }
}

extension Path {
  /// Whether a record can have several points of the path.
  var hasManyPoints: Bool {
    switch shape {
    case .element, .word, .elementPrefix, .prefix: true
    case .value, .absence, .stretch, .cell, .zone, .everything: false
    }
  }

  /// How many of a thousand changes have a point of the path, as long as nothing better is known.
  fileprivate var typicalCost: Double {
    switch shape {
    case .value: 10
    case .element, .word: 15
    case .prefix, .elementPrefix: 5
    case .cell, .stretch: 20
    case .absence: 300
    case .zone: 100
    case .everything: 1_000
    }
  }
}
