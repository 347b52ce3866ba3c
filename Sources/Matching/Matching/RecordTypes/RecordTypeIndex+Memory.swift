/// The release of memory after removals.
extension RecordTypeIndex {
  /// The approximate size of the index of the record type in bytes.
  ///
  /// - Complexity: O(*n* + *m*), where *n* is the number of ordered paths and *m* the number of
  ///   different lengths of free runs.
  var bytes: Int {
    let tables = [
      entries.bytes, owners.bytes, points.bytes, candidates.bytes, certain.bytes, words.bytes,
      keys.bytes, predicates.bytes, filters.bytes,
    ]
    return tables.reduce(0, +) + bounds.reduce(0) { $0 + $1.lower.bytes + $1.upper.bytes }
  }

  /// Moves the runs of each pool in which the free elements exceed the used ones by more than
  /// 4,096. The memory of the free elements is then released.
  ///
  /// - Complexity: O(*n*) if a pool moves, where *n* is the number of points, entries and elements;
  ///   otherwise O(1).
  mutating func moveRuns() {
    if candidates.isWorthMoving {
      var moved = candidates.emptied()
      points.moveCandidates(from: candidates, to: &moved)
      candidates = moved
    }
    if certain.isWorthMoving {
      var moved = certain.emptied()
      points.moveCertain(from: certain, to: &moved)
      certain = moved
    }
    if words.isWorthMoving {
      var moved = words.emptied()
      for slot in entries.indices {
        entries[slot].program = moved.add(words, entries[slot].program, entries[slot].wordCount)
      }
      words = moved
    }
    if keys.isWorthMoving {
      var moved = keys.emptied()
      for slot in entries.indices {
        entries[slot].keys = moved.add(keys, entries[slot].keys, entries[slot].keyCount)
      }
      keys = moved
    }
  }

  /// Numbers the points and filters anew, if enough numbers are free; see
  /// ``Renumbering/isWorthIt(free:used:mentions:)``.
  ///
  /// - Complexity: O(*n*) if they are numbered anew, where *n* is the size of all programs and
  ///   candidates; otherwise O(1).
  mutating func renumberTerms() {
    let (used, free) = (points.count + filters.count, points.freeCount + filters.freeCount)
    guard Renumbering.isWorthIt(free: free, used: used, mentions: entries.count) else { return }
    let (points, filters) = (points.renumber(), filters.renumber())
    predicates = HashSlots(isDense: true)
    for slot in entries.indices {
      let entry = entries[slot]
      renumberProgram(of: entry, points, filters)
      predicates.insert(UInt32(slot), hash: hash(of: UInt32(slot)))
      for key in entry.keys..<entry.keys + entry.keyCount {
        let point = points[UInt32(keys[key] >> 32)]
        keys[key] = UInt64(point) << 32 | keys[key] & 0xFFFF_FFFF
      }
    }
    updateCandidates {
      $0.renumberPoints(points)
    } certain: { _ in
    }
  }

  /// Replaces the numbers of points and filters in the program of an entry. The new numbers have
  /// the same order, so the terms stay sorted.
  private mutating func renumberProgram(
    of entry: Entry, _ points: Renumbering, _ filters: Renumbering
  ) {
    guard entry.events != 0 else { return }
    var place = entry.program
    while place < entry.program + entry.wordCount {
      let head = words[place]
      let arguments = place + 1..<place + 1 + UInt32(FilterProgram.count(head))
      switch FilterProgram.operation(head) {
      case .any, .none, .all, .notAll:
        for place in arguments { words[place] = UInt64(points[UInt32(words[place])]) }
      case .filter:
        for place in arguments { words[place] = UInt64(filters[UInt32(words[place])]) }
      case .range, .near:
        break
      }
      place = arguments.upperBound
    }
  }

  /// Numbers the entries anew, if enough numbers are free; see
  /// ``Renumbering/isWorthIt(free:used:mentions:)``.
  ///
  /// - Parameter mentions: The number of places outside this index that store the number of an
  ///   entry.
  /// - Returns: The new numbers; `nil` if the numbers stay the same.
  /// - Complexity: O(*n*) if the entries are numbered anew, where *n* is the number of entries and
  ///   candidates; otherwise O(1).
  mutating func renumberEntries(mentions: Int) -> Renumbering? {
    guard
      Renumbering.isWorthIt(free: entries.freeCount, used: entries.count, mentions: mentions)
    else { return nil }
    owners = entries.indices.map { owners[Int($0)] }
    let renumbering = entries.renumber()
    predicates.renumber(renumbering)
    updateCandidates {
      $0.renumberEntries(renumbering)
    } certain: {
      $0.renumberEntries(renumbering)
    }
    return renumbering
  }

  /// Applies a change to all candidates: those under points, and those in lists of bounds.
  private mutating func updateCandidates(
    _ update: (inout Candidate) -> Void, certain updateCertain: (inout CertainCandidate) -> Void
  ) {
    for point in points.points {
      for place in point.candidates.places { update(&candidates[place]) }
      for place in point.certain.places { updateCertain(&certain[place]) }
    }
    for number in bounds.indices {
      bounds[number].lower.update(update)
      bounds[number].upper.update(update)
    }
  }
}
