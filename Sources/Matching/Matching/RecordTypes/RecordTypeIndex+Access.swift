import CloudKitModel

/// The choice of the *access predicate*: the term (one condition of the entry's ``FilterProgram``) under
/// which an entry is filed.
///
/// The index chooses the term that the fewest records satisfy. The method is from F. Fabret et al.,
/// "Filtering Algorithms and Implementation for Very Fast Publish/Subscribe Systems", SIGMOD 2001.
/// A change *meets* an entry if matching checks the entry for it.
extension RecordTypeIndex {
  /// A place where an entry can be filed, with its estimated cost.
  struct Choice {
    /// The kind of the place.
    enum Place {
      /// The point that every record has.
      case nothing
      /// Some points. A record that has one of them meets the entry.
      case points([UInt32])
      /// The dyadic intervals of an ordered path that cover an interval.
      case dyadicIntervals(OrderedPath, low: UInt64, high: UInt64)
      /// The grid cells that cover a circle.
      case cells(FieldKey, level: UInt8, [UInt64])
      /// The list of lower or of upper bounds of an ordered path, by the path's number, and the
      /// bound.
      case bound(Int, UInt64, isUpper: Bool)
    }

    var place = Place.nothing
    /// The index of the term that matching need not check, because it is true for every record that
    /// meets the entry at the place. `nil` if there is no such term.
    var proves: Int?
    /// Whether one record can meet the entry at several points.
    var isMetAgain = false
    /// The estimated number of changes, of a thousand, that meet the entry there.
    var cost = 1_000.0

    /// The estimated cost of a single bound before the index has learned from changes.
    fileprivate static let boundCost = 400.0
    /// The estimated cost of an interval before the index has learned from changes.
    fileprivate static let dyadicIntervalsCost = 30.0
  }

  /// Returns the place of the term with the lowest cost. If each term costs 1,000 or more, this is
  /// the point that every record has.
  ///
  /// - Complexity: O(*n* + *m*). *n* is the number of points and cells of all terms. *m* is the
  ///   size of the samples of the ranges and distances, at most 128 each.
  func choose(_ terms: [FilterProgram.Term]) -> Choice {
    var best = Choice()
    for (index, term) in terms.enumerated() {
      guard var choice = choice(for: term) else { continue }
      if choice.proves != nil { choice.proves = index }
      if choice.cost < best.cost { best = choice }
    }
    return best
  }

  /// Returns the place of one term; `nil` for a term under which no entry can be filed: a negation,
  /// a filter, or a single bound of a path whose number is too large for ``Access``.
  private func choice(for term: FilterProgram.Term) -> Choice? {
    switch term.operation {
    case .any:
      let points = term.points
      return Choice(
        place: .points(points), proves: 0,
        isMetAgain: points.count > 1 && paths[term.number].hasManyPoints,
        cost: points.reduce(0) { $0 + cost(of: $1) })
    case .all:
      let points = term.points
      let best = points.map { ($0, cost(of: $0)) }.min { $0.1 < $1.1 }
      return best.map {
        Choice(place: .points([$0.0]), proves: points.count == 1 ? 0 : nil, cost: $0.1)
      }
    case .range:
      let (low, high) = term.bounds
      let sample = bounds[term.number].sample
      guard low > 0, high < .max else {
        guard term.number <= Int(UInt16.max) else { return nil }
        return Choice(
          place: .bound(term.number, low == 0 ? high : low, isUpper: low == 0), proves: 0,
          cost: sample.cost(low: low, high: high, typical: Choice.boundCost))
      }
      let keys = DyadicIntervals.keys(in: DyadicIntervals.cover(low, high))
      return Choice(
        place: .dyadicIntervals(orderedPaths[term.number], low: low, high: high),
        cost: sample.cost(
          low: keys.lowerBound, high: keys.upperBound, typical: Choice.dyadicIntervalsCost))
    case .near:
      let (center, distance) = term.circle
      let (level, cells) = SphereGrid.cover(center: center, distance: distance)
      let field = fields[term.number]
      return Choice(
        place: .cells(field.key, level: level, cells),
        cost: field.places.cost(center: center, distance: distance))
    case .filter, .none, .notAll:
      return nil
    }
  }

