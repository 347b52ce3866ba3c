import CloudKitModel

/// The steps of matching for several changes side by side.
///
/// Each method does one step for all changes of a group. While the step works on the other changes,
/// the memory that a change needs next arrives in the processor's cache.
///
/// The methods are not inlined: with inlined steps, the compiler copies changes.
extension RecordTypeIndex {
  /// Reads the facts of some changes into their scratches, and prefetches the hash slots of their
  /// points (facts with a number).
  ///
  /// - Parameter places: The indices of the changes of this record type.
  @inline(never)
  func look(
    at changes: UnsafeBufferPointer<Change>, in places: Range<Int>,
    _ scratches: inout [MatchScratch]
  ) {
    for place in places { changes.read(place) { look(at: $0, &scratches[place]) } }
  }

  /// Looks up the numbers of the points of some changes, and prefetches the points.
  @inline(never)
  func locatePoints(in places: Range<Int>, _ scratches: inout [MatchScratch]) {
    for place in places { locatePoints(&scratches[place]) }
  }

  /// Reads the points of some changes, and prefetches the lists of candidates under them.
  @inline(never)
  func meetPoints(in places: Range<Int>, _ scratches: inout [MatchScratch]) {
    for place in places { meetPoints(&scratches[place]) }
  }

  @inline(never)
  func considerEntries(in places: Range<Int>, _ scratches: inout [MatchScratch]) {
    for place in places { considerEntries(scratches[place].event, &scratches[place]) }
  }

  /// Runs the programs that the candidates of some changes leave to run, and prefetches the owner
  /// lists of the entries that fire.
  @inline(never)
  func runPrograms(
    _ changes: UnsafeBufferPointer<Change>, in places: Range<Int>,
    _ scratches: inout [MatchScratch], _ costs: inout MatchingCosts,
    _ table: borrowing OwnerTable, _ runs: borrowing Runs<Int32>
  ) {
    for place in places {
      changes.read(place) { runPrograms($0, &scratches[place], &costs, table, runs) }
    }
  }

  /// Reads the owner lists of the entries that fire, and prefetches the third owner of each list.
  ///
  /// - Parameter runs: The runs that contain the owners of each list from the third on.
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
