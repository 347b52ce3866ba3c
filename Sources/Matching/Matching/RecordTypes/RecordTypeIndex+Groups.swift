import CloudKitModel

/// The steps of matching for changes side by side. Between two steps of a change are those of the others,
/// and what the second one reads has come meanwhile.
///
/// Each is a call of its own: where they are put into one another, the compiler copies changes.
extension RecordTypeIndex {
  /// - Parameters:
  ///   - changes: as many as there are scratches, or fewer.
  ///   - places: those of changes of this record type.
  @inline(never)
  func look(
    at changes: UnsafeBufferPointer<Change>, in places: Range<Int>,
    _ scratches: inout [MatchScratch]
  ) {
    for place in places { changes.read(place) { look(at: $0, &scratches[place]) } }
  }

  @inline(never)
  func locatePoints(in places: Range<Int>, _ scratches: inout [MatchScratch]) {
    for place in places { locatePoints(&scratches[place]) }
  }

  @inline(never)
  func meetPoints(in places: Range<Int>, _ scratches: inout [MatchScratch]) {
    for place in places { meetPoints(&scratches[place]) }
  }

  @inline(never)
  func considerEntries(
    _ changes: UnsafeBufferPointer<Change>, in places: Range<Int>,
    _ scratches: inout [MatchScratch]
  ) {
    for place in places {
      changes.read(place) { considerEntries($0, scratches[place].event, &scratches[place]) }
    }
  }

  /// - Parameter runs: where the owners are that do not stand in the lists themselves.
  @inline(never)
  func findOwners(
    in places: Range<Int>, _ scratches: inout [MatchScratch], _ runs: borrowing Runs<Int32>
  ) {
    for place in places {
      findOwners(&scratches[place])
      for number in 0..<scratches[place].firedCount {
        let rest = scratches[place].owners[number].rest
        if !rest.isEmpty { runs.elements.prefetch(rest.lowerBound) }
      }
    }
  }
}