  /// Returns the estimated cost of an entry where it is filed now; `nil` if it is filed nowhere.
  func costWhereFiled(_ entry: Entry, _ terms: [FilterProgram.Term]) -> Double? {
    func cost(_ isFiledUnder: (FilterProgram.Term) -> Bool) -> Double? {
      terms.filter(isFiledUnder).compactMap { choice(for: $0)?.cost }.min()
    }
    switch entry.access {
    case .nowhere:
      return nil
    case .bound(let path, _):
      return cost { $0.operation == .range && $0.number == Int(path) }
    case .points:
      let points = keys(of: entry).map(\.point)
      guard let path = points.first.map({ path(of: $0) }) else { return nil }
      switch path.shape {
      case .dyadicInterval(let kind, _):
        let number = orderedNumbers[OrderedPath(field: path.field, kind: kind)]
        return cost { $0.operation == .range && $0.number == number }
      case .cell:
        return cost { $0.operation == .near && fields[$0.number].key == path.field }
      default:
        return points.reduce(0) { $0 + self.cost(of: $1) }
      }
    }
  }

  /// Returns the estimated number of changes, of a thousand, that have a point.
  ///
  /// The estimate combines a typical value, which weighs like 16 changes, with the changes that the
  /// index has learned from. A point with many candidates costs up to one more, because a point
  /// that many entries use is probably frequent.
  func cost(of point: UInt32) -> Double {
    let known = points[ledgerOf: point]
    let typical = path(of: point).typicalCost
    let learnt = Double(changesLearnt - known.learntBefore)
    let share = (Double(known.meetings) * 1_000 + typical * 16) / (learnt + 16)
    let crowd = Double(points[point].candidates.count + points[point].certain.count)
    return share + crowd / (crowd + 1_000)
  }

  /// Returns the candidate of an entry, with the condition that is left to check at the chosen
  /// place.
  ///
  /// If one range, one distance or one point is left, the candidate contains it. If more is left,
  /// matching executes the entry's program.
  func candidate(_ slot: Int32, _ terms: [FilterProgram.Term], _ choice: Choice) -> Candidate {
    var rest = terms
    if let proven = choice.proves { rest.remove(at: proven) }
    var check = Candidate.Check.program
    var (path, low, high) = (0, UInt64(0), UInt64.max)
    if rest.isEmpty {
      check = .nothing
    } else if rest.count == 1, let term = rest.first {
      let points = term.points
      switch term.operation {
      case .range where term.bounds != (0, .max):
        // Value 0 belongs to candidates without a condition, so the ordered values begin at 1.
        (check, path) = (.range, term.number + 1)
        (low, high) = term.bounds
      case .near:
        (check, path) = (.cap, term.number)
        let (center, distance) = term.circle
        (low, high) = PlaceCap(center: center, distance: distance).words
      case .any where points.count == 1, .all where points.count == 1:
        (check, low) = (.point, UInt64(points[0]))
      case .all where points.count == 2:
        // The entry is filed under one of the two points, so matching must check the other point.
        guard case .points(let filed) = choice.place, filed.count == 1,
          points.contains(filed[0]), let other = points.first(where: { $0 != filed[0] })
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

extension FilterProgram.Term {
  fileprivate var bounds: (low: UInt64, high: UInt64) {
    (words[words.startIndex + 1], words[words.startIndex + 2])
  }

  fileprivate var circle: (center: Location, distance: Double) {
    let numbers = arguments.map { Double(bitPattern: $0) }
    return (Location(latitude: numbers[0], longitude: numbers[1]), numbers[2])
  }
}

extension Path {
  /// Whether a record can have several points of the path.
  var hasManyPoints: Bool {
    switch shape {
    case .element, .word, .elementPrefix, .prefix: true
    case .value, .absence, .dyadicInterval, .cell, .zone, .everything: false
    }
  }

  /// The typical number of changes, of a thousand, that have a given point of the path. The value
  /// is used until the index has learned from changes.
  fileprivate var typicalCost: Double {
    switch shape {
    case .value: 10
    case .element, .word: 15
    case .prefix, .elementPrefix: 5
    case .cell, .dyadicInterval: 10
    case .absence: 300
    case .zone: 100
    case .everything: 1_000
    }
  }
}
