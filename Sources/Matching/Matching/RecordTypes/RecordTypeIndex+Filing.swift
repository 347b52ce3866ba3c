import CloudKitModel

// Filing puts an entry into a list of candidates: under some points, or at a bound. The list is
// chosen so that matching reads it for every record that satisfies the entry's predicate.
extension RecordTypeIndex {
  /// Files an entry that is not filed yet.
  ///
  /// - Complexity: O(*n*), amortized, where *n* is the number of points, cells and dyadic intervals of its
  ///   terms.
  mutating func file(_ slot: Int32) {
    let (choice, candidate) = choose(for: slot)
    file(slot, by: choice, candidate)
  }

  /// Returns the best place of an entry and the candidate to put there.
  ///
  /// One function computes both. While the index is being changed, each call of a method that only
  /// reads copies the index. A copy increments the reference count of each array.
  private func choose(for slot: Int32) -> (choice: Choice, candidate: Candidate) {
    let terms = FilterProgram.terms(of: program(of: entries[slot]))
    let choice = choose(terms)
    return (choice, candidate(slot, terms, choice))
  }

  private mutating func file(_ slot: Int32, by choice: Choice, _ candidate: Candidate) {
    switch choice.place {
    case .nothing:
      file(
        slot, under: [use(PointValue(bytes: []), .everything, number(of: .everything))], candidate)
    case .points(let points):
      // The place uses the point once more, in addition to the program.
      for point in points { self.points[ledgerOf: point].users += 1 }
      file(slot, under: points, candidate)
    case .dyadicIntervals(let path, let low, let high):
      let (level, dyadicIntervals) = DyadicIntervals.cover(low, high)
      let intervalPath = Path(field: path.field, shape: .dyadicInterval(path.kind, level: level))
      file(slot, under: use(dyadicIntervals.map { $0 }, intervalPath), candidate)
      reaches[Int(number(of: intervalPath))].include(dyadicIntervals)
    case .cells(let field, let level, let cells):
      file(slot, under: use(cells, Path(field: field, shape: .cell(level: level))), candidate)
    case .bound(let number, let bound, let isUpper):
      if isUpper {
        bounds[number].upper.insert(candidate, bound: ~bound)
      } else {
        bounds[number].lower.insert(candidate, bound: bound)
      }
      entries[slot].access = .bound(path: UInt16(number), isUpper: isUpper)
    }
  }

  /// Returns the points of cells or dyadic intervals and counts one more use of each.
  private mutating func use(_ cells: [UInt64], _ path: Path) -> [UInt32] {
    let number = number(of: path)
    return cells.map { use(PointValue($0), path, number) }
  }

  /// Adds a candidate to the lists of some points, and stores its positions in these lists in the
  /// entry's keys.
  private mutating func file(_ slot: Int32, under points: [UInt32], _ candidate: Candidate) {
    let first = keys.allocate(points.count)
    for (index, point) in points.enumerated() {
      let place =
        if let certain = candidate.certain {
          self.points[point].certain.append(certain, in: &self.certain) | Self.certainPlace
        } else {
          self.points[point].candidates.append(candidate, in: &candidates)
        }
      keys[first + UInt32(index)] = UInt64(point) << 32 | UInt64(place)
    }
    entries[slot].keys = first
    entries[slot].keyCount = UInt32(points.count)
    entries[slot].access = .points
  }

  /// Moves an entry if another place costs less than half of its present place.
  ///
  /// - Complexity: that of ``choose(_:)``, and that of filing if the entry moves.
  mutating func review(_ slot: Int32) {
    defer { renewPlan() }
    let entry = entries[slot]
    // A predicate that no record satisfies has no terms and is filed nowhere.
    guard entry.access != .nowhere, let (choice, candidate) = betterPlace(for: slot, entry) else {
      return
    }
    unfile(slot, entry)
    entries[slot].access = .nowhere
    entries[slot].keyCount = 0
    file(slot, by: choice, candidate)
  }

  /// Returns a place that costs less than half of the entry's present place, and the candidate to
  /// put there; `nil` if there is none.
  private func betterPlace(
    for slot: Int32, _ entry: Entry
  ) -> (choice: Choice, candidate: Candidate)? {
    let terms = FilterProgram.terms(of: program(of: entry))
    guard let cost = costWhereFiled(entry, terms) else { return nil }
    let choice = choose(terms)
    return choice.cost * 2 < cost ? (choice, candidate(slot, terms, choice)) : nil
  }

  /// Removes an entry from the place where it is filed.
  ///
  /// The caller must then file the entry again, or remove it.
  ///
  /// - Complexity: O(*n*), amortized, where *n* is the number of points that the entry is filed
  ///   under; for a bound, that of ``BoundList/remove(entry:bound:)``.
  mutating func unfile(_ slot: Int32, _ entry: Entry) {
    switch entry.access {
    case .nowhere:
      break
    case .bound(let path, let isUpper):
      let bound = bound(in: program(of: entry), path: Int(path), isUpper: isUpper)
      if isUpper {
        bounds[Int(path)].upper.remove(entry: UInt32(slot), bound: ~bound)
      } else {
        bounds[Int(path)].lower.remove(entry: UInt32(slot), bound: bound)
      }
    case .points:
      for index in 0..<entry.keyCount {
        let key = keys[entry.keys + index]
        let (point, place) = (UInt32(key >> 32), UInt32(truncatingIfNeeded: key))
        let moved =
          if place & Self.certainPlace != 0 {
            points[point].certain.remove(at: place & ~Self.certainPlace, in: &certain)?.entry
          } else {
            points[point].candidates.remove(at: place, in: &candidates)?.entry
          }
        if let moved { move(Int32(moved), at: point, to: place) }
        release(point)
      }
      keys.free(entry.keys, count: Int(entry.keyCount))
    }
  }

  /// The bit that is set in a position in the list of certain candidates (``CertainCandidate``). It
  /// is 0 in a position in the other list.
  static let certainPlace: UInt32 = 1 << 31

  private mutating func move(_ slot: Int32, at point: UInt32, to place: UInt32) {
    let entry = entries[slot]
    for index in entry.keys..<entry.keys + entry.keyCount
    where UInt32(keys[index] >> 32) == point {
      keys[index] = UInt64(point) << 32 | UInt64(place)
      return
    }
  }

  /// Returns one bound from the term of a program that compares this ordered path with a range.
  private func bound(in program: ArraySlice<UInt64>, path: Int, isUpper: Bool) -> UInt64 {
    // Only an entry with this term is filed by a bound of the path, so the fallback is never used.
    let head = FilterProgram.head(.range, number: path, count: 2)
    guard let place = program.firstIndex(of: head) else { return 0 }
    return program[place + (isUpper ? 2 : 1)]
  }

  /// Returns the points under which an entry is filed, and the position of the entry in the list of
  /// each point. See ``certainPlace``.
  func keys(of entry: Entry) -> [(point: UInt32, place: UInt32)] {
    (0..<entry.keyCount).map {
      let key = keys[entry.keys + $0]
      return (UInt32(key >> 32), UInt32(truncatingIfNeeded: key))
    }
  }
}
