import CloudKitModel

extension RecordTypeIndex {
  /// Puts the entries that fire on a change of a record into the scratch, each once, in no order.
  ///
  /// - Complexity: O(points that are looked up + candidates under those that the record has). What is
  ///   looked up are the values, elements, words and beginnings that the record has on the paths of
  ///   the type, and a stretch or a cell for each level.
  func match(_ record: Record, zoneID: ZoneID, event: UInt8, _ scratch: inout MatchScratch) {
    look(at: record, zoneID: zoneID, &scratch)
    for hit in scratch.hits.indices {
      for place in points[scratch.hits[hit]].candidates.range {
        consider(candidates.elements[place], record, event, &scratch)
      }
    }
    for number in bounds.indices {
      guard let value = scratch.ordered[number] else { continue }
      bounds[number].lower.visit(upTo: value.floor) { consider($0, record, event, &scratch) }
      bounds[number].upper.visit(upTo: ~value.ceiling) { consider($0, record, event, &scratch) }
    }
    if scratch.metAgain.isEmpty { return }
    scratch.metAgain.sort()
    var last = UInt32.max
    for entry in scratch.metAgain where entry != last {
      scratch.fired.append(entry)
      last = entry
    }
  }

  @inline(__always)
  private func consider(
    _ candidate: Candidate, _ record: Record, _ event: UInt8, _ scratch: inout MatchScratch
  ) {
    guard candidate.fires(on: event) else { return }
    switch candidate.check {
    case .nothing:
      break
    case .range:
      guard let value = scratch.ordered[candidate.path],
        value.isWithin(candidate.low, candidate.high)
      else { return }
    case .box:
      guard let place = scratch.places[candidate.path],
        PlaceBox(candidate.low, candidate.high).mayHold(place),
        passes(Int32(candidate.entry), record, scratch)
      else { return }
    case .point:
      guard scratch.has(candidate.low) else { return }
    case .program:
      guard passes(Int32(candidate.entry), record, scratch) else { return }
    }
    if candidate.isMetAgain {
      scratch.metAgain.append(candidate.entry)
    } else {
      scratch.fired.append(candidate.entry)
    }
  }

  /// Carries out an entry's program.
  private func passes(_ slot: Int32, _ record: Record, _ scratch: MatchScratch) -> Bool {
    let entry = entries[slot]
    var place = Int(entry.program)
    let end = place + Int(entry.wordCount)
    while place < end {
      let head = words.elements[place]
      let arguments = place + 1..<place + 1 + Program.count(head)
      guard holds(head, arguments, record, scratch) else { return false }
      place = arguments.upperBound
    }
    return true
  }

  private func holds(
    _ head: UInt64, _ arguments: Range<Int>, _ record: Record, _ scratch: MatchScratch
  ) -> Bool {
    switch Program.operation(head) {
    case .any: return arguments.contains { scratch.has(words.elements[$0]) }
    case .none: return !arguments.contains { scratch.has(words.elements[$0]) }
    case .all: return arguments.allSatisfy { scratch.has(words.elements[$0]) }
    case .notAll: return !arguments.allSatisfy { scratch.has(words.elements[$0]) }
    case .range:
      let first = arguments.lowerBound
      return scratch.ordered[Program.number(head)]?
        .isWithin(words.elements[first], words.elements[first + 1]) ?? false
    case .near:
      guard let place = scratch.places[Program.number(head)] else { return false }
      let first = arguments.lowerBound
      func number(_ offset: Int) -> Double { Double(bitPattern: words.elements[first + offset]) }
      let center = Location(latitude: number(0), longitude: number(1))
      return place.distance(to: center) <= number(2)
    case .filter:
      return filters[Int32(words.elements[arguments.lowerBound])].matches(record)
    }
  }
}
